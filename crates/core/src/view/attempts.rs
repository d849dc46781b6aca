//! The attempts of one step, one after the other.

use schemars::JsonSchema;
use serde::Serialize;

use crate::Json;
use crate::event::{self, Envelope, Event, Failure, Usage};
use crate::path::StepPath;

/// An attempt, as its history tells it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Attempt {
    /// From 1.
    pub attempt: u32,
    /// `waiting` for a worker, `running`, `succeeded`, `failed` or `stopped`.
    #[schemars(extend("enum" = ["waiting", "running", "succeeded", "failed", "stopped"]))]
    pub status: &'static str,
    /// When it began, or began to wait.
    pub started_at: i64,
    /// When it was over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<i64>,
    /// What it cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// In which way its agent continued after the attempt before had failed, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rung: Option<String>,
    /// Who made it, where an agent did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The worker that took it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// The machine that made it, where several share a store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// In which conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Of a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Whether the result is one of an earlier run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
    /// What it left.
    #[serde(skip_serializing_if = "Json::is_null")]
    pub output: Json,
}

/// The attempts of a step, oldest first.
pub fn attempts(history: &[Envelope], path: &StepPath) -> Vec<Attempt> {
    let mut fold = Fold { path, attempts: Vec::new(), rung: None };
    history.iter().for_each(|envelope| fold.event(envelope));
    fold.attempts
}

struct Fold<'a> {
    path: &'a StepPath,
    attempts: Vec<Attempt>,
    /// Of the attempt to come.
    rung: Option<String>,
}

impl Fold<'_> {
    fn event(&mut self, envelope: &Envelope) {
        let at = envelope.at;
        match &envelope.event {
            Event::AttemptStarted { path, attempt, host, queued, .. } if path == self.path => {
                let status = if queued.is_some() { "waiting" } else { "running" };
                self.begin(*attempt, at, status, host.as_deref());
            }
            Event::AttemptClaimed { path, attempt, worker, host } if path == self.path => {
                if let Some(known) = self.find(*attempt) {
                    (known.status, known.started_at) = ("running", at);
                    (known.worker, known.host) = (Some(worker.clone()), host.clone());
                }
            }
            Event::RetryScheduled { path, rung, .. } if path == self.path => {
                self.rung = rung.as_ref().map(crate::ladder::Rung::words);
            }
            Event::SessionSeen { path, attempt, session, .. } if path == self.path => {
                if let Some(known) = self.find(*attempt) {
                    (known.agent, known.session) = (Some(session.agent.clone()), Some(session.id.clone()));
                }
            }
            Event::Claimed { path, attempt, by, .. } if path == self.path => {
                if let Some(known) = self.find(*attempt) {
                    known.agent = Some(by.clone());
                }
            }
            Event::AttemptSucceeded { path, attempt, result } if path == self.path => {
                self.end(*attempt, at, "succeeded", Some(result));
            }
            Event::AttemptFailed { path, attempt, error, result } if path == self.path => {
                self.end(*attempt, at, "failed", Some(result));
                if let Some(known) = self.find(*attempt) {
                    known.error = Some(error.clone());
                }
            }
            Event::AttemptStopped { path, attempt, usage } if path == self.path => {
                self.end(*attempt, at, "stopped", None);
                if let Some(known) = self.find(*attempt) {
                    known.usage = *usage;
                }
            }
            Event::HandedBack { path, attempt } if path == self.path => self.end(*attempt, at, "stopped", None),
            Event::StepEnded { path, .. } if path == self.path || self.path.is_inside(path) => self.give_up(at),
            Event::RunFinished { .. } => self.give_up(at),
            _ => {}
        }
    }

    fn begin(&mut self, attempt: u32, at: i64, status: &'static str, host: Option<&str>) {
        self.attempts.push(Attempt {
            attempt,
            status,
            started_at: at,
            ended_at: None,
            usage: None,
            error: None,
            rung: self.rung.take(),
            agent: None,
            worker: None,
            host: host.map(str::to_owned),
            session: None,
            exit_code: None,
            cached: false,
            output: Json::Null,
        });
    }

    fn end(&mut self, attempt: u32, at: i64, status: &'static str, result: Option<&event::Result>) {
        let Some(known) = self.find(attempt) else { return };
        (known.status, known.ended_at) = (status, Some(at));
        if let Some(result) = result {
            (known.usage, known.exit_code, known.cached) = (result.usage, result.exit_code, result.cached);
            known.output = result.output.clone();
            known.agent = known.agent.take().or_else(|| result.by.clone());
        }
    }

    /// What is still open when its step is over was given up.
    fn give_up(&mut self, at: i64) {
        for open in self.attempts.iter_mut().filter(|attempt| attempt.ended_at.is_none()) {
            (open.status, open.ended_at) = ("stopped", Some(at));
        }
    }

    fn find(&mut self, attempt: u32) -> Option<&mut Attempt> {
        self.attempts.iter_mut().rev().find(|known| known.attempt == attempt)
    }
}
