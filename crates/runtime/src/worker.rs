//! A worker: finds runs that have something to do, and drives them.
//!
//! What changed is looked at soon and cheaply: mail, timers, runs that are new. Everything that is at work is looked at
//! now and then, because a process that dies tells nobody.
//!
//! **Invariant:** a run is driven once at a time by this worker; that two workers do not drive it is what the store's
//! fences are for.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use longhaul_core::id::RunId;
use longhaul_store::{Query, RunRow};
use tokio::sync::{Mutex, mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::engine::{Engine, Error, Shared};
use crate::fleet;
use crate::missed::Missing;
use crate::recover::{is_dead, is_gone};

/// How often a worker looks for work that nobody told it about.
const LOOK_AROUND: Duration = Duration::from_secs(2);
/// How often a worker says that it is there. It does so where it looks for work: one that does not look is not there.
const SAY_SO: Duration = Duration::from_secs(5);
/// Changes within this time are looked at together.
const TOGETHER: Duration = Duration::from_millis(20);
/// Runs that are looked at together.
const RUNS_MAX: usize = 1000;
/// Runs left behind that are taken up together: more do not fit into one commit of the store, and a run in memory is much
/// larger than one that waits.
const TAKEN_MAX: usize = 256;
/// With so many at work, the rest of those left behind waits longer.
const CROWDED: usize = 512;

struct Worker<'a> {
    engine: &'a Engine,
    stop: CancellationToken,
    busy: Arc<Mutex<HashSet<RunId>>>,
    tasks: TaskTracker,
    /// The newest run that was looked at.
    newest: Option<RunId>,
    /// When everything is looked at again.
    around: Instant,
    /// Since when it is there, and when it says so next.
    since_ms: i64,
    says_so: Instant,
    missing: Missing,
}

/// Drives every run that has something to do: mail, a timer that is due, or work that was left behind.
pub(crate) async fn work(engine: &Engine, stop: CancellationToken) -> Result<(), Error> {
    let _renewing = engine.keep_leases();
    let mut changes = engine.shared.store.watch();
    let mut unheard = engine.shared.mailroom.unheard();
    let (busy, tasks) = (Arc::default(), TaskTracker::new());
    let (around, since_ms) = (Instant::now(), engine.now_ms());
    let missing = Missing::default();
    let mut worker = Worker { engine, stop, busy, tasks, newest: None, around, since_ms, says_so: around, missing };
    engine.shared.taken.leave_to_worker(true);
    while !worker.stop.is_cancelled() {
        let since = Instant::now();
        changes.borrow_and_update();
        match worker.look().await {
            // It may come back, and until then nothing can be done here.
            Err(Error::Store(longhaul_store::Error::Unreachable(_) | longhaul_store::Error::Busy)) => {}
            looked => looked?,
        }
        worker.wait(&mut changes, &mut unheard, since + TOGETHER).await;
    }
    engine.shared.taken.leave_to_worker(false);
    worker.tasks.close();
    worker.tasks.wait().await;
    // A worker that is not missed is forgotten after a while, too.
    let _ = engine.shared.store.dismiss(&engine.shared.worker).await;
    Ok(())
}

