//! Machines of which nothing is heard, though a run needs the files that are there.
//!
//! **Invariant:** a run is told once in each grace at most, and nothing is done elsewhere unless a person says so.

use std::collections::HashMap;

use longhaul_core::decide::host_of_label;
use longhaul_core::id::RunId;
use longhaul_store::{NewMessage, Task};

use crate::engine::{Error, Shared};
use crate::message::Message;

/// Tasks that are looked at together.
const TASKS_MAX: usize = 1000;

/// Since when machines have been waited for that no worker has ever named.
#[derive(Debug, Default)]
pub(crate) struct Missing(HashMap<String, i64>);

impl Missing {
    /// Tells runs whose machine has been silent for longer than the grace.
    pub(crate) async fn look(&mut self, shared: &Shared) -> Result<(), Error> {
        let (now, grace) = (shared.clock.now_ms(), shared.options.member.host_grace_ms);
        let Some(own) = shared.options.member.host.as_deref().filter(|_| grace > 0) else { return Ok(()) };
        let waiting = shared.store.unheld(TASKS_MAX).await?;
        let needed: Vec<(&Task, &str)> =
            waiting.iter().filter_map(|task| Some((task, host_of(task).filter(|host| *host != own)?))).collect();
        self.0.retain(|host, _| needed.iter().any(|(_, needed)| needed == host));
        if needed.is_empty() {
            return Ok(());
        }
        let mut seen: HashMap<String, i64> = HashMap::new();
        for listed in shared.store.workers().await? {
            let last = seen.entry(listed.worker.host).or_insert(i64::MIN);
            *last = (*last).max(listed.worker.seen_ms);
        }
        for (task, host) in needed {
            let first = *self.0.entry(host.to_owned()).or_insert(now);
            let since = seen.get(host).copied().unwrap_or(first);
            if now.saturating_sub(since) > grace {
                tell(shared, &task.run, (host, since), now / grace).await?;
            }
        }
        Ok(())
    }
}

/// The machine that a task waits for.
fn host_of(task: &Task) -> Option<&str> {
    task.labels.iter().find_map(|label| host_of_label(label))
}

async fn tell(shared: &Shared, run: &RunId, (host, since): (&str, i64), round: i64) -> Result<(), Error> {
    let is_told = |status: &str| status == "paused";
    if shared.store.run(run).await?.is_none_or(|row| is_told(&row.head.status)) {
        return Ok(());
    }
    let message = Message::HostMissed { host: host.to_owned(), since };
    let message = NewMessage {
        run: run.clone(),
        source: "fleet".to_owned(),
        dedup: format!("{run} misses {host}, {round}"),
        body: serde_json::to_string(&message).map_err(Error::encoding)?,
        at_ms: shared.clock.now_ms(),
    };
    shared.store.post(message).await?;
    shared.mailroom.tell(run);
    Ok(())
}
