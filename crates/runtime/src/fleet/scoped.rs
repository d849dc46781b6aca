//! A worker with a login: it takes steps, runs them, and reports. An engine with full rights records the reports and
//! decides what follows.
//!
//! **Invariant:** it starts an attempt only after the journal says that the attempt is its own. It stops an attempt as
//! soon as the journal or the store says that it is not.

mod at_work;
mod making;

use std::sync::Arc;
use std::time::Duration;

use longhaul_core::rejection::Rejection;
use longhaul_store::{Error as Refusal, LoginScope, Task, WorkerId};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::engine::{Engine, Error, Shared};
use crate::run::recover::is_dead;
use at_work::{AtWork, key_of};

/// How often to look for work without a wake-up.
const LOOK_AROUND: Duration = Duration::from_secs(2);
/// How often to report that it is there.
const SAY_SO: Duration = Duration::from_secs(5);
/// Collects changes within this time and handles them together.
const TOGETHER: Duration = Duration::from_millis(20);

struct Worker<'a> {
    shared: &'a Arc<Shared>,
    stop: CancellationToken,
    at_work: Arc<AtWork>,
    tasks: TaskTracker,
    since_ms: i64,
    says_so: Instant,
}

/// Runs the waiting tasks that fit this worker, until `stop`.
pub(crate) async fn work(engine: &Engine, stop: CancellationToken) -> Result<(), Error> {
    let _renewing = engine.keep_leases();
    let shared = &engine.shared;
    let mut changes = shared.store.watch_work();
    let (since_ms, says_so) = (engine.now_ms(), Instant::now());
    let stop = stop.child_token();
    let mut worker = Worker { shared, stop, at_work: Arc::default(), tasks: TaskTracker::new(), since_ms, says_so };
    let mut went = Ok(());
    while !worker.stop.is_cancelled() {
        changes.borrow_and_update();
        match worker.look().await {
            // The store may come back. Until then this worker can do nothing.
            Ok(()) | Err(Error::Store(Refusal::Unreachable(_) | Refusal::Unsure(_) | Refusal::Busy)) => {}
            // The store has shut this worker out, so its work has no use any more.
            Err(error) => {
                went = Err(error);
                break;
            }
        }
        worker.wait(&mut changes).await;
    }
    worker.stop.cancel();
    worker.tasks.close();
    worker.tasks.wait().await;
    // If this fails, the store forgets the worker after a while.
    let _ = shared.store.dismiss(&shared.worker).await;
    went
}

impl Worker<'_> {
    async fn look(&mut self) -> Result<(), Error> {
        if Instant::now() >= self.says_so {
            self.shared.store.greet(self.shared.as_worker(self.since_ms)).await?;
            self.says_so = Instant::now() + SAY_SO;
            self.take_over().await?;
        }
        let room = self.shared.options.attempts_max.saturating_sub(self.at_work.len());
        if room > 0 {
            for task in self.shared.store.claim(self.shared.as_claim(None, room)).await? {
                self.take_up(task, false);
            }
        }
        Ok(())
    }

    /// Continues tasks that earlier processes of this worker left, and tasks that it holds but does not run.
    async fn take_over(&self) -> Result<(), Error> {
        let own = &self.shared.worker;
        let held = self.shared.store.expired(i64::MAX, usize::MAX >> 1).await?;
        self.at_work.keep(&held);
        for task in held {
            match &task.worker {
                Some(worker) if worker == own => self.take_up(task, true),
                Some(worker) if is_dead(worker.as_str()) => self.inherit(worker).await?,
                _ => {}
            }
        }
        Ok(())
    }

    async fn inherit(&self, dead: &WorkerId) -> Result<(), Error> {
        let until_ms = self.shared.clock.now_ms().saturating_add(self.shared.lease_ms());
        for task in scope(self.shared)?.inherit(&self.shared.worker, dead, until_ms).await? {
            self.take_up(task, true);
        }
        Ok(())
    }

    fn take_up(&self, task: Task, is_old: bool) {
        if !self.at_work.begin(key_of(&task)) {
            return;
        }
        let (shared, at_work, stop) = (Arc::clone(self.shared), Arc::clone(&self.at_work), self.stop.clone());
        self.tasks.spawn(async move {
            // If this fails, the attempt is lost when its lease ends, and the step says whether it runs again.
            let is_told = making::make(&shared, &task, is_old, &stop).await;
            at_work.end(key_of(&task), is_told.unwrap_or(false));
        });
    }

    async fn wait(&self, changes: &mut watch::Receiver<u64>) {
        tokio::select! {
            () = self.stop.cancelled() => return,
            _ = changes.changed() => {}
            () = tokio::time::sleep(LOOK_AROUND) => return,
        }
        tokio::time::sleep(TOGETHER).await;
    }
}

/// The rights of this engine, if it has a login.
pub(crate) fn scope(shared: &Shared) -> Result<&dyn LoginScope, Error> {
    shared.store.scope().ok_or_else(|| Rejection::invalid("this store was not opened with a login").into())
}
