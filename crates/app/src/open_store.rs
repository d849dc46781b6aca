//! Opens a store: at once or with an error. A worker waits until the store is there.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use longhaul_core::decide::is_given;
use longhaul_runtime::{Clock, clock_of};
use longhaul_store::{Error, Store, StoreAddress};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use crate::bootstrap::Say;

/// How long to wait for a database that does not answer.
const OPENING: Duration = Duration::from_secs(10);

/// A store, and the clock that belongs to it.
pub type Opened = (Arc<dyn Store>, Arc<dyn Clock>);

/// Opens a store with full rights. Blocks; meant for the start of a program.
pub fn store(place: &StoreAddress) -> Result<Opened> {
    let opened = tokio::task::block_in_place(|| Handle::current().block_on(place.open(OPENING)));
    let opened = told(place, opened)?;
    opened.scope().map_or(Ok(()), |scope| refuse(scope.login()))?;
    tokio::task::block_in_place(|| Handle::current().block_on(with_clock(place, opened)))
}

/// Refuses a login: a worker with a login only takes steps and reports their results.
fn refuse(login: &str) -> Result<()> {
    anyhow::bail!(
        "`{login}` is a login for `longhaul worker` only; for everything else, use the address that the store was \
         created with"
    )
}

/// Refuses to continue if there is no store, because opening it would create one. Blocks; meant for the start of a
/// program.
pub fn require(place: &StoreAddress) -> Result<()> {
    let there = tokio::task::block_in_place(|| Handle::current().block_on(place.is_there(OPENING)));
    match told(place, there)? {
        true => Ok(()),
        false => {
            bail!("there is no store at {place}; longhaul run WORKFLOW creates one there")
        }
    }
}

/// Opens a store for a worker, and waits until it is there; `None` if `stop` came first.
pub async fn patiently(place: &StoreAddress, stop: &CancellationToken, say: &Say) -> Result<Option<Opened>> {
    let is_said = AtomicBool::new(false);
    let unanswered = |why: &str| {
        if !is_said.swap(true, Ordering::Relaxed) {
            say(format!("{place} does not answer ({why}); waiting for it (Ctrl-C stops)"));
        }
    };
    let opened = tokio::select! {
        opened = place.open_patiently(OPENING, &unanswered) => match opened {
            Err(Error::Denied(why)) => {
                bail!("{place} cannot be opened: {why}; the user or the password is wrong, or the login was revoked")
            }
            opened => told(place, opened)?,
        },
        () = stop.cancelled() => return Ok(None),
    };
    with_clock(place, opened).await.map(Some)
}

async fn with_clock(place: &StoreAddress, store: Arc<dyn Store>) -> Result<Opened> {
    let clock = told(place, clock_of(&store).await)?;
    Ok((store, clock))
}

fn told<T>(place: &StoreAddress, opened: Result<T, Error>) -> Result<T> {
    opened.with_context(|| format!("{place} cannot be opened"))
}

/// The labels of waiting tasks from a time when several machines shared the store. A store that is a file serves one
/// machine, so that machine takes the tasks of all labels.
pub fn routes(store: &dyn Store) -> Result<Vec<String>> {
    let waiting = tokio::task::block_in_place(|| Handle::current().block_on(store.unheld(usize::MAX >> 1)))?;
    let mut routes: Vec<String> =
        waiting.into_iter().flat_map(|task| task.labels).filter(|label| !is_given(label)).collect();
    routes.sort();
    routes.dedup();
    Ok(routes)
}
