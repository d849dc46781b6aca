//! Waiting for a run, and telling the client meanwhile what happens in it.

use std::time::Duration;

use longhaul_core::event::{Envelope, Event};
use longhaul_core::id::RunId;
use longhaul_core::state::State;
use longhaul_runtime::Pulse;
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::sync::broadcast::error::RecvError;
use tokio::time::Instant;

use crate::desk::Desk;
use crate::mcp::tool::Problem;

/// How often a run is looked at although nothing was heard of it: another process may drive it.
const LOOK_ANYWAY: Duration = Duration::from_secs(1);

/// How long a message may take to be taken in.
const TAKING_IN: Duration = Duration::from_secs(5);

/// Waits until a run is over or stands still until somebody answers, at most for a time, and not for a caller that is gone.
pub(crate) async fn wait(
    desk: &Desk,
    run: &RunId,
    at_most: Duration,
    context: &RequestContext<RoleServer>,
) -> Result<(), Problem> {
    let mut pulse = desk.engine().pulse();
    let mut progress = Progress::of(context);
    let until = Instant::now() + at_most;
    loop {
        let state = desk.engine().load(run).await?.state;
        if state.is_finished() || asks(&state) {
            return Ok(());
        }
        let look = (Instant::now() + LOOK_ANYWAY).min(until);
        loop {
            tokio::select! {
                () = context.ct.cancelled() => return Ok(()),
                () = desk.stop().cancelled() => return Ok(()),
                () = tokio::time::sleep_until(look) => break,
                heard = pulse.recv() => match heard {
                    Ok(Pulse::Events(of, events)) if of == *run => {
                        progress.tell(&events).await;
                        break;
                    }
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => break,
                },
            }
        }
        if Instant::now() >= until {
            return Ok(());
        }
    }
}

/// Waits until something was recorded after an event, at most for a while.
pub(crate) async fn moved_on(desk: &Desk, run: &RunId, seq: u64) -> Result<(), Problem> {
    let mut pulse = desk.engine().pulse();
    let until = Instant::now() + TAKING_IN;
    while desk.engine().load(run).await?.state.seq <= seq && Instant::now() < until {
        let look = (Instant::now() + LOOK_ANYWAY).min(until);
        // What is heard, or that it was too much, is a reason to look.
        let _ = tokio::time::timeout_at(look, pulse.recv()).await;
    }
    Ok(())
}

/// Whether only people can make it continue.
fn asks(state: &State) -> bool {
    state.questions().next().is_some()
        && state.open_attempts().next().is_none()
        && state.waiting().all(|step| step.asks().is_some())
}

/// What a client is told that asked to be kept informed.
struct Progress {
    to: Option<(Peer<RoleServer>, ProgressToken)>,
    told: f64,
}

impl Progress {
    fn of(context: &RequestContext<RoleServer>) -> Self {
        let token = context.meta.get_progress_token();
        Self { to: token.map(|token| (context.peer.clone(), token)), told: 0.0 }
    }

    async fn tell(&mut self, events: &[Envelope]) {
        let Some((peer, token)) = &self.to else { return };
        for line in events.iter().filter_map(|envelope| line(&envelope.event)) {
            self.told += 1.0;
            let told = ProgressNotificationParam::new(token.clone(), self.told).with_message(line);
            // A client that does not listen any more misses nothing.
            let _ = peer.notify_progress(told).await;
        }
    }
}

/// What is worth a word.
fn line(event: &Event) -> Option<String> {
    Some(match event {
        Event::AttemptStarted { path, attempt: 1, .. } => format!("`{path}` began"),
        Event::AttemptStarted { path, attempt, .. } => format!("`{path}` began again, attempt {attempt}"),
        Event::AttemptFailed { path, error, .. } => format!("`{path}` failed: {}", error.message),
        Event::StepEnded { path, .. } => format!("`{path}` is over"),
        Event::StepSkipped { path, .. } => format!("`{path}` is left out"),
        Event::QuestionAsked { path, text, .. } => format!("`{path}` asks: {text}"),
        Event::LimitReached { limit, .. } => format!("the limit `{limit}` is reached"),
        Event::RunFinished { .. } => "the run is over".to_owned(),
        _ => return None,
    })
}
