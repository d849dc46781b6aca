//! The steps of a run as a tree: what was reached, and what stands beside it and was not.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::{awaited, status};
use crate::Json;
use crate::event::{Failure, Skip, Usage};
use crate::ladder::Rung;
use crate::path::StepPath;
use crate::plan::Plan;
use crate::state::{BodyNo, Phase, State, StepInst, StepNo};

/// How much of an output is shown.
const OUTPUT_CHARS_MAX: usize = 2_000;

/// A step, and what is inside it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Step {
    /// Its address.
    pub path: StepPath,
    /// What people see instead of the id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The word that a workflow file uses: `run`, `for_each`, …
    pub kind: String,
    /// In a word.
    #[schemars(extend("enum" = ["pending", "running", "waiting", "succeeded", "failed", "skipped", "cancelled"]))]
    pub status: &'static str,
    /// What it waits for, in a word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_for: Option<&'static str>,
    /// Why it was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<Skip>,
    /// Whether a later visit stands in its place.
    #[serde(skip_serializing_if = "is_false")]
    pub replaced: bool,
    /// Whether the output is the declared default and not a result.
    #[serde(skip_serializing_if = "is_false")]
    pub defaulted: bool,
    /// Attempts begun.
    pub attempts: u32,
    /// When its last attempt began, or its question was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<i64>,
    /// When it was over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<i64>,
    /// How long it took, or has taken, since it was reached.
    pub duration_ms: i64,
    /// What it cost.
    pub usage: Usage,
    /// What it left; a long one is cut.
    #[serde(skip_serializing_if = "Json::is_null")]
    pub output: Json,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// The agent that is running on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AtWork>,
    /// In which way its agent continues after something failed, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rung: Option<String>,
    /// Of a step for each item of a list: how many there are, once that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<usize>,
    /// What is inside it, one item or round after the other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
}

/// An agent at work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AtWork {
    /// Who.
    pub name: String,
    /// Its conversation, once that has a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Since when.
    pub since: i64,
}

/// The steps of a run, as they are at a moment.
pub fn steps(plan: &Plan, state: &State, now: i64) -> Vec<Step> {
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
    fn body(&self, body: BodyNo, inside: Option<&StepPath>) -> Vec<Step> {
        let reached = self.of_body.get(&body).map(Vec::as_slice).unwrap_or_default();
        let mut steps: Vec<Step> = reached.iter().map(|at| self.step(*at)).collect();
        let beside = reached.first().map(|at| &self.state.step(*at).path);
        if let Some(path) = beside.or(inside).filter(|_| !self.state.is_finished()) {
            steps.extend(self.unreached(body, path));
        }
        steps
    }

    /// Steps of the body that may still come.
    fn unreached(&self, body: BodyNo, beside: &StepPath) -> Vec<Step> {
        let inst = self.state.body(body);
        let slots = self.plan.body(inst.body).steps.iter().zip(&inst.slots);
        let open = slots.filter(|(_, slot)| slot.current.is_none() && !inst.ended && inst.live > 0);
        open.map(|(step, _)| {
            let plan = self.plan.step(*step);
            let path = beside.beside(plan.id.clone());
            let mut pending = self.shown(&StepInst::new(*step, path, body, self.now));
            pending.status = "pending";
            pending
        })
        .collect()
    }

    fn step(&self, at: StepNo) -> Step {
        let inst = self.state.step(at);
        let slots = &self.state.body(inst.body).slots;
        let mut shown = self.shown(inst);
        shown.replaced = !slots.iter().any(|slot| slot.current == Some(at));
        shown.steps = inst.children.iter().flat_map(|child| self.body(*child, None)).collect();
        shown
    }

    fn shown(&self, inst: &StepInst) -> Step {
        let plan = self.plan.step(inst.step);
        Step {
            path: inst.path.clone(),
            name: plan.name.clone(),
            kind: plan.form.word().to_owned(),
            status: status(self.state, inst),
            waiting_for: awaited(inst).filter(|_| !self.state.is_finished()),
            skipped: inst.skipped,
            replaced: false,
            defaulted: inst.defaulted,
            attempts: inst.attempts,
            started_at: inst.started_at,
            ended_at: inst.ended_at,
            duration_ms: (inst.ended_at.unwrap_or(self.now) - inst.since).max(0),
            usage: inst.usage,
            output: trimmed(&inst.result.output),
            error: inst.error.clone(),
            agent: self.at_work(inst),
            rung: self.rung(inst),
            items: (!inst.items.is_empty()).then_some(inst.items.len()),
            steps: Vec::new(),
        }
    }

    fn at_work(&self, inst: &StepInst) -> Option<AtWork> {
        let plan = self.plan.step(inst.step);
        if let Some(hand) = inst.hand.as_ref().filter(|_| !self.state.is_finished()) {
            return Some(AtWork { name: hand.by.clone(), session: None, since: hand.since });
        }
        if inst.phase != Phase::Attempt || !plan.is_agent() || self.state.is_finished() {
            return None;
        }
        let session = inst.climb.as_ref().and_then(|climb| climb.session.as_ref());
        let name = session.map(|session| session.agent.clone()).or_else(|| plan.named_agent()).or_else(|| self.usual());
        let session = session.map(|session| session.id.clone());
        Some(AtWork { name: name.unwrap_or_default(), session, since: inst.started_at.unwrap_or(inst.since) })
    }

    /// Who does what names nobody.
    fn usual(&self) -> Option<String> {
        self.state.started.as_ref()?.about.get("agent")?.as_str().map(str::to_owned)
    }

    fn rung(&self, inst: &StepInst) -> Option<String> {
        let is_over = inst.phase == Phase::Done || self.state.is_finished();
        inst.climb.as_ref().filter(|_| !is_over)?.rung.as_ref().map(Rung::words)
    }
}

/// A value as it is while it is small, else the beginning of its text.
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
