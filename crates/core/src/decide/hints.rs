//! What people tell the agent of a step: whether the step can hear it, and with which turn.

use serde_json::Map;

use super::{Decision, Planner, recovery};
use crate::Json;
use crate::path::StepPath;
use crate::plan::ErrorClass;
use crate::recovery::{RecoveryAction, told_by};
use crate::rejection::Rejection;
use crate::state::{Hint, Hints, Phase, State, StepInst};

/// The longest text, in characters.
const TEXT_CHARS_MAX: usize = 20_000;
/// The most hints of a step.
const OF_STEP_MAX: usize = 50;
/// The most hints for steps that were not reached.
const EARLY_MAX: usize = 200;

/// Why a step cannot be told something; `None` if it can.
pub(super) fn rejection(planner: Planner<'_>, state: &State, path: &StepPath, text: &str) -> Option<Rejection> {
    let invalid = |why: String| Some(Rejection::invalid(why));
    if text.trim().is_empty() {
        return invalid("the text is empty".to_owned());
    }
    if text.chars().count() > TEXT_CHARS_MAX {
        let remedy = "write it into a file and name the file";
        return Some(Rejection::invalid(format!("the text has more than {TEXT_CHARS_MAX} characters")).say(remedy));
    }
    let Some(step) = planner.find(path) else {
        return Some(Rejection::not_found(format!("there is no step `{path}`")));
    };
    if !planner.plan.step(step).is_agent() {
        return invalid(format!("no agent does `{path}`: only a `prompt` step can be told something"));
    }
    match state.find(path) {
        Some(inst) if inst.phase == Phase::Done => Some(ended(inst)),
        Some(inst) if told(inst) >= OF_STEP_MAX => invalid(format!("`{path}` was told {OF_STEP_MAX} things already")),
        None if state.early_hints.len() >= EARLY_MAX => {
            invalid(format!("{EARLY_MAX} hints wait for steps that have not started"))
        }
        _ => None,
    }
}

fn told(inst: &StepInst) -> usize {
    inst.hints.as_deref().map_or(0, |hints| hints.all.len())
}

/// What to do about a run that is over.
pub(super) fn after_the_end(path: &StepPath) -> String {
    format!("start it again at this step (retry --from {path}), then tell the agent")
}

fn ended(inst: &StepInst) -> Rejection {
    let path = &inst.path;
    let remedy = format!("when the run is over, start it again at this step (retry --from {path}) and tell it then");
    Rejection::untimely(format!("`{path}` has ended, so no turn follows")).say(remedy)
}

/// The hints that the next attempt of a step carries, or that its open attempt does.
pub(super) fn carried(inst: &StepInst, resumes: bool) -> Vec<u32> {
    let compacts = inst.recovery.as_ref().is_some_and(|known| known.action == Some(RecoveryAction::Compact));
    match inst.hints.as_deref() {
        None => Vec::new(),
        Some(hints) if inst.phase.is_attempt() || inst.phase.is_hosted() || inst.phase.is_queued() => {
            hints.carried.clone()
        }
        Some(_) if compacts => Vec::new(),
        Some(hints) => hints.unheard(resumes),
    }
}

/// Adds the hints of a turn to what its agent is told.
pub(super) fn add(inst: &StepInst, carried: &[u32], params: &mut Map<String, Json>) {
    let Some(hints) = inst.hints.as_deref().filter(|_| !carried.is_empty()) else { return };
    if let Some(Json::String(text)) = params.get_mut("text") {
        let said: Vec<String> = carried.iter().filter_map(|at| of(hints, *at)).map(words).collect();
        *text = [text.trim_end().to_owned()]
            .into_iter()
            .chain(said)
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join("\n\n");
    }
}

fn of(hints: &Hints, number: u32) -> Option<&Hint> {
    hints.all.get(number.checked_sub(1)? as usize)
}

fn words(hint: &Hint) -> String {
    told_by(hint.by.as_deref(), &hint.text)
}

/// Another turn for an agent that was told something while its last turn ran.
pub(super) fn another_turn(planner: Planner<'_>, state: &State, inst: &StepInst) -> Option<Decision> {
    let is_agent = planner.plan.step(inst.step).is_agent();
    (is_agent && inst.has_unheard()).then(|| recovery::scheduled(inst, RecoveryAction::Hint, state.now))
}

/// The same after a failure for which nothing is left to try, if it is one that words can help with.
pub(super) fn instead_of_failing(
    planner: Planner<'_>,
    state: &State,
    inst: &StepInst,
    class: ErrorClass,
) -> Option<Decision> {
    use ErrorClass::{Auth, Billing, UnknownModel};
    if matches!(class, Auth | Billing | UnknownModel) {
        return None;
    }
    another_turn(planner, state, inst)
}
