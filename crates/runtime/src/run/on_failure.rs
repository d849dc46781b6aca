//! What is done once a run has failed: its `on_failure`.
//!
//! It is made as attempts are: begun with the commit that ends the run, held by a lease, its end recorded. If the process
//! that began it is gone, whoever looks at the run next begins it again.
//!
//! **Invariant:** it is done at least once, and again only if nobody knows how it ended before.

use std::sync::Arc;

use longhaul_core::decide::{Planner, on_failure};
use longhaul_core::event::{Envelope, Event, Failure};
use longhaul_core::id::RunId;
use longhaul_core::plan::ErrorClass;
use longhaul_store::Task;
use tokio_util::sync::CancellationToken;

use crate::engine::{Error, Shared};
use crate::execute::kinds::notify::Notice;
use crate::run::leases::Leases;
use crate::run::recover::is_gone;
use crate::run::run_loop::{Loaded, load, moved_on, record_alone};

/// No step can have this in its path.
const MARK: &str = "!on_failure@";

/// The key of its task.
pub(crate) fn key(attempt: u32) -> String {
    format!("{MARK}{attempt}")
}

/// Whether it was begun with these events.
pub(crate) fn is_begun(events: &[Envelope]) -> bool {
    events.iter().any(|envelope| matches!(envelope.event, Event::OnFailureStarted { .. }))
}

fn is_left(shared: &Shared, task: &Task) -> bool {
    is_gone(shared, task) && !shared.leases.holds(&task.run, &task.key)
}

/// Does what a failed run still has to do, if it is `ours` or nobody else is at it.
pub(crate) async fn settle(
    shared: &Arc<Shared>,
    run: &RunId,
    loaded: &mut Loaded,
    ours: bool,
    stop: &CancellationToken,
) -> Result<(), Error> {
    let Some(open) = loaded.state.on_failure.open_attempt().filter(|_| !stop.is_cancelled()) else { return Ok(()) };
    if !ours && !take_over(shared, run, loaded, open).await? {
        return Ok(());
    }
    let attempt = loaded.state.on_failure.attempts;
    let cancel = stop.child_token();
    let _held = Leases::hold(shared, (run.clone(), key(attempt)), cancel.clone());
    let error = tell(shared, run, loaded, &cancel).await.err();
    if error.is_some() && cancel.is_cancelled() {
        // It was stopped on the way: for whoever comes next it is as if this process was gone.
        return Ok(());
    }
    note(shared, run, loaded, attempt, Event::OnFailureEnded { attempt, error }).await.map(|_| ())
}

/// Begins it again if whoever had begun it is gone; false if somebody else is at it.
async fn take_over(shared: &Shared, run: &RunId, loaded: &mut Loaded, open: u32) -> Result<bool, Error> {
    let tasks = shared.store.tasks(run).await?;
    let task = tasks.iter().find(|task| task.key == key(open));
    if task.is_some_and(|task| !is_left(shared, task)) {
        return Ok(false);
    }
    note(shared, run, loaded, open, Event::OnFailureStarted { attempt: open + 1 }).await
}

/// Records what became of an attempt, while it is the one that is open; false if it is not any more.
async fn note(shared: &Shared, run: &RunId, loaded: &mut Loaded, attempt: u32, event: Event) -> Result<bool, Error> {
    loop {
        if loaded.state.on_failure.open_attempt() != Some(attempt) {
            return Ok(false);
        }
        match record_alone(shared, run, loaded, std::slice::from_ref(&event)).await {
            Err(error) if moved_on(&error) => *loaded = load(shared, run).await?,
            recorded => return recorded.map(|()| true),
        }
    }
}

/// Does what the workflow says about failed runs.
async fn tell(shared: &Shared, run: &RunId, loaded: &Loaded, cancel: &CancellationToken) -> Result<(), Failure> {
    let (plan, index) = (&loaded.plan.0, &loaded.plan.1);
    let Some(params) = on_failure(Planner { plan, index }, &loaded.state) else { return Ok(()) };
    let finished = loaded.state.finished.as_ref();
    let why = finished.and_then(|finished| finished.message.clone()).unwrap_or_else(|| "It failed.".to_owned());
    let notice = params.and_then(|params| Notice::of_failure(shared, run, &params, &why));
    let (notice, channels) = notice.map_err(|problem| Failure::new(ErrorClass::Invalid, problem.0))?;
    Notice { cancel: cancel.clone(), ..notice }.tell(&channels).await
}
