//! Checks recoveries and conversations, from the events.
//!
//! **Invariant:** no step recovers more often than its rules say, no entry of `fallback` is used twice, and only a
//! recorded conversation is continued, by the agent that it belongs to. A conversation hears each hint once.

use std::collections::{HashMap, HashSet};

use longhaul_core::Json;
use longhaul_core::decide::{Planner, Start};
use longhaul_core::event::{Event, Session, Usage};
use longhaul_core::path::StepPath;
use longhaul_core::plan::{Arg, Compat, ErrorClass, Form, OnInterrupt, Step};
use longhaul_core::recovery::{RecoveryAction, Rules};
use longhaul_core::state::State;

use crate::sim::doer;

#[derive(Debug, Clone, Default)]
pub(super) struct Agents {
    recoveries: HashMap<String, Recovered>,
    sessions: HashMap<String, Session>,
    /// The usage of each conversation, if it was reported.
    totals: HashMap<String, Usage>,
    /// The conversation of each step.
    latest: HashMap<String, String>,
    /// Steps whose files must be restored before the next attempt.
    interrupted: HashSet<String>,
    /// Hints that a conversation heard: the step, the conversation, the number.
    heard: HashSet<(String, String, u32)>,
    /// Those that the open turn of a step carries.
    carried: HashMap<String, Vec<(String, String, u32)>>,
}

#[derive(Debug, Clone, Default)]
struct Recovered {
    fallbacks: usize,
    repairs: u32,
    compactions: u32,
    framings: u32,
    waits: u32,
}

impl Agents {
    pub(super) fn event(&mut self, planner: Planner<'_>, before: &State, event: &Event) -> Result<(), String> {
        match event {
            Event::SessionSeen { path, session, .. } => {
                self.latest.insert(path.to_string(), session.id.clone());
                self.sessions.insert(session.id.clone(), session.clone());
            }
            Event::AttemptStopped { path, .. } if restores(planner, before, path) => {
                self.interrupted.insert(path.to_string());
            }
            Event::AttemptSucceeded { path, result, .. } | Event::AttemptFailed { path, result, .. } => {
                let is_unsent = matches!(event, Event::AttemptFailed { error, .. }
                    if error.class != ErrorClass::Lost && (error.needs_person || result.usage == Some(Usage::default())));
                let carried = self.carried.remove(&path.to_string()).filter(|_| is_unsent);
                for hint in carried.into_iter().flatten() {
                    self.heard.remove(&hint);
                }
                let lost = matches!(event, Event::AttemptFailed { error, .. } if error.class == ErrorClass::Lost);
                if lost && restores(planner, before, path) {
                    self.interrupted.insert(path.to_string());
                }
                if let (Some(id), Some(total)) = (self.latest.get(&path.to_string()), result.session_total) {
                    self.totals.insert(id.clone(), total);
                }
            }
            Event::RetryScheduled { path, recovery: Some(action), .. } => {
                let step = before.find(path).ok_or_else(|| format!("`{path}` recovers, but was never reached"))?;
                if step.phase.is_attempt() {
                    return Err(format!("`{path}` waits while an attempt of it is open"));
                }
                self.recovers(planner, path, planner.plan.step(step.step), action)?;
            }
            // A person has decided: everything except another agent is tried again.
            Event::Answered { path, .. } => self.rest(path),
            _ => {}
        }
        Ok(())
    }

    /// Under another plan, every step that is not kept starts from the beginning.
    pub(super) fn start_over(&mut self) {
        self.recoveries.clear();
        self.interrupted.clear();
        self.latest.clear();
    }

    fn rest(&mut self, path: &StepPath) {
        if let Some(recovered) = self.recoveries.get_mut(&path.to_string()) {
            *recovered = Recovered { fallbacks: recovered.fallbacks, ..Recovered::default() };
        }
    }

