//! A worker: finds runs that have something to do, and drives them.
//!
//! It polls with one cheap query, [`Store::glance`]. It asks more only if the answer says that there is something, or
//! if the store was written to since. Wake-ups from others make it look sooner. From time to time it checks all open
//! work, because a process that dies sends no message.
//!
//! **Invariant:** this worker drives a run only once at a time. The fences of the store keep two workers from driving
//! the same run. The loop that looks for work also reports that the worker is there, so a worker that does not look
//! does not count as there.
//!
//! [`Store::glance`]: longhaul_store::Store::glance

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use longhaul_core::id::RunId;
use longhaul_core::status::RunStatus;
use longhaul_store::{Error as Refusal, Glance, Query, Task, WorkerId};
use tokio::sync::{Mutex, mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::engine::{Engine, Error, Shared};
use crate::fleet::host_lost::Missing;
use crate::fleet::membership;
use crate::fleet::peers::Peers;
use crate::run::notifier;
use crate::run::recover::{is_dead, is_over};

/// How often to look for work without a wake-up: a random time between the two.
const POLL: (Duration, Duration) = (Duration::from_millis(1400), Duration::from_secs(2));
/// How often to check everything, even without a write.
const THOROUGHLY: Duration = Duration::from_secs(30);
/// How often a worker reports that it is there. The loop that looks for work does this.
const SAY_SO: Duration = Duration::from_secs(10);
/// Collects changes within this time and handles them together.
const TOGETHER: Duration = Duration::from_millis(20);
/// Each worker of a shared store waits a random time up to this, so that they do not all ask for the same task.
const APART: Duration = Duration::from_millis(30);
/// How many runs to check together.
const RUNS_MAX: usize = 1000;
/// How many abandoned runs to take over together. More do not fit into one commit of the store, and a run in memory is
/// much larger than a waiting one.
const TAKEN_MAX: usize = 256;
/// While this many runs are running, further abandoned runs wait longer.
const CROWDED: usize = 512;

struct Worker<'a> {
    engine: &'a Engine,
    stop: CancellationToken,
    busy: Arc<Mutex<HashSet<RunId>>>,
    tasks: TaskTracker,
    changes: Changes,
    /// The newest run that the worker has checked.
    newest: Option<RunId>,
    /// Whether tasks without a worker wait.
    unheld: bool,
    /// The held tasks at the last full check. Ending or renewing a task is a write, so the list is right until the next
    /// write.
    held: Vec<Task>,
    /// What to check because the store was written to.
    owed: Owed,
    /// When the next poll is.
    poll: Instant,
    /// When the next timer fires, unless another worker handles it first.
    due: Option<Instant>,
    /// When to check everything, even without a write.
    thorough: Instant,
    /// When this worker started, and when it reports next.
    since_ms: i64,
    says_so: Instant,
    peers: Peers,
    missing: Missing,
}

/// Tells a worker that the store was written to.
struct Changes {
    all: watch::Receiver<u64>,
    work: watch::Receiver<u64>,
}

/// What to check again.
#[derive(Debug, Clone, Copy)]
struct Owed {
    claims: bool,
    around: bool,
}

impl Owed {
    const ALL: Self = Self { claims: true, around: true };
}

/// Drives all runs that have something to do: mail, a timer that fires, or abandoned work.
pub(crate) async fn work(engine: &Engine, stop: CancellationToken) -> Result<(), Error> {
    let _renewing = engine.keep_leases();
    let store = &engine.shared.store;
    let mut unheard = engine.shared.notifier.unheard();
    let now = Instant::now();
    let mut worker = Worker {
        engine,
        stop,
        busy: Arc::default(),
        tasks: TaskTracker::new(),
        changes: Changes { all: store.watch(), work: store.watch_work() },
        newest: None,
        unheld: false,
        held: Vec::new(),
        owed: Owed::ALL,
        poll: now,
        due: None,
        thorough: now + THOROUGHLY,
        since_ms: engine.now_ms(),
        says_so: now,
        peers: Peers::default(),
        missing: Missing::default(),
    };
    engine.shared.taken.leave_to_worker(true);
    while !worker.stop.is_cancelled() && !engine.is_draining() {
        let since = Instant::now();
        match worker.look().await {
            // The store may come back. Until then this worker can do nothing.
            Err(Error::Store(Refusal::Unreachable(_) | Refusal::Unsure(_) | Refusal::Busy | Refusal::Starved(_))) => {
                worker.owed = Owed::ALL;
            }
            looked => looked?,
        }
        worker.wait(&mut unheard, since).await;
    }
    engine.shared.taken.leave_to_worker(false);
    worker.tasks.close();
    worker.tasks.wait().await;
    // If this fails, the store forgets the worker after a while.
    let _ = engine.shared.store.dismiss(&engine.shared.worker).await;
    Ok(())
}

