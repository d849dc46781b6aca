//! What is done once a run has failed: its `on_failure`, once, as well as can be.
//!
//! The end of the run has been recorded before. Whoever recorded it does this; if that process dies in between, nobody is
//! told, and a run that is only looked at again tells nobody twice.

use longhaul_core::decide::{Planner, on_failure};
use longhaul_core::event::{Envelope, Event};
use longhaul_core::id::RunId;
use longhaul_core::plan::Outcome;
use tokio_util::sync::CancellationToken;

use crate::engine::Shared;
use crate::run_loop::Loaded;
use crate::steps::notify::{Notice, say};

/// Whether the run has failed with these events.
pub(crate) fn is_failure(events: &[Envelope]) -> bool {
    events.iter().any(|envelope| matches!(envelope.event, Event::RunFinished { outcome: Outcome::Failure, .. }))
}

/// Does what the workflow says about failed runs. That it could not be done is only said.
pub(crate) async fn failed(shared: &Shared, run: &RunId, loaded: &Loaded, stop: &CancellationToken) {
    let (plan, index) = (&loaded.plan.0, &loaded.plan.1);
    let Some(params) = on_failure(Planner { plan, index }, &loaded.state) else { return };
    let finished = loaded.state.finished.as_ref();
    let why = finished.and_then(|finished| finished.message.clone()).unwrap_or_else(|| "It failed.".to_owned());
    let notice = params.and_then(|params| Notice::of_failure(shared, run, &params, &why));
    let told = match notice {
        Ok((notice, channels)) => {
            let notice = Notice { cancel: stop.clone(), ..notice };
            notice.tell(&channels).await.map_err(|failure| failure.message)
        }
        Err(problem) => Err(problem.0),
    };
    if let (Err(message), Ok(step)) = (told, "on_failure".parse()) {
        say(shared, run, &step, &format!("`on_failure` was not done: {message}"));
    }
}
