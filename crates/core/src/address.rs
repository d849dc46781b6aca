//! Which step people mean by what they type.
//!
//! An address as it is shown always works: `files[7]/look`, `fix#2`. So does the id of a step alone, while it means one step.

use crate::decide::Planner;
use crate::path::StepPath;
use crate::rejection::Rejection;
use crate::state::{Phase, State, StepInst};

/// The most addresses that a rejection lists.
const LISTED_MAX: usize = 6;

/// The address that a text means: a step that is open before one that has ended, and both before one that was not reached.
pub fn meant(planner: Planner<'_>, state: &State, text: &str) -> Result<StepPath, Rejection> {
    let text = text.trim();
    let typed: Option<StepPath> = text.parse().ok();
    let is_meant = |step: &&StepInst| is_named(planner, step, text, typed.as_ref());
    let (over, open): (Vec<&StepInst>, Vec<&StepInst>) =
        state.steps().iter().filter(is_meant).partition(|step| step.phase == Phase::Done);
    let exact = typed.as_ref().and_then(|path| state.find(path));
    let open_exact = exact.filter(|step| step.phase != Phase::Done);
    match (open_exact, open.as_slice()) {
        (Some(step), _) | (None, &[step]) => return Ok(step.path.clone()),
        (None, []) => {}
        (None, several) => return Err(ambiguous(text, several)),
    }
    let reachable = || typed.clone().filter(|path| planner.find(path).is_some());
    match exact.or_else(|| over.last().copied()) {
        Some(step) => Ok(step.path.clone()),
        None => reachable().ok_or_else(|| unknown(planner, text)),
    }
}

/// Whether a step is what somebody typed: the same address on any visit, its id, or the name that people see.
fn is_named(planner: Planner<'_>, step: &StepInst, text: &str, typed: Option<&StepPath>) -> bool {
    let is_name = planner.plan.step(step.step).name.as_deref() == Some(text);
    let Some(typed) = typed else { return is_name };
    let (mine, theirs) = (step.path.segments(), typed.segments());
    let same_place = mine.len() == theirs.len()
        && mine
            .iter()
            .zip(theirs)
            .all(|(a, b)| a.id == b.id && a.index == b.index && (b.visit == 1 || a.visit == b.visit));
    let is_id = matches!(theirs, [only] if only.index.is_none() && only.visit == 1)
        && mine.last().map(|last| &last.id) == theirs.last().map(|last| &last.id);
    is_name || same_place || is_id
}

fn ambiguous(text: &str, several: &[&StepInst]) -> Rejection {
    let mut names: Vec<String> = several.iter().take(LISTED_MAX).map(|step| format!("`{}`", step.path)).collect();
    if several.len() > LISTED_MAX {
        names.push(format!("{} more", several.len() - LISTED_MAX));
    }
    Rejection::invalid(format!("several steps are called `{text}`: {}", names.join(", "))).say("name one")
}

fn unknown(planner: Planner<'_>, text: &str) -> Rejection {
    let ids: Vec<&str> = planner.plan.steps.iter().map(|step| step.id.as_str()).collect();
    if ids.contains(&text) {
        let remedy = "it is inside another one: name it as `longhaul status` does, for example `files[0]/look`";
        return Rejection::not_found(format!("no step `{text}` was reached yet")).say(remedy);
    }
    let mut shown: Vec<String> = ids.iter().take(LISTED_MAX).map(|id| format!("`{id}`")).collect();
    shown.dedup();
    Rejection::not_found(format!("there is no step `{text}`")).say(format!("there are: {}", shown.join(", ")))
}
