//! Waits for a run, and reports its progress to the client meanwhile.

use std::time::Duration;

use longhaul_core::event::{Envelope, Event};
use longhaul_core::id::RunId;
use longhaul_core::state::State;
use longhaul_runtime::EngineEvent;
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::sync::broadcast::error::RecvError;
use tokio::time::Instant;

use crate::app_state::AppState;
use crate::mcp::tool::Problem;

/// How often to check a run without a wake-up, because another process may drive it.
const LOOK_ANYWAY: Duration = Duration::from_secs(1);

/// How long to wait until an engine records a message.
const TAKING_IN: Duration = Duration::from_secs(5);

/// Waits until a run is over or needs a person. Stops after a time limit, or if the caller is gone.
pub(crate) async fn wait(
    desk: &AppState,
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
                    Ok(EngineEvent::Events(of, events)) if of == *run => {
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

/// Waits until an event is recorded after `seq`, within a time limit.
pub(crate) async fn moved_on(desk: &AppState, run: &RunId, seq: u64) -> Result<(), Problem> {
    let mut pulse = desk.engine().pulse();
    let until = Instant::now() + TAKING_IN;
    while desk.engine().load(run).await?.state.seq <= seq && Instant::now() < until {
        let look = (Instant::now() + LOOK_ANYWAY).min(until);
        // Any wake-up, even one that says that events were missed, is a reason to check.
        let _ = tokio::time::timeout_at(look, pulse.recv()).await;
    }
    Ok(())
}

/// Whether only people can make the run continue.
fn asks(state: &State) -> bool {
    state.questions().next().is_some()
        && state.open_attempts().next().is_none()
        && state.waiting().all(|step| step.asks().is_some())
}

/// Reports progress to a client that asked for it.
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
            // If the client no longer listens, nothing is lost.
            let _ = peer.notify_progress(told).await;
        }
    }
}

/// The line for an event that is worth reporting.
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
