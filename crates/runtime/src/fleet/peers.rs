//! The other workers of a store, as far as it matters who looks at a run first.
//!
//! **Invariant:** this is about who is first, never about who may: what nobody took up is everybody's at the next poll.

use std::time::Duration;

use longhaul_core::decide::goes_first;
use longhaul_core::id::RunId;
use longhaul_store::WorkerId;
use tokio::time::Instant;

use crate::engine::{Error, Shared};
use crate::fleet::roster;

/// How long it is taken to be known who is there.
const KNOWN_FOR: Duration = Duration::from_secs(10);

/// Who looks for work in the same store.
#[derive(Debug, Default)]
pub(crate) struct Peers {
    there: Vec<WorkerId>,
    known_until: Option<Instant>,
}

impl Peers {
    /// Those of some runs at which this worker looks before others do.
    pub(crate) async fn share(&mut self, shared: &Shared, mut runs: Vec<RunId>) -> Result<Vec<RunId>, Error> {
        if shared.options.member.host.is_none() || runs.is_empty() {
            return Ok(runs);
        }
        if self.known_until.is_none_or(|until| until <= Instant::now()) {
            self.there = there(shared).await?;
            self.known_until = Some(Instant::now() + KNOWN_FOR);
        }
        let own = shared.worker.as_str();
        let others = self.there.iter().map(WorkerId::as_str).filter(|worker| *worker != own);
        let all: Vec<&str> = others.chain([own]).collect();
        runs.retain(|run| goes_first(run, all.iter().copied()) == Some(own));
        Ok(runs)
    }
}

/// Workers that are there and may continue with a run. One with a login may not.
async fn there(shared: &Shared) -> Result<Vec<WorkerId>, Error> {
    let now = shared.clock.now_ms();
    let listed = shared.store.workers().await?.into_iter().map(|listed| listed.worker);
    let is_there =
        |worker: &longhaul_store::Worker| worker.id.login().is_none() && !roster::is_silent(worker.seen_ms, now);
    Ok(listed.filter(is_there).map(|worker| worker.id).collect())
}
