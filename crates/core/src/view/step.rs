//! The steps of a run as a tree: the reached steps, and those beside them that were not reached yet.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::{awaited, label, status};
use crate::Json;
use crate::event::{Failure, Skip, Usage};
use crate::path::StepPath;
use crate::plan::Plan;
use crate::recovery::RecoveryAction;
use crate::state::{BodyNo, Hint, Phase, State, StepInst, StepNo};
use crate::status::{Awaited, StepStatus};

/// How many characters of an output are shown.
const OUTPUT_CHARS_MAX: usize = 2_000;

/// A step, and the steps inside it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StepView {
    /// The address of the step.
    pub path: StepPath,
    /// The name that people see instead of the id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The item of the `for_each` that the step belongs to, as people recognise it: a file, a title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// The word that a workflow file uses: `run`, `for_each`, …
    pub kind: String,
    /// The status, in one word.
    pub status: StepStatus,
    /// The thing that it waits for, in one word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_for: Option<Awaited>,
    /// Why it was skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<Skip>,
    /// Whether a later visit replaced it.
    #[serde(skip_serializing_if = "is_false")]
    pub replaced: bool,
    /// Whether the output is the declared default and not a result.
    #[serde(skip_serializing_if = "is_false")]
    pub defaulted: bool,
    /// The number of started attempts.
    pub attempts: u32,
    /// The time of its last attempt, or of its question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<i64>,
    /// The time at which it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<i64>,
    /// The duration since it was reached, so far or in total.
    pub duration_ms: i64,
    /// Its tokens and cost.
    pub usage: Usage,
    /// Its output; a long one is cut.
    #[serde(skip_serializing_if = "Json::is_null")]
    pub output: Json,
    /// The failure, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// Tools that its agent called and may not use.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
    /// The agent that is running on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AtWork>,
    /// How its agent continues after a failure, in words.
    #[serde(rename = "rung", skip_serializing_if = "Option::is_none")]
    pub recovery: Option<String>,
    /// What people told its agent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<ToldHint>,
    /// The number of items of a `for_each`, once it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<usize>,
    /// The steps inside it, one item or round after the other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepView>,
}

/// A running agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AtWork {
    /// The name of the agent.
    pub name: String,
    /// Its session, once the session has a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The time at which it started.
    pub since: i64,
}

/// Something that a person told the agent of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ToldHint {
    /// What they said.
    pub text: String,
    /// Who said it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// When they said it.
    pub at: i64,
    /// Whether a turn of the agent has it.
    pub heard: bool,
}

/// The steps of a run at a given time.
pub fn steps(plan: &Plan, state: &State, now: i64) -> Vec<StepView> {
    if state.started.is_none() {
        return Vec::new();
    }
    let mut of_body: HashMap<BodyNo, Vec<StepNo>> = HashMap::new();
    for (at, step) in (0u32..).map(StepNo).zip(state.steps()) {
        of_body.entry(step.body).or_default().push(at);
    }
    Fold { plan, state, now, of_body }.body(BodyNo(0), None)
}

struct Fold<'a> {
    plan: &'a Plan,
    state: &'a State,
    now: i64,
    of_body: HashMap<BodyNo, Vec<StepNo>>,
}

