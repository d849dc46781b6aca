//! A worker: finds runs that have something to do, and drives them.
//!
//! It polls with one question that costs next to nothing, [`Store::glance`], and asks more only where the answer says that there is
//! something, or where something was written since. Hints of others make it look sooner. Everything that is running is looked at
//! now and then, because a process that dies tells nobody.
//!
//! **Invariant:** a run is driven once at a time by this worker; that two workers do not drive it is what the store's
//! fences are for. A worker says that it is there by the same loop that looks for work: one that is deaf is not there.
//!
//! [`Store::glance`]: longhaul_store::Store::glance

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use longhaul_core::id::RunId;
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

/// How often a worker looks for work that nobody told it about: between the first and the second.
const POLL: (Duration, Duration) = (Duration::from_millis(1400), Duration::from_secs(2));
/// How often everything is looked at although nothing seems to have been written.
const THOROUGHLY: Duration = Duration::from_secs(30);
/// How often a worker says that it is there. It does so where it looks for work: one that does not look is not there.
const SAY_SO: Duration = Duration::from_secs(10);
/// Changes within this time are looked at together.
const TOGETHER: Duration = Duration::from_millis(20);
/// Workers that share a store do not all run for the same thing: each waits up to so much longer.
const APART: Duration = Duration::from_millis(30);
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
    changes: Changes,
    /// The newest run that was looked at.
    newest: Option<RunId>,
    /// Whether tasks wait that nobody holds.
    unheld: bool,
    /// Tasks that were held when everything was last looked at. Who ends or renews one writes, so they are right until then.
    held: Vec<Task>,
    /// What has not been looked at since something was written.
    owed: Owed,
    /// When the next poll is.
    poll: Instant,
    /// When the next timer is due, if nobody else is quicker.
    due: Option<Instant>,
    /// When everything is looked at, come what may.
    thorough: Instant,
    /// Since when it is there, and when it says so next.
    since_ms: i64,
    says_so: Instant,
    peers: Peers,
    missing: Missing,
}

/// What tells a worker that something was written.
struct Changes {
    all: watch::Receiver<u64>,
    work: watch::Receiver<u64>,
}

/// What is to be looked at once more.
#[derive(Debug, Clone, Copy)]
struct Owed {
    claims: bool,
    around: bool,
}

impl Owed {
    const ALL: Self = Self { claims: true, around: true };
}

