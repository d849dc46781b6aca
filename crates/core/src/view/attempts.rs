//! The attempts of one step, in order.

use schemars::JsonSchema;
use serde::Serialize;

use crate::Json;
use crate::event::{self, Envelope, Event, Failure, Usage};
use crate::path::StepPath;
use crate::status::AttemptStatus;

/// An attempt, from its events.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Attempt {
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// `waiting` for a worker, `running`, `succeeded`, `failed` or `stopped`.
    pub status: AttemptStatus,
    /// The time at which it started, or started to wait.
    pub started_at: i64,
    /// The time at which it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<i64>,
    /// Its tokens and cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The failure, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// How its agent continued after the attempt before had failed, in words.
    #[serde(rename = "rung", skip_serializing_if = "Option::is_none")]
    pub recovery: Option<String>,
    /// The agent that made it, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The worker that claimed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// The machine that made it, if several machines share a store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The agent's session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The exit code of a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Whether the result comes from an earlier run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
    /// Its output.
    #[serde(skip_serializing_if = "Json::is_null")]
    pub output: Json,
}

/// The attempts of a step, oldest first.
pub fn attempts(history: &[Envelope], path: &StepPath) -> Vec<Attempt> {
    let mut fold = Fold { path, attempts: Vec::new(), recovery: None };
    for (at, envelope) in history.iter().enumerate() {
        match &envelope.event {
            // It keeps what another address had made.
            Event::ResultKept { path: kept, was: Some(was), .. } if kept == path => {
                fold.attempts = attempts(&history[..at], was);
            }
            _ => fold.event(envelope),
        }
    }
    fold.attempts
}

struct Fold<'a> {
    path: &'a StepPath,
    attempts: Vec<Attempt>,
    /// For the next attempt.
    recovery: Option<String>,
}

impl Fold<'_> {
    fn event(&mut self, envelope: &Envelope) {
        let at = envelope.at;
        match &envelope.event {
            Event::AttemptStarted { path, attempt, host, queued, .. } if path == self.path => {
                let status = if queued.is_some() { AttemptStatus::Waiting } else { AttemptStatus::Running };
                self.begin(*attempt, at, status, host.as_deref());
            }
            Event::AttemptClaimed { path, attempt, worker, host } if path == self.path => {
                if let Some(known) = self.find(*attempt) {
                    (known.status, known.started_at) = (AttemptStatus::Running, at);
                    (known.worker, known.host) = (Some(worker.clone()), host.clone());
                }
            }
            Event::RetryScheduled { path, recovery, .. } if path == self.path => {
                self.recovery = recovery.as_ref().map(crate::recovery::RecoveryAction::words);
            }
            Event::SessionSeen { path, attempt, session, .. } if path == self.path => {
                if let Some(known) = self.find(*attempt) {
                    (known.agent, known.session) = (Some(session.agent.clone()), Some(session.id.clone()));
                }
            }
            Event::HostedClaimed { path, attempt, by, .. } if path == self.path => {
                if let Some(known) = self.find(*attempt) {
                    known.agent = Some(by.clone());
                }
            }
            Event::AttemptSucceeded { path, attempt, result } if path == self.path => {
                self.end(*attempt, at, AttemptStatus::Succeeded, Some(result));
            }
            Event::AttemptFailed { path, attempt, error, result } if path == self.path => {
                self.end(*attempt, at, AttemptStatus::Failed, Some(result));
                if let Some(known) = self.find(*attempt) {
                    known.error = Some(error.clone());
                }
            }
            Event::AttemptStopped { path, attempt, usage } if path == self.path => {
                self.end(*attempt, at, AttemptStatus::Stopped, None);
                if let Some(known) = self.find(*attempt) {
                    known.usage = *usage;
                }
            }
            Event::HostedReturned { path, attempt } if path == self.path => {
                self.end(*attempt, at, AttemptStatus::Stopped, None)
            }
            Event::StepEnded { path, .. } if path == self.path || self.path.is_inside(path) => self.give_up(at),
            Event::RunFinished { .. } => self.give_up(at),
            _ => {}
        }
    }

    fn begin(&mut self, attempt: u32, at: i64, status: AttemptStatus, host: Option<&str>) {
        self.attempts.push(Attempt {
            attempt,
            status,
            started_at: at,
            ended_at: None,
            usage: None,
            error: None,
            recovery: self.recovery.take(),
            agent: None,
            worker: None,
            host: host.map(str::to_owned),
            session: None,
            exit_code: None,
            cached: false,
            output: Json::Null,
        });
    }

    fn end(&mut self, attempt: u32, at: i64, status: AttemptStatus, result: Option<&event::Result>) {
        let Some(known) = self.find(attempt) else { return };
        (known.status, known.ended_at) = (status, Some(at));
        if let Some(result) = result {
            (known.usage, known.exit_code, known.cached) = (result.usage, result.exit_code, result.cached);
            known.output = result.output.clone();
            known.agent = known.agent.take().or_else(|| result.by.clone());
        }
    }

    /// Ends an attempt that is still open when its step is over.
    fn give_up(&mut self, at: i64) {
        for open in self.attempts.iter_mut().filter(|attempt| attempt.ended_at.is_none()) {
            (open.status, open.ended_at) = (AttemptStatus::Stopped, Some(at));
        }
    }

    fn find(&mut self, attempt: u32) -> Option<&mut Attempt> {
        self.attempts.iter_mut().rev().find(|known| known.attempt == attempt)
    }
}