impl Worker<'_> {
    /// Looks for runs with something to do, and drives them.
    async fn look(&mut self) -> Result<(), Error> {
        let is_poll = Instant::now() >= self.poll;
        if is_poll {
            // Also after a failure, so that the worker does not ask a silent store all the time.
            self.poll = Instant::now() + between(POLL.0, POLL.1);
        }
        let glance = self.glance().await?;
        self.say_so().await?;
        if glance.unheld && std::mem::take(&mut self.owed.claims) {
            self.claim_more().await?;
        }
        let mut runs = self.news(&glance).await?;
        if is_poll {
            runs.extend(self.look_around(glance.unheld).await?);
        } else {
            // All workers got the wake-up at the same moment.
            runs = self.peers.share(&self.engine.shared, runs).await?;
        }
        for run in runs {
            self.drive_run(run).await;
        }
        Ok(())
    }

    /// Runs that have mail, a timer that fires, or have just started.
    async fn news(&mut self, glance: &Glance) -> Result<Vec<RunId>, Error> {
        let shared = &self.engine.shared;
        let now = shared.clock.now_ms();
        let mut runs = Vec::new();
        if glance.mail {
            runs.extend(notifier::with_mail(shared).await?);
        }
        if glance.next_due.is_some_and(|due| due <= now) {
            runs.extend(shared.store.due(now, RUNS_MAX).await?.into_iter().map(|timer| timer.run));
        }
        if glance.newest != self.newest {
            runs.extend(self.newcomers(glance.newest.clone()).await?);
        }
        Ok(runs)
    }

    /// Asks the store whether there is something to do, and notes what to check because of a write.
    async fn glance(&mut self) -> Result<Glance, Error> {
        let shared = &self.engine.shared;
        let before = self.changes.mark();
        let glance = shared.store.glance().await?;
        self.changes.expect(before.1, glance.moved);
        if before.0 || glance.moved || Instant::now() >= self.thorough {
            self.owed = Owed::ALL;
            self.thorough = Instant::now() + THOROUGHLY;
        }
        self.unheld = glance.unheld;
        let ahead = glance.next_due.and_then(|due| u64::try_from(due - shared.clock.now_ms()).ok());
        let ahead = ahead.filter(|ms| *ms > 0).map(Duration::from_millis).filter(|ahead| *ahead < POLL.1);
        self.due = ahead.map(|ahead| Instant::now() + ahead + self.apart());
        Ok(glance)
    }

    /// The random delay at a shared store. A later worker sees what others have already taken.
    fn apart(&self) -> Duration {
        match self.engine.shared.options.member.host {
            Some(_) => between(Duration::ZERO, APART),
            None => Duration::ZERO,
        }
    }

    async fn say_so(&mut self) -> Result<(), Error> {
        if Instant::now() >= self.says_so {
            self.engine.shared.store.greet(self.engine.shared.as_worker(self.since_ms)).await?;
            self.says_so = Instant::now() + SAY_SO;
        }
        Ok(())
    }

    /// Claims waiting tasks, and wakes or drives their runs.
    async fn claim_more(&self) -> Result<(), Error> {
        for run in membership::claim_tasks(&self.engine.shared, None).await? {
            self.engine.shared.notifier.tell(&run);
            self.drive_run(run).await;
        }
        Ok(())
    }

    /// Checks all open work for runs to take over, if something may have changed.
    async fn look_around(&mut self, unheld: bool) -> Result<Vec<RunId>, Error> {
        let shared = &self.engine.shared;
        let mut runs = Vec::new();
        if std::mem::take(&mut self.owed.around) {
            // All held tasks, whenever their lease ends.
            self.held = shared.store.expired(i64::MAX, usize::MAX >> 1).await?;
            runs = self.left_behind().await?;
            if runs.len() >= TAKEN_MAX {
                let crowded = self.busy.lock().await.len() >= CROWDED;
                self.poll = Instant::now() + if crowded { POLL.0 / 5 } else { TOGETHER };
                self.owed.around = true;
            }
        }
        runs.extend(abandoned(shared, &self.held));
        if unheld {
            self.missing.look(shared).await?;
        }
        Ok(runs)
    }

    /// Runs that are running but have no worker.
    async fn left_behind(&self) -> Result<Vec<RunId>, Error> {
        let mut left = Vec::new();
        let mut before = None;
        while left.len() < TAKEN_MAX {
            let rows = self.unattended(Query { before: before.take(), ..Query::default() }).await?;
            before = rows.last().cloned();
            let last = rows.len() < RUNS_MAX;
            let busy = self.busy.lock().await;
            left.extend(rows.into_iter().filter(|run| !busy.contains(run)));
            drop(busy);
            if last {
                break;
            }
        }
        left.truncate(TAKEN_MAX);
        Ok(left)
    }

    /// Runs that were created since the last check and have no worker. The first check covers all runs anyway.
    async fn newcomers(&mut self, newest: Option<RunId>) -> Result<Vec<RunId>, Error> {
        let fresh = match self.newest.clone() {
            Some(after) => self.unattended(Query { after: Some(after), ..Query::default() }).await,
            None => Ok(Vec::new()),
        };
        let fresh = match fresh {
            // The run was removed meanwhile. The full check finds the newer runs.
            Err(Error::Store(Refusal::UnknownRun)) => {
                self.owed.around = true;
                Vec::new()
            }
            fresh => fresh?,
        };
        self.newest = newest;
        Ok(fresh)
    }

    /// The runs among these that are running, but have no held task and no waiting task.
    async fn unattended(&self, query: Query) -> Result<Vec<RunId>, Error> {
        let shared = &self.engine.shared;
        let statuses = RunStatus::words_of([RunStatus::Running, RunStatus::Queued]);
        let unattended_at_ms = Some(shared.clock.now_ms());
        let rows = shared.store.runs(Query { statuses, unattended_at_ms, limit: RUNS_MAX, ..query }).await?;
        Ok(rows.into_iter().map(|row| row.run).collect())
    }

    async fn drive_run(&self, run: RunId) {
        if !self.busy.lock().await.insert(run.clone()) {
            return;
        }
        let (engine, busy, stop) = (self.engine.clone(), Arc::clone(&self.busy), self.stop.clone());
        self.tasks.spawn(async move {
            // If a run cannot be driven now, the next check finds it again.
            let _ = engine.nudge(&run, &stop).await;
            busy.lock().await.remove(&run);
        });
    }

    /// Waits for something to do. A run of this engine that gets a message starts at once.
    async fn wait(&mut self, unheard: &mut mpsc::UnboundedReceiver<RunId>, since: Instant) {
        let soon = since + TOGETHER + self.apart();
        let next = self.due.into_iter().chain([self.poll]).min().unwrap_or(self.poll);
        let mut changed = false;
        loop {
            // A worker with room takes waiting tasks as soon as anything ends.
            let is_eager = self.unheld && !changed;
            let known = tokio::select! {
                () = self.stop.cancelled() => return,
                () = self.engine.shared.draining.cancelled() => return,
                Some(run) = unheard.recv() => {
                    self.drive_run(run).await;
                    continue;
                }
                known = self.changes.work.changed(), if !changed => known,
                known = self.changes.all.changed(), if is_eager => known,
                () = tokio::time::sleep_until(if changed { soon } else { next }) => return,
            };
            changed = known.is_ok();
            // This wake-up comes only once, so remember it.
            self.owed = Owed::ALL;
        }
    }
}

