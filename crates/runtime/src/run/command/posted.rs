//! Commands that only an engine can record: they go through the inbox, and the caller waits for the outcome.

use std::time::Duration;

use longhaul_core::event::{Envelope, Event};
use longhaul_core::id::RunId;
use longhaul_core::rejection::Rejection;
use longhaul_store::NewMessage;
use tokio::time::Instant;
use uuid::Uuid;

use super::{Applied, Follow, applied, first, told};
use crate::engine::{Engine, Error};
use crate::run::message::Message;

/// How long to wait for the outcome.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often to check for the outcome.
const LOOK: Duration = Duration::from_millis(100);
/// How many events to read at once.
const PAGE: usize = 1000;

/// Puts a command into the inbox of a run, and waits for its outcome.
pub(super) async fn through_the_inbox(engine: &Engine, run: &RunId, message: Message) -> Result<Applied, Error> {
    let shared = &engine.shared;
    let before = engine.row(run).await?.map_or(0, |row| row.last_seq);
    let body = serde_json::to_string(&message).map_err(Error::encoding)?;
    let (dedup, at_ms) = (Uuid::now_v7().to_string(), engine.now_ms());
    let new = NewMessage { run: run.clone(), source: "engine".to_owned(), dedup: dedup.clone(), body, at_ms };
    shared.store.post(new).await?;
    shared.notifier.tell(run);
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        if !shared.store.inbox(run).await?.iter().any(|letter| letter.dedup == dedup) {
            return outcome(engine, run, &message, before).await;
        }
        tokio::time::sleep(LOOK).await;
    }
    let envelope = Envelope { v: 0, seq: 0, at: at_ms, event: message.into_event() };
    Ok(applied(run, &envelope, Follow::Stored))
}

/// The outcome of a command that an engine has recorded.
async fn outcome(engine: &Engine, run: &RunId, message: &Message, before: u64) -> Result<Applied, Error> {
    let wanted = message.clone().into_event();
    let mut after = before;
    loop {
        let page = engine.events(run, after, PAGE).await?;
        let Some(end) = page.last() else { break };
        after = end.seq;
        if let Some(envelope) = page.iter().find(|envelope| is_same(&wanted, &envelope.event)) {
            return Ok(applied(run, envelope, follow(engine, run).await?));
        }
    }
    let loaded = engine.load(run).await?;
    let rejection = message.rejection(&loaded);
    let rejection = rejection.unwrap_or_else(|| Rejection::conflict("the run has moved on"));
    Err(first::explained(engine, run, message, rejection.into()).await)
}

async fn follow(engine: &Engine, run: &RunId) -> Result<Follow, Error> {
    let state = engine.load(run).await?.state;
    let over = |finished: longhaul_core::state::Finished| Follow::Finished {
        outcome: finished.outcome,
        message: finished.message,
    };
    Ok(state.finished.map_or(Follow::Continues, over))
}

/// Whether an event records this command: the same action, by the same caller, on the same step.
fn is_same(wanted: &Event, recorded: &Event) -> bool {
    match (wanted, recorded) {
        // One of several approvals is recorded as `Approved`.
        (
            Event::Answered { path, caller, .. },
            Event::Answered { path: of, caller: by, .. } | Event::Approved { path: of, caller: by, .. },
        ) => path == of && caller == by,
        (Event::Signalled { .. } | Event::HintGiven { .. }, _) => wanted == recorded,
        _ => told(wanted).is_some() && told(wanted) == told(recorded),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(kind: &str, user: &str) -> Event {
        let caller = json!({"who": {"face": "api", "user": user}, "auth": "token"});
        let mut value = json!({"event": kind, "path": "go", "by": user, "caller": caller});
        match kind {
            "approved" => (value["given"], value["needed"]) = (json!(1), json!(2)),
            _ => value["answer"] = json!("approve"),
        }
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn one_of_several_approvals_is_the_answer_of_its_caller() {
        let wanted = event("answered", "kim");
        assert!(is_same(&wanted, &event("answered", "kim")) && is_same(&wanted, &event("approved", "kim")));
        assert!(!is_same(&wanted, &event("answered", "ana")) && !is_same(&wanted, &event("approved", "ana")));
    }
}
