//! Detects silent machines that have files which a run needs.
//!
//! **Invariant:** a run gets at most one message per grace period, and only if the message is useful to it. The run
//! decides what follows.

use std::collections::HashMap;

use longhaul_core::decide::host_of_label;
use longhaul_core::id::RunId;
use longhaul_store::{NewMessage, Task};

use crate::engine::{Error, Shared};
use crate::run::message::Message;
use crate::run::run_loop::load;

/// How many tasks to check together.
const TASKS_MAX: usize = 1000;

/// The machines that runs wait for, as a worker remembers them.
#[derive(Debug, Default)]
pub(crate) struct Missing {
    /// Since when a run waits for each machine.
    first: HashMap<String, i64>,
    /// When to check each waiting run again.
    next: HashMap<RunId, i64>,
}

impl Missing {
    /// Sends a message to runs whose machine has been silent for longer than the grace period.
    pub(crate) async fn look(&mut self, shared: &Shared) -> Result<(), Error> {
        let (now, grace) = (shared.clock.now_ms(), shared.options.member.host_grace_ms);
        let Some(own) = shared.options.member.host.as_deref().filter(|_| grace > 0) else { return Ok(()) };
        let waiting = shared.store.unheld(TASKS_MAX).await?;
        let needed: Vec<(&Task, &str)> =
            waiting.iter().filter_map(|task| Some((task, host_of(task).filter(|host| *host != own)?))).collect();
        self.first.retain(|host, _| needed.iter().any(|(_, needed)| needed == host));
        self.next.retain(|run, _| needed.iter().any(|(task, _)| task.run == *run));
        if needed.is_empty() {
            return Ok(());
        }
        let seen = last_seen(shared).await?;
        for (task, host) in needed {
            let first = *self.first.entry(host.to_owned()).or_insert(now);
            let since = seen.get(host).copied().unwrap_or(first);
            let is_due = self.next.get(&task.run).is_none_or(|next| *next <= now);
            // The grace period begins when a run needs the machine. The list has workers that died long ago, but not
            // workers that left properly.
            if is_due && now.saturating_sub(since.max(first)) > grace {
                let next = tell(shared, &task.run, (host, since), (now, grace)).await?;
                self.next.insert(task.run.clone(), next);
            }
        }
        Ok(())
    }
}

/// When each machine was last heard of.
async fn last_seen(shared: &Shared) -> Result<HashMap<String, i64>, Error> {
    let mut seen: HashMap<String, i64> = HashMap::new();
    for listed in shared.store.workers().await? {
        let last = seen.entry(listed.worker.host).or_insert(i64::MIN);
        *last = (*last).max(listed.worker.seen_ms);
    }
    Ok(seen)
}

/// The machine that a task waits for.
fn host_of(task: &Task) -> Option<&str> {
    task.labels.iter().find_map(|label| host_of_label(label))
}

/// Sends a message to a run, if it is useful to it. Returns when to check the run again.
async fn tell(
    shared: &Shared,
    run: &RunId,
    (host, since): (&str, i64),
    (now, grace): (i64, i64),
) -> Result<i64, Error> {
    let loaded = match load(shared, run).await {
        // The run was removed meanwhile.
        Err(Error::UnknownRun(_) | Error::Store(longhaul_store::Error::UnknownRun)) => return Ok(now + grace),
        loaded => loaded?,
    };
    let message = Message::HostMissed { host: host.to_owned(), since, then: shared.options.member.when_gone };
    let patient_until = loaded.state.placement.waited_at.map_or(i64::MIN, |at| at.saturating_add(grace));
    if patient_until > now {
        return Ok(patient_until);
    }
    if loaded.state.paused || loaded.state.stopped.is_some() || message.rejection(&loaded).is_some() {
        return Ok(now + grace);
    }
    let message = NewMessage {
        run: run.clone(),
        source: "fleet".to_owned(),
        dedup: format!("{run} misses {host}, {}", now / grace),
        body: serde_json::to_string(&message).map_err(Error::encoding)?,
        at_ms: now,
    };
    shared.store.post(message).await?;
    shared.notifier.tell(run);
    Ok(now + grace)
}