impl Worker<'_> {
    /// Takes up what should be.
    async fn look(&mut self) -> Result<(), Error> {
        let shared = &self.engine.shared;
        let now = shared.clock.now_ms();
        self.say_so().await?;
        self.take_more().await?;
        let mut runs = shared.store.with_mail(RUNS_MAX).await?;
        runs.extend(shared.store.due(now, RUNS_MAX).await?.into_iter().map(|timer| timer.run));
        let fresh = newcomers(shared, &mut self.newest).await?;
        runs.extend(unattended(shared, fresh).await?);
        if Instant::now() >= self.around {
            self.around = Instant::now() + LOOK_AROUND;
            let left = self.left_behind().await?;
            if left.len() >= TAKEN_MAX {
                let crowded = self.busy.lock().await.len() >= CROWDED;
                self.around = Instant::now() + if crowded { LOOK_AROUND / 10 } else { TOGETHER };
            }
            runs.extend(left);
            runs.extend(abandoned(shared).await?);
            self.missing.look(shared).await?;
        }
        for run in runs {
            self.take_up(run).await;
        }
        Ok(())
    }

    async fn say_so(&mut self) -> Result<(), Error> {
        if Instant::now() >= self.says_so {
            self.engine.shared.store.greet(self.engine.shared.as_worker(self.since_ms)).await?;
            self.says_so = Instant::now() + SAY_SO;
        }
        Ok(())
    }

    /// Takes what waits for a worker. A run that is driven already is told so.
    async fn take_more(&self) -> Result<(), Error> {
        for run in fleet::take(&self.engine.shared, None).await? {
            self.engine.shared.mailroom.tell(&run);
            self.take_up(run).await;
        }
        Ok(())
    }

    /// Runs that are at work although nobody works on them.
    async fn left_behind(&self) -> Result<Vec<RunId>, Error> {
        let shared = &self.engine.shared;
        let mut left = Vec::new();
        let mut before = None;
        while left.len() < TAKEN_MAX {
            let query = Query {
                statuses: vec!["running".to_owned(), "queued".to_owned()],
                limit: RUNS_MAX,
                before: before.take(),
                ..Query::default()
            };
            let rows = shared.store.runs(query).await?;
            before = rows.last().map(|row| row.run.clone());
            let last = rows.len() < RUNS_MAX;
            let busy = self.busy.lock().await;
            let free = rows.into_iter().filter(|row| !busy.contains(&row.run)).collect();
            drop(busy);
            left.extend(unattended(shared, free).await?);
            if last {
                break;
            }
        }
        left.truncate(TAKEN_MAX);
        Ok(left)
    }

    async fn take_up(&self, run: RunId) {
        if !self.busy.lock().await.insert(run.clone()) {
            return;
        }
        let (engine, busy, stop) = (self.engine.clone(), Arc::clone(&self.busy), self.stop.clone());
        self.tasks.spawn(async move {
            // A run that can not be driven now is found again at the next look.
            let _ = engine.nudge(&run, &stop).await;
            busy.lock().await.remove(&run);
        });
    }

    /// Waits for something to look at. Runs of this engine that are told something do not wait for a look.
    async fn wait(
        &self,
        changes: &mut watch::Receiver<u64>,
        unheard: &mut mpsc::UnboundedReceiver<RunId>,
        soon: Instant,
    ) {
        let mut changed = false;
        loop {
            let until = if changed { soon } else { self.around };
            tokio::select! {
                () = self.stop.cancelled() => return,
                Some(run) = unheard.recv() => self.take_up(run).await,
                known = changes.changed(), if !changed => changed = known.is_ok(),
                () = tokio::time::sleep_until(until) => return,
            }
        }
    }
}

/// Runs that were made since the last look and are at work. The first look is at everything anyway.
async fn newcomers(shared: &Shared, newest: &mut Option<RunId>) -> Result<Vec<RunRow>, Error> {
    let limit = if newest.is_some() { RUNS_MAX } else { 1 };
    let rows = match shared.store.runs(Query { after: newest.clone(), limit, ..Query::default() }).await {
        // The run was removed meanwhile; what came since is found by the look at everything.
        Err(longhaul_store::Error::UnknownRun) => {
            *newest = None;
            return Ok(Vec::new());
        }
        rows => rows?,
    };
    let first = newest.is_none();
    *newest = rows.first().map(|row| row.run.clone()).or(newest.take());
    Ok(rows.into_iter().filter(|row| !first && matches!(row.head.status.as_str(), "running" | "queued")).collect())
}

/// Runs that have a task which somebody holds who is gone, or which this process holds and does not make.
async fn abandoned(shared: &Shared) -> Result<Vec<RunId>, Error> {
    let held = shared.store.expired(i64::MAX, usize::MAX >> 1).await?;
    let left = held.into_iter().filter(|task| is_gone(shared, task) && !shared.leases.holds(&task.run, &task.key));
    Ok(left.map(|task| task.run).collect())
}

/// Those of some runs that no living worker holds a task of.
async fn unattended(shared: &Shared, rows: Vec<RunRow>) -> Result<Vec<RunId>, Error> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let now = shared.clock.now_ms();
    // All that are held, whenever their lease ends: one question instead of one for each run.
    let held = shared.store.expired(i64::MAX, usize::MAX >> 1).await?;
    let mut dead: HashMap<&str, bool> = HashMap::new();
    let mut attended: HashSet<&RunId> = HashSet::new();
    for task in held.iter().filter(|task| task.lease_until_ms > now) {
        let Some(worker) = &task.worker else { continue };
        if !*dead.entry(worker.as_str()).or_insert_with(|| is_dead(worker.as_str())) {
            attended.insert(&task.run);
        }
    }
    Ok(rows.into_iter().map(|row| row.run).filter(|run| !attended.contains(run)).collect())
}
