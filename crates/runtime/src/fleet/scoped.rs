//! A worker with a login: takes steps, makes them, and reports. Whoever may write history records what it reports and decides what
//! follows.
//!
//! **Invariant:** it begins an attempt only once the journal says that it makes it, and stops what the journal, or the store,
//! says is not its own any more.

mod at_work;
mod making;

use std::sync::Arc;
use std::time::Duration;

use longhaul_store::{Error as Refusal, Scope, Task, WorkerId};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::engine::{Engine, Error, Shared};
use crate::run::recover::is_dead;
use at_work::{AtWork, key_of};

/// How often it looks for work that nobody told it about.
const LOOK_AROUND: Duration = Duration::from_secs(2);
/// How often it says that it is there.
const SAY_SO: Duration = Duration::from_secs(5);
/// Changes within this time are looked at together.
const TOGETHER: Duration = Duration::from_millis(20);

struct Worker<'a> {
    shared: &'a Arc<Shared>,
    stop: CancellationToken,
    at_work: Arc<AtWork>,
    tasks: TaskTracker,
    since_ms: i64,
    says_so: Instant,
}

/// Makes what waits for a worker like this one, until `stop`.
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
            // It may come back, and until then nothing can be done here.
            Ok(()) | Err(Error::Store(Refusal::Unreachable(_) | Refusal::Unsure(_) | Refusal::Busy)) => {}
            // It has been shut out: nothing that it does is of use any more.
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
    // A worker that is not missed is forgotten after a while, too.
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

    /// Continues with what earlier lives of this worker on this machine have left, and with what is held and nobody is at.
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
            // What cannot be made is lost with its lease, and made again as its step says.
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

/// What this engine may do, where that is less than everything.
pub(crate) fn scope(shared: &Shared) -> Result<&dyn Scope, Error> {
    shared.store.scope().ok_or_else(|| Error::Refused("this store was not opened with a login".to_owned()))
}
