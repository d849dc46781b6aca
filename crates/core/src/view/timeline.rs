//! What happened when: attempts, questions and waits as spans of time.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::event::{Envelope, Event, QuestionKind};
use crate::path::StepPath;

/// Something that took time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Span {
    /// Which step.
    pub path: StepPath,
    /// What took the time.
    pub what: Spanned,
    /// From when.
    pub from: i64,
    /// Until when; `None` while it lasts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<i64>,
    /// How it ended, in a word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<&'static str>,
    /// Of an attempt that a worker took: which one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// Of an attempt: the machine that made it, where several share a store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

/// What takes time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Spanned {
    /// An attempt, by number.
    Attempt(u32),
    /// A pause before this attempt.
    Pause(u32),
    /// A question to a person.
    Question,
    /// A sleep, or a wait for a signal or for a worker.
    Wait,
}

/// The spans of a run, in the order in which they began.
pub fn timeline(history: &[Envelope]) -> Vec<Span> {
    let mut fold = Fold::default();
    for envelope in history {
        fold.event(envelope);
    }
    fold.spans
}

#[derive(Default)]
struct Fold {
    spans: Vec<Span>,
    /// The open span of each step.
    open: HashMap<StepPath, usize>,
}

impl Fold {
    fn event(&mut self, envelope: &Envelope) {
        let at = envelope.at;
        match &envelope.event {
            Event::AttemptStarted { path, queued: Some(_), .. } => self.begin(path, Spanned::Wait, at),
            Event::AttemptStarted { path, attempt, host, .. } => {
                self.begin(path, Spanned::Attempt(*attempt), at);
                self.made_by(None, host.as_deref());
            }
            Event::AttemptClaimed { path, attempt, worker, host } => {
                self.begin(path, Spanned::Attempt(*attempt), at);
                self.made_by(Some(worker), host.as_deref());
            }
            Event::AttemptSucceeded { path, .. } => self.end(path, at, "succeeded"),
            Event::AttemptFailed { path, .. } => self.end(path, at, "failed"),
            Event::AttemptStopped { path, .. } => self.end(path, at, "stopped"),
            Event::HandedBack { path, .. } => self.end(path, at, "given back"),
            Event::RetryScheduled { path, attempt, due, .. } if *due > at => {
                self.begin(path, Spanned::Pause(*attempt), at)
            }
            // The wait of the attempt continues meanwhile.
            Event::QuestionAsked { kind: QuestionKind::Machine, .. } => {}
            Event::QuestionAsked { path, .. } => self.begin(path, Spanned::Question, at),
            Event::Answered { path, .. } => self.answered(path, at),
            Event::WaitStarted { path, .. } => self.begin(path, Spanned::Wait, at),
            Event::StepSkipped { path, .. } => self.end(path, at, "over"),
            Event::StepEnded { path, .. } | Event::Rewound { path, .. } => {
                self.end(path, at, "over");
                self.give_up(at, |inner| inner.is_inside(path));
            }
            Event::UnitStopped { path, .. } => self.give_up(at, |inner| inner.is_inside(path)),
            Event::RunFinished { .. } => self.give_up(at, |_| true),
            Event::RunStarted(_)
            | Event::RetryScheduled { .. }
            | Event::AttemptAdopted { .. }
            | Event::AttemptReleased { .. }
            | Event::HostSettled { .. }
            | Event::HostMissed { .. }
            | Event::HostLeft { .. }
            | Event::HostSeen { .. }
            | Event::FilesRebuilt { .. }
            | Event::CarryFailed { .. }
            | Event::Imported { .. }
            | Event::AttemptDelayed { .. }
            | Event::SessionSeen { .. }
            | Event::FilesKept { .. }
            | Event::FilesRestored { .. }
            | Event::Claimed { .. }
            | Event::HeartbeatSeen { .. }
            | Event::ItemsFound { .. }
            | Event::BodyOpened { .. }
            | Event::TimerFired { .. }
            | Event::Signalled { .. }
            | Event::SignalRefused { .. }
            | Event::Routed { .. }
            | Event::LimitReached { .. }
            | Event::Refused { .. }
            | Event::Consented { .. }
            | Event::ConsentRevoked { .. }
            | Event::CancelRequested { .. }
            | Event::Paused { .. }
            | Event::Unpaused { .. }
            | Event::Reopened { .. }
            | Event::OnFailureStarted { .. }
            | Event::OnFailureEnded { .. } => {}
        }
    }

    fn begin(&mut self, path: &StepPath, what: Spanned, from: i64) {
        self.end(path, from, "over");
        if let Some(before) = path.visit_before() {
            self.give_up(from, |other| *other == before || other.is_inside(&before));
        }
        self.open.insert(path.clone(), self.spans.len());
        self.spans.push(Span { path: path.clone(), what, from, to: None, end: None, worker: None, host: None });
    }

    /// Who makes what was begun last.
    fn made_by(&mut self, worker: Option<&str>, host: Option<&str>) {
        if let Some(span) = self.spans.last_mut() {
            (span.worker, span.host) = (worker.map(str::to_owned), host.map(str::to_owned));
        }
    }

    /// What was answered while an attempt waits is not that attempt.
    fn answered(&mut self, path: &StepPath, at: i64) {
        let open = self.open.get(path).map(|span| self.spans[*span].what);
        if open == Some(Spanned::Question) {
            self.end(path, at, "answered");
        }
    }

    fn give_up(&mut self, at: i64, which: impl Fn(&StepPath) -> bool) {
        let open: Vec<StepPath> = self.open.keys().filter(|path| which(path)).cloned().collect();
        open.iter().for_each(|path| self.end(path, at, "given up"));
    }

    fn end(&mut self, path: &StepPath, to: i64, word: &'static str) {
        if let Some(at) = self.open.remove(path) {
            (self.spans[at].to, self.spans[at].end) = (Some(to), Some(word));
        }
    }
}
