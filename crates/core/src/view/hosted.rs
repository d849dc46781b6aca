//! The client's view of a hosted run: claimed steps, the engine's own work, and the results that go with a step.

use indexmap::IndexMap;
use serde::Serialize;

use super::shown::shown;
use crate::Json;
use crate::decide::Planner;
use crate::event::{Ended, Envelope, Event};
use crate::path::StepPath;
use crate::plan::{Form, Plan, Step, StepIx};
use crate::state::{BodyNo, Slot, State, StepInst};

/// A client without a sign of life for this long counts as silent.
pub const SILENT_MS: i64 = 10 * 60 * 1000;

/// A step that a client has claimed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Held {
    /// The address of the step.
    pub path: StepPath,
    /// The number of the attempt.
    pub attempt: u32,
    /// The client that claimed it.
    pub by: String,
    /// The time of the claim.
    pub since: i64,
    /// The time at which the lease ends without another sign of life.
    pub until: i64,
    /// The time of the last sign of life.
    pub last_seen: i64,
    /// The client's own note about its work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Whether the client has been silent for a long time.
    pub stale: bool,
}

/// The steps that clients have claimed, in the order in which they were reached.
pub fn held(state: &State, now: i64) -> Vec<Held> {
    let taken = state.hosted().filter(|_| !state.is_finished()).filter_map(|step| {
        let lease = step.lease()?;
        Some(Held {
            path: step.path.clone(),
            attempt: step.attempts,
            by: lease.by.clone(),
            since: lease.since,
            until: lease.until,
            last_seen: lease.seen,
            hint: lease.hint.clone(),
            stale: now - lease.seen >= SILENT_MS,
        })
    });
    taken.collect()
}

/// The steps that wait for a client.
pub fn free(state: &State) -> Vec<StepPath> {
    let free = state.hosted().filter(|step| step.lease().is_none() && !state.is_finished());
    free.map(|step| step.path.clone()).collect()
}

/// A step that the engine did or skipped without a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AutoRan {
    /// The address of the step.
    pub path: StepPath,
    /// The id of the step.
    pub id: String,
    /// The name that people see instead of the id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The result: `ok`, `error`, `skipped`.
    pub status: &'static str,
    /// Why it failed, or was skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The engine's work in a part of the history: steps without an agent, and skipped steps.
pub fn auto_ran(plan: &Plan, state: &State, events: &[Envelope]) -> Vec<AutoRan> {
    let ran = |path: &StepPath, status: &'static str, reason: Option<String>| {
        let step = plan.step(state.find(path)?.step);
        let (id, name) = (step.id.to_string(), step.name.clone());
        (is_engines(step) || status == "skipped").then(|| AutoRan { path: path.clone(), id, name, status, reason })
    };
    let ended = |event: &Event| match event {
        Event::StepEnded { path, end } => match end.status {
            Ended::Succeeded => ran(path, "ok", None),
            Ended::Skipped => ran(path, "skipped", end.error.as_ref().map(|error| error.message.clone())),
            Ended::Failed | Ended::Cancelled => {
                let own = || state.find(path)?.outcome.error.as_ref();
                ran(path, "error", end.error.as_ref().or_else(own).map(|error| error.message.clone()))
            }
        },
        Event::StepSkipped { path, why } => ran(path, "skipped", Some(why.words().to_owned())),
        _ => None,
    };
    events.iter().filter_map(|envelope| ended(&envelope.event)).collect()
}

/// Whether the engine does a step by itself, and it is not a container.
fn is_engines(step: &Step) -> bool {
    match &step.form {
        Form::Work(_) => !step.is_agent(),
        Form::Set { .. } => true,
        _ => false,
    }
}

/// How many steps of the outermost body are done, and how many there are.
pub fn counted(plan: &Plan, state: &State) -> (usize, usize) {
    let top = BodyNo(0);
    let total = plan.body(plan.main().body).steps.len();
    if state.started.is_none() {
        return (0, total);
    }
    let current = state.body(top).slots.iter().filter_map(|slot| slot.current);
    (current.filter(|at| is_done(state.step(*at))).count(), total)
}

fn is_done(step: &StepInst) -> bool {
    step.outcome.ok && matches!(step.outcome.ended, Some(Ended::Succeeded | Ended::Skipped))
}

/// The names set in the outermost body. Names of steps that start again are missing until those are done again.
pub fn outputs(plan: &Plan, state: &State) -> Vec<String> {
    let Some(slots) = state.started.as_ref().map(|_| &state.body(BodyNo(0)).slots) else { return Vec::new() };
    let steps = plan.body(plan.main().body).steps.iter().zip(slots);
    let undone = |slot: &Slot| slot.current.is_none_or(|at| !is_done(state.step(at)));
    let missing: Vec<&str> = steps
        .filter(|(_, slot)| undone(slot))
        .filter_map(|(step, _)| plan.step(*step).output.alias.as_ref().map(|alias| alias.as_str()))
        .collect();
    state.top_names().into_keys().filter(|name| !missing.contains(&name.as_str())).collect()
}

/// The results that go with some steps, by address, each as its step allows: those of the steps before them, those
/// that the engine will need right after them, and those of `news`.
pub fn results(planner: Planner<'_>, state: &State, work: &[StepPath], news: &[StepPath]) -> IndexMap<String, Json> {
    let mut results = IndexMap::new();
    let steps = work.iter().filter_map(|path| state.find(path));
    let around = steps.flat_map(|inst| around(planner, state, inst));
    for inst in around.chain(news.iter().filter_map(|path| state.find(path))) {
        if inst.outcome.ended == Some(Ended::Succeeded) {
            let step = planner.plan.step(inst.step);
            results.insert(inst.path.to_string(), shown(step.id.as_str(), &step.output, &inst.outcome.result.output));
        }
    }
    results
}

/// The steps before a step, and before the engine's steps that follow it.
fn around<'s>(planner: Planner<'_>, state: &'s State, inst: &StepInst) -> Vec<&'s StepInst> {
    let mut chain = vec![inst.step];
    let mut at = 0;
    while let Some(step) = chain.get(at).copied() {
        let follows = |other: &StepIx| {
            let plan = planner.plan.step(*other);
            plan.deps.contains(&step) && is_engines(plan) && !chain.contains(other)
        };
        let body = &planner.plan.body(planner.plan.step(step).body).steps;
        let next: Vec<StepIx> = body.iter().copied().filter(follows).collect();
        chain.extend(next);
        at += 1;
    }
    let slots = &state.body(inst.body).slots;
    let sources = chain.iter().flat_map(|step| &planner.plan.step(*step).deps);
    sources.filter_map(|dep| slots[planner.index.position(*dep)].current).map(|at| state.step(at)).collect()
}