/// Drives every run that has something to do: mail, a timer that is due, or work that was left behind.
pub(crate) async fn work(engine: &Engine, stop: CancellationToken) -> Result<(), Error> {
    let _renewing = engine.keep_leases();
    let store = &engine.shared.store;
    let mut unheard = engine.shared.mailroom.unheard();
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
    while !worker.stop.is_cancelled() {
        let since = Instant::now();
        match worker.look().await {
            // It may come back, and until then nothing can be done here.
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
    // A worker that is not missed is forgotten after a while, too.
    let _ = engine.shared.store.dismiss(&engine.shared.worker).await;
    Ok(())
}

impl Worker<'_> {
    /// Takes up what should be.
    async fn look(&mut self) -> Result<(), Error> {
        let is_poll = Instant::now() >= self.poll;
        if is_poll {
            // Also if it fails: a store that does not answer is not asked all the time.
            self.poll = Instant::now() + between(POLL.0, POLL.1);
        }
        let glance = self.glance().await?;
        self.say_so().await?;
        if glance.unheld && std::mem::take(&mut self.owed.claims) {
            self.take_more().await?;
        }
        let mut runs = self.news(&glance).await?;
        if is_poll {
            runs.extend(self.look_around(glance.unheld).await?);
        } else {
            // All workers were told at the same moment.
            runs = self.peers.share(&self.engine.shared, runs).await?;
        }
        for run in runs {
            self.take_up(run).await;
        }
        Ok(())
    }

    /// Runs that have mail, a timer that is due, or just begin.
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

    /// Asks whether there is something, and notes what has to be looked at because something was written.
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

    /// Where a store is shared, whoever is a little later finds what others have taken already.
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

    /// Takes what waits for a worker. A run that is driven already is told so.
    async fn take_more(&self) -> Result<(), Error> {
        for run in membership::take(&self.engine.shared, None).await? {
            self.engine.shared.mailroom.tell(&run);
            self.take_up(run).await;
        }
        Ok(())
    }

    /// Everything that is running, or should be; asked for only if something may have changed.
    async fn look_around(&mut self, unheld: bool) -> Result<Vec<RunId>, Error> {
        let shared = &self.engine.shared;
        let mut runs = Vec::new();
        if std::mem::take(&mut self.owed.around) {
            // All that are held, whenever their lease ends.
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

    /// Runs that are running although nobody works on them.
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

    /// Runs that were made since the last look and that nobody works on. The first look is at everything anyway.
    async fn newcomers(&mut self, newest: Option<RunId>) -> Result<Vec<RunId>, Error> {
        let fresh = match self.newest.clone() {
            Some(after) => self.unattended(Query { after: Some(after), ..Query::default() }).await,
            None => Ok(Vec::new()),
        };
        let fresh = match fresh {
            // The run was removed meanwhile; what came since is found by the look at everything.
            Err(Error::Store(Refusal::UnknownRun)) => {
                self.owed.around = true;
                Vec::new()
            }
            fresh => fresh?,
        };
        self.newest = newest;
        Ok(fresh)
    }

    /// Those of some runs that should be running, and that no task waits for nor anybody holds one of.
    async fn unattended(&self, query: Query) -> Result<Vec<RunId>, Error> {
        let shared = &self.engine.shared;
        let statuses = vec!["running".to_owned(), "queued".to_owned()];
        let unattended_at_ms = Some(shared.clock.now_ms());
        let rows = shared.store.runs(Query { statuses, unattended_at_ms, limit: RUNS_MAX, ..query }).await?;
        Ok(rows.into_iter().map(|row| row.run).collect())
    }

    async fn take_up(&self, run: RunId) {
        if !self.busy.lock().await.insert(run.clone()) {
            return;
        }
        let (engine, busy, stop) = (self.engine.clone(), Arc::clone(&self.busy), self.stop.clone());
        self.tasks.spawn(async move {
            // A run that cannot be driven now is found again at the next look.
            let _ = engine.nudge(&run, &stop).await;
            busy.lock().await.remove(&run);
        });
    }

    /// Waits for something to look at. Runs of this engine that are told something do not wait for a look.
    async fn wait(&mut self, unheard: &mut mpsc::UnboundedReceiver<RunId>, since: Instant) {
        let soon = since + TOGETHER + self.apart();
        let next = self.due.into_iter().chain([self.poll]).min().unwrap_or(self.poll);
        let mut changed = false;
        loop {
            // Who has room for what waits takes it as soon as anything ends.
            let is_eager = self.unheld && !changed;
            let known = tokio::select! {
                () = self.stop.cancelled() => return,
                Some(run) = unheard.recv() => {
                    self.take_up(run).await;
                    continue;
                }
                known = self.changes.work.changed(), if !changed => known,
                known = self.changes.all.changed(), if is_eager => known,
                () = tokio::time::sleep_until(if changed { soon } else { next }) => return,
            };
            changed = known.is_ok();
            // To have heard of it here is to have it heard: nobody tells it again.
            self.owed = Owed::ALL;
        }
    }
}

impl Changes {
    /// Whether something was written that was not looked at, and the number of what is looked at now.
    fn mark(&mut self) -> (bool, [u64; 2]) {
        let is_new = |changes: &watch::Receiver<u64>| changes.has_changed().unwrap_or(true);
        let is_new = is_new(&self.all) || is_new(&self.work);
        (is_new, [&mut self.all, &mut self.work].map(|changes| *changes.borrow_and_update()))
    }

    /// What the glance itself told is no news, but what came beside it is.
    fn expect(&mut self, before: [u64; 2], moved: bool) {
        for (changes, before) in [&mut self.all, &mut self.work].into_iter().zip(before) {
            if *changes.borrow_and_update() != before.wrapping_add(u64::from(moved)) {
                changes.mark_changed();
            }
        }
    }
}

/// Runs that have a task which somebody holds who is gone, or which this process holds and does not make.
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

/// Some time between two.
fn between(least: Duration, most: Duration) -> Duration {
    least + (most - least).mul_f64(f64::from(Uuid::new_v4().as_fields().1) / f64::from(u16::MAX))
}