impl Changes {
    /// Whether the store was written to since the last mark, and the numbers at this mark.
    fn mark(&mut self) -> (bool, [u64; 2]) {
        let is_new = |changes: &watch::Receiver<u64>| changes.has_changed().unwrap_or(true);
        let is_new = is_new(&self.all) || is_new(&self.work);
        (is_new, [&mut self.all, &mut self.work].map(|changes| *changes.borrow_and_update()))
    }

    /// Ignores the change that the glance itself reported, but keeps other changes.
    fn expect(&mut self, before: [u64; 2], moved: bool) {
        for (changes, before) in [&mut self.all, &mut self.work].into_iter().zip(before) {
            if *changes.borrow_and_update() != before.wrapping_add(u64::from(moved)) {
                changes.mark_changed();
            }
        }
    }
}

/// Runs with a task whose worker is gone, or that this process holds but does not run.
fn abandoned(shared: &Shared, held: &[Task]) -> Vec<RunId> {
    let workers: HashSet<&WorkerId> = held.iter().filter_map(|task| task.worker.as_ref()).collect();
    let dead: HashSet<&WorkerId> = workers.into_iter().filter(|worker| is_dead(worker.as_str())).collect();
    let is_left = |task: &&Task| match &task.worker {
        Some(worker) if *worker == shared.worker => !shared.leases.holds(&task.run, &task.key),
        Some(worker) => dead.contains(worker) || is_over(shared, task),
        None => true,
    };
    held.iter().filter(is_left).map(|task| task.run.clone()).collect()
}

/// A random time between two.
fn between(least: Duration, most: Duration) -> Duration {
    least + (most - least).mul_f64(f64::from(Uuid::new_v4().as_fields().1) / f64::from(u16::MAX))
}