impl Fold<'_> {
    fn body(&self, body: BodyNo, inside: Option<&StepPath>) -> Vec<StepView> {
        let reached = self.of_body.get(&body).map(Vec::as_slice).unwrap_or_default();
        let mut steps: Vec<StepView> = reached.iter().map(|at| self.step(*at)).collect();
        let beside = reached.first().map(|at| &self.state.step(*at).path);
        if let Some(path) = beside.or(inside).filter(|_| !self.state.is_finished()) {
            steps.extend(self.unreached(body, path));
        }
        steps
    }

    /// Steps of the body that may still run.
    fn unreached(&self, body: BodyNo, beside: &StepPath) -> Vec<StepView> {
        let inst = self.state.body(body);
        let slots = self.plan.body(inst.body).steps.iter().zip(&inst.slots);
        let open = slots.filter(|(_, slot)| slot.current.is_none() && !inst.ended && inst.live > 0);
        open.map(|(step, _)| {
            let plan = self.plan.step(*step);
            let path = beside.beside(plan.id.clone());
            let mut pending = self.shown(&StepInst::new(*step, path, body, self.now));
            pending.status = StepStatus::Pending;
            pending
        })
        .collect()
    }

    fn step(&self, at: StepNo) -> StepView {
        let inst = self.state.step(at);
        let slots = &self.state.body(inst.body).slots;
        let mut shown = self.shown(inst);
        shown.replaced = !slots.iter().any(|slot| slot.current == Some(at));
        shown.steps = inst.container.children.iter().flat_map(|child| self.body(*child, None)).collect();
        shown
    }

    fn shown(&self, inst: &StepInst) -> StepView {
        let plan = self.plan.step(inst.step);
        StepView {
            path: inst.path.clone(),
            name: plan.name.clone(),
            item: self.item(inst),
            kind: plan.form.word().to_owned(),
            status: status(self.state, inst),
            waiting_for: awaited(inst).filter(|_| !self.state.is_finished()),
            skipped: inst.outcome.skipped,
            replaced: false,
            defaulted: inst.outcome.defaulted,
            attempts: inst.attempts,
            started_at: inst.started_at,
            ended_at: inst.outcome.ended_at,
            duration_ms: (inst.outcome.ended_at.unwrap_or(self.now) - inst.since).max(0),
            usage: inst.usage,
            output: trimmed(&inst.outcome.result.output),
            error: inst.outcome.error.clone(),
            denied: inst.denied.clone(),
            agent: self.at_work(inst),
            recovery: self.recovery(inst),
            hints: self.hints(inst),
            items: (!inst.container.items.is_empty()).then_some(inst.container.items.len()),
            steps: Vec::new(),
        }
    }

    /// The item that the body of a step is about.
    fn item(&self, inst: &StepInst) -> Option<String> {
        let body = self.state.body(inst.body);
        let items = &self.state.step(body.owner?).container.items;
        label(items.get(body.index as usize)?)
    }

    fn hints(&self, inst: &StepInst) -> Vec<ToldHint> {
        let early = self.state.early_hints.iter().filter(|(path, _)| *path == inst.path);
        let early = early.map(|(_, hint)| (hint, false));
        let told = inst
            .hints
            .iter()
            .flat_map(|hints| hints.all.iter().zip(1..).map(|(hint, number)| (hint, hints.is_heard(number))));
        let shown = |(hint, heard): (&Hint, bool)| ToldHint {
            text: hint.text.clone(),
            by: hint.by.clone(),
            at: hint.at,
            heard,
        };
        told.chain(early).map(shown).collect()
    }

    fn at_work(&self, inst: &StepInst) -> Option<AtWork> {
        let plan = self.plan.step(inst.step);
        if let Some(lease) = inst.lease().filter(|_| !self.state.is_finished()) {
            return Some(AtWork { name: lease.by.clone(), session: None, since: lease.since });
        }
        if !inst.phase.is_attempt() || !plan.is_agent() || self.state.is_finished() {
            return None;
        }
        let session = inst.recovery.as_ref().and_then(|recovery| recovery.session.as_ref());
        let name = session.map(|session| session.agent.clone()).or_else(|| plan.named_agent()).or_else(|| self.usual());
        let session = session.map(|session| session.id.clone());
        Some(AtWork { name: name.unwrap_or_default(), session, since: inst.started_at.unwrap_or(inst.since) })
    }

    /// The agent for steps that name none.
    fn usual(&self) -> Option<String> {
        self.state.started.as_ref()?.context.agent.clone()
    }

    fn recovery(&self, inst: &StepInst) -> Option<String> {
        let is_over = inst.phase == Phase::Done || self.state.is_finished();
        inst.recovery.as_ref().filter(|_| !is_over)?.action.as_ref().map(RecoveryAction::words)
    }
}

/// A small value as it is, otherwise the start of its text.
fn trimmed(value: &Json) -> Json {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match text.char_indices().nth(OUTPUT_CHARS_MAX) {
        None => value.clone(),
        Some((cut, _)) => Json::String(format!("{}… ({} characters)", &text[..cut], text.chars().count())),
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}
