//! How a store is opened: at once or not at all, or, by a worker, whenever it is there.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use longhaul_core::decide::is_given;
use longhaul_runtime::{Clock, clock_of};
use longhaul_store::{Error, Place, Store};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use crate::{office, ui};

/// How long a database is waited for that does not answer.
const OPENING: Duration = Duration::from_secs(10);

/// A store, and the clock that goes with it.
pub(crate) type Opened = (Arc<dyn Store>, Arc<dyn Clock>);

/// Opens a store for somebody who may do everything. Blocks; meant for the start of a program.
pub(crate) fn store(place: &Place) -> Result<Opened> {
    let opened = tokio::task::block_in_place(|| Handle::current().block_on(place.open(OPENING)));
    let opened = told(place, opened)?;
    opened.scope().map_or(Ok(()), |scope| office::refuse(scope.login()))?;
    tokio::task::block_in_place(|| Handle::current().block_on(with_clock(place, opened)))
}

/// Refuses to continue where there is no store: opening it would make one. Blocks; meant for the start of a program.
pub(crate) fn require(place: &Place) -> Result<()> {
    let there = tokio::task::block_in_place(|| Handle::current().block_on(place.is_there(OPENING)));
    match told(place, there)? {
        true => Ok(()),
        false => {
            bail!(
                "there is no store at {place}, and none was made; longhaul run WORKFLOW makes one, if that is where it should be"
            )
        }
    }
}

/// Opens a store for a worker, as soon as it is there; `None` if `stop` came first.
pub(crate) async fn patiently(place: &Place, stop: &CancellationToken) -> Result<Option<Opened>> {
    let is_said = AtomicBool::new(false);
    let unanswered = |why: &str| {
        if !is_said.swap(true, Ordering::Relaxed) {
            ui::say(format!("{place} does not answer ({why}); it is waited for, Ctrl-C ends that"));
        }
    };
    let opened = tokio::select! {
        opened = place.open_patiently(OPENING, &unanswered) => match opened {
            Err(Error::Denied(why)) => {
                bail!("{place} cannot be opened: {why}; its user or password is wrong, or its login was taken back")
            }
            opened => told(place, opened)?,
        },
        () = stop.cancelled() => return Ok(None),
    };
    with_clock(place, opened).await.map(Some)
}

async fn with_clock(place: &Place, store: Arc<dyn Store>) -> Result<Opened> {
    let clock = told(place, clock_of(&store).await)?;
    Ok((store, clock))
}

fn told<T>(place: &Place, opened: Result<T, Error>) -> Result<T> {
    opened.with_context(|| format!("{place} cannot be opened"))
}

/// What tasks ask for that chose among machines when several shared the store. A file is for one machine, which stands for all of them.
pub(crate) fn routes(store: &dyn Store) -> Result<Vec<String>> {
    let waiting = tokio::task::block_in_place(|| Handle::current().block_on(store.unheld(usize::MAX >> 1)))?;
    let mut routes: Vec<String> =
        waiting.into_iter().flat_map(|task| task.labels).filter(|label| !is_given(label)).collect();
    routes.sort();
    routes.dedup();
    Ok(routes)
}
