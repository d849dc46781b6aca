//! Finds the caller who was first, if a command came too late.

use longhaul_core::event::{Answer, Envelope, Event};
use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_core::rejection::{FirstCommand, Rejection, RejectionKind};

use super::{told, word};
use crate::engine::{Engine, Error};
use crate::run::message::Message;

/// How many events to read at once.
const PAGE: usize = 1000;

/// The same error, with the caller who was first. If that cannot be found out, it stays as it is.
pub(super) async fn explained(engine: &Engine, run: &RunId, message: &Message, error: Error) -> Error {
    match error {
        Error::Rejected(rejection) if is_late(rejection.kind) => {
            with_first(engine, run, message, rejection).await.into()
        }
        error => error,
    }
}

fn is_late(kind: RejectionKind) -> bool {
    matches!(kind, RejectionKind::Conflict | RejectionKind::Untimely)
}

async fn with_first(engine: &Engine, run: &RunId, message: &Message, rejection: Rejection) -> Rejection {
    if is_still_asked(engine, run, message).await || is_over(engine, run, message).await {
        return rejection;
    }
    match last(engine, run, |event| precedes(message, event)).await {
        Some(Envelope { event: Event::Answered { path, answer: Answer::TimedOut, .. }, .. }) => {
            Rejection::conflict(format!("nobody answered `{path}` in time"))
        }
        Some(Envelope { event: Event::Answered { path, answer, by, .. }, at, .. }) => {
            let first = FirstCommand { what: word(&answer).to_owned(), by, at };
            Rejection::conflict(format!("`{path}` has been answered")).after(first)
        }
        Some(envelope) => match told(&envelope.event) {
            Some((what, _, by)) => {
                let first = FirstCommand { what: what.to_owned(), by: by.map(str::to_owned), at: envelope.at };
                Rejection::conflict(rejection.message).after(first)
            }
            None => rejection,
        },
        None => rejection,
    }
}

/// Whether a command that only an open run takes came after the end of the run. Then nobody gave the same command first.
async fn is_over(engine: &Engine, run: &RunId, message: &Message) -> bool {
    let is_for_open = matches!(message, Message::Stop { .. } | Message::Resume { .. });
    is_for_open && engine.load(run).await.is_ok_and(|loaded| loaded.state.is_finished())
}

/// Whether the question of an answer is still open. Then no caller was first, and the problem is another one.
async fn is_still_asked(engine: &Engine, run: &RunId, message: &Message) -> bool {
    let Message::Answer { path, .. } = message else { return false };
    let loaded = engine.load(run).await;
    loaded.is_ok_and(|loaded| loaded.state.find(path).is_some_and(|step| step.asks().is_some()))
}

/// Whether an event did what a command asks for, or the opposite.
fn precedes(message: &Message, event: &Event) -> bool {
    match (message, event) {
        (Message::Answer { path, .. }, Event::Answered { path: of, .. }) => path == of,
        (Message::Pause { .. }, Event::Paused { .. }) => true,
        (Message::Unpause { .. }, Event::Unpaused { .. }) => true,
        (Message::Stop { .. }, Event::RunStopped { .. }) => true,
        (Message::Resume { .. }, Event::RunResumed { .. }) => true,
        (Message::Retry { .. }, Event::Reopened { .. } | Event::PlanReplaced(_)) => true,
        (Message::Cancel { .. }, Event::CancelRequested { .. }) => true,
        _ => false,
    }
}

/// The last event of a run that `wanted` accepts.
async fn last(engine: &Engine, run: &RunId, wanted: impl Fn(&Event) -> bool) -> Option<Envelope> {
    let (mut found, mut after) = (None, 0);
    loop {
        let page = engine.events(run, after, PAGE).await.ok()?;
        let Some(end) = page.last() else { return found };
        after = end.seq;
        found = page.into_iter().rev().find(|envelope| wanted(&envelope.event)).or(found);
    }
}

impl Engine {
    /// The rejection of an answer to a run or a step without a question. It names the last caller who answered.
    pub async fn asks_nothing(&self, run: &RunId, step: Option<&StepPath>) -> Rejection {
        let answered = |event: &Event| match event {
            Event::Answered { path, answer, .. } => step.is_none_or(|step| step == path) && *answer != Answer::TimedOut,
            _ => false,
        };
        let asks_nothing = Rejection::untimely("this run asks nothing at the moment");
        match last(self, run, answered).await {
            Some(Envelope { event: Event::Answered { path, answer, by, .. }, at, .. }) => {
                let first = FirstCommand { what: word(&answer).to_owned(), by, at };
                Rejection::conflict(format!("`{path}` has been answered")).after(first)
            }
            _ => asks_nothing,
        }
    }
}
