//! Ladders and conversations, as the events tell of them.
//!
//! **Invariant:** nobody climbs higher than the rules say, no entry of `fallback` is used twice, and no conversation
//! is continued that was not recorded, or by another agent than the one whose it is.

use std::collections::{HashMap, HashSet};

use longhaul_core::Json;
use longhaul_core::decide::{Planner, Start};
use longhaul_core::event::{Event, Session, Usage};
use longhaul_core::ladder::{Rules, Rung};
use longhaul_core::path::StepPath;
use longhaul_core::plan::{Arg, Compat, ErrorClass, Form, OnInterrupt, Step};
use longhaul_core::state::{Phase, State};

use crate::sim::doer;

#[derive(Debug, Clone, Default)]
pub(super) struct Agents {
    climbs: HashMap<String, Climbed>,
    sessions: HashMap<String, Session>,
    /// What each conversation has used, where somebody said so.
    totals: HashMap<String, Usage>,
    /// The conversation of each step.
    latest: HashMap<String, String>,
    /// Steps whose files must be put back before anybody works on them again.
    interrupted: HashSet<String>,
}

#[derive(Debug, Clone, Default)]
struct Climbed {
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
                let lost = matches!(event, Event::AttemptFailed { error, .. } if error.class == ErrorClass::Lost);
                if lost && restores(planner, before, path) {
                    self.interrupted.insert(path.to_string());
                }
                if let (Some(id), Some(total)) = (self.latest.get(&path.to_string()), result.session_total) {
                    self.totals.insert(id.clone(), total);
                }
            }
            Event::RetryScheduled { path, rung: Some(rung), .. } => {
                let step = before.find(path).ok_or_else(|| format!("`{path}` climbs, but was never reached"))?;
                if step.phase == Phase::Attempt {
                    return Err(format!("`{path}` waits while an attempt of it is open"));
                }
                self.climb(planner, path, planner.plan.step(step.step), rung)?;
            }
            // A person has looked at it: everything but another agent is tried again.
            Event::Answered { path, .. } => self.rest(path),
            _ => {}
        }
        Ok(())
    }

    fn rest(&mut self, path: &StepPath) {
        if let Some(climbed) = self.climbs.get_mut(&path.to_string()) {
            *climbed = Climbed { fallbacks: climbed.fallbacks, ..Climbed::default() };
        }
    }

    fn climb(&mut self, planner: Planner<'_>, path: &StepPath, step: &Step, rung: &Rung) -> Result<(), String> {
        let rules = Rules::native(step.retry.as_ref());
        let climbed = self.climbs.entry(path.to_string()).or_default();
        match rung {
            Rung::Repair { .. } => climbed.repairs += 1,
            Rung::Compact => climbed.compactions += 1,
            Rung::Reframe { .. } => {
                climbed.framings += 1;
                self.latest.remove(&path.to_string());
            }
            Rung::AwaitReset => climbed.waits += 1,
            Rung::Fallback { to } => {
                let fallbacks = climbed.fallbacks;
                if entry(step, fallbacks) != Some(to) {
                    return Err(format!("`{to}` takes over `{path}`, but is not entry {fallbacks} of `fallback`"));
                }
                *climbed = Climbed { fallbacks: fallbacks + 1, ..Climbed::default() };
                self.latest.remove(&path.to_string());
            }
            Rung::Restore { .. } => {
                self.latest.remove(&path.to_string());
            }
            Rung::Again | Rung::Continue | Rung::Resend | Rung::Answer { .. } => {}
        }
        let climbed = &self.climbs[&path.to_string()];
        let unit = planner.plan.unit(planner.plan.body(step.body).unit);
        let bounded = unit.compat.contains(&Compat::WorkhorseLadder)
            || climbed.repairs <= rules.repairs
                && climbed.compactions <= rules.compactions
                && climbed.framings <= rules.framings
                && climbed.waits <= rules.waits;
        bounded.then_some(()).ok_or_else(|| format!("`{path}` climbs higher than its rules: {climbed:?}"))
    }

    /// An attempt that continues with a conversation.
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
        if session.total != self.totals.get(&session.id).copied() {
            return Err(format!("{who}, but what it has used is {:?}", self.totals.get(&session.id)));
        }
        Ok(())
    }
}

/// Whether the files of a step are put back after an interruption.
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