    fn recovers(
        &mut self,
        planner: Planner<'_>,
        path: &StepPath,
        step: &Step,
        action: &RecoveryAction,
    ) -> Result<(), String> {
        let rules = Rules::native(step.retry.as_ref());
        let recovered = self.recoveries.entry(path.to_string()).or_default();
        match action {
            RecoveryAction::Repair { .. } => recovered.repairs += 1,
            RecoveryAction::Compact => recovered.compactions += 1,
            RecoveryAction::Reframe { .. } => {
                recovered.framings += 1;
                self.latest.remove(&path.to_string());
            }
            RecoveryAction::AwaitReset => recovered.waits += 1,
            RecoveryAction::Fallback { to } => {
                let fallbacks = recovered.fallbacks;
                if entry(step, fallbacks) != Some(to) {
                    return Err(format!("`{to}` takes over `{path}`, but is not entry {fallbacks} of `fallback`"));
                }
                *recovered = Recovered { fallbacks: fallbacks + 1, ..Recovered::default() };
                self.latest.remove(&path.to_string());
            }
            RecoveryAction::Restore { .. } => {
                self.latest.remove(&path.to_string());
            }
            RecoveryAction::Again
            | RecoveryAction::Continue
            | RecoveryAction::Resend
            | RecoveryAction::Hint
            | RecoveryAction::Answer { .. } => {}
        }
        let recovered = &self.recoveries[&path.to_string()];
        let unit = planner.plan.unit(planner.plan.body(step.body).unit);
        let bounded = unit.compat.contains(&Compat::CountedRecovery)
            || recovered.repairs <= rules.repairs
                && recovered.compactions <= rules.compactions
                && recovered.framings <= rules.framings
                && recovered.waits <= rules.waits;
        bounded.then_some(()).ok_or_else(|| format!("`{path}` recovers more often than its rules allow: {recovered:?}"))
    }

    /// Checks an attempt that continues a conversation.
    pub(super) fn begins(&mut self, start: &Start) -> Result<(), String> {
        let fresh = start.turn.restore.is_some() && start.turn.session.is_none() && start.turn.keep;
        if self.interrupted.remove(&start.path.to_string()) && !fresh {
            return Err(format!("`{}@{}` continues with what was interrupted", start.path, start.attempt));
        }
        let Some(session) = &start.turn.session else { return Ok(()) };
        let who = format!("`{}@{}` continues with {}", start.path, start.attempt, session.id);
        let known = self.sessions.get(&session.id).ok_or_else(|| format!("{who}, which nobody recorded"))?;
        if !known.resumes {
            return Err(format!("{who}, which cannot be continued"));
        }
        if known.agent != doer(start) {
            return Err(format!("{who}, but that is of {} and not of {}", known.agent, doer(start)));
        }
        for hint in &start.turn.hints {
            let heard = (start.path.to_string(), session.id.clone(), *hint);
            if !self.heard.insert(heard.clone()) {
                return Err(format!("{who}, which hears hint {hint} twice"));
            }
            self.carried.entry(start.path.to_string()).or_default().push(heard);
        }
        if session.total != self.totals.get(&session.id).copied() {
            return Err(format!("{who}, but what it has used is {:?}", self.totals.get(&session.id)));
        }
        Ok(())
    }
}

/// Whether the files of a step are restored after an interruption.
fn restores(planner: Planner<'_>, state: &State, path: &StepPath) -> bool {
    let step = state.find(path).map(|inst| planner.plan.step(inst.step));
    step.is_some_and(|step| step.on_interrupt == OnInterrupt::Restore)
}

/// An entry of `fallback`.
fn entry(step: &Step, at: usize) -> Option<&String> {
    let Form::Work(work) = &step.form else { return None };
    let fallback = match work.params.get("agent")? {
        Arg::Json(agent) => agent.get("fallback")?,
        Arg::Map(agent) => agent.get("fallback")?.as_json()?,
        Arg::Expr(_) | Arg::Text(_) | Arg::List(_) => return None,
    };
    match fallback.as_array()?.get(at)? {
        Json::String(name) => Some(name),
        _ => None,
    }
}
