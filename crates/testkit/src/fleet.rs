//! A whole fleet in virtual time: many workers and many runs around one store, with workers that die and workers that sleep.
//!
//! The planner, the placing of steps and the claims are those of the engine; the store is the reference, or any other. Time is a number,
//! and everything that happens follows from the seed.
//!
//! **Invariant:** an attempt is at one worker that is awake; caps are never exceeded; whoever lost its task is refused; every run
//! ends well, and nothing of it is left.

mod commit;
mod workers;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use longhaul_core::event::{Answer, Driver, Event};
use longhaul_core::id::RunId;
use longhaul_core::index::Index;
use longhaul_core::path::StepPath;
use longhaul_core::plan::Plan;
use longhaul_core::state::State;
use longhaul_store::{Caps, Memory, Pending, Store};

use crate::sim::{Chance, started};
use workers::Worker;

const WORKFLOW: &str = "
name: fleet
do:
  - {id: a, run: 'true', retry: {max: 50, on: any}}
  - {id: b, run: 'true', runs_on: gpu, workspace: any, retry: {max: 50, on: any}}
  - {id: c, run: 'true', retry: {max: 50, on: any}}
";
/// How long a person takes to answer.
const ANSWER_MS: i64 = 600_000;
const LEASE_MS: i64 = 60_000;
/// How often a worker looks for work.
const LOOK_MS: i64 = 5_000;
/// The time between two runs, for one worker: the fleet can just bear it.
const PAUSE_MS: i64 = 120_000;

/// How large a fleet is.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    /// Workers at any time.
    pub workers: usize,
    /// Runs, one after another.
    pub runs: u64,
}

/// What a fleet has come to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Report {
    /// Events recorded.
    pub events: u64,
    /// Commits.
    pub commits: u64,
    /// Tasks that were claimed.
    pub claimed: u64,
    /// Workers that died.
    pub deaths: u64,
    /// Writes of those who had lost what they wrote about, all refused.
    pub refused: u64,
    /// Attempts that were lost and made again.
    pub lost: u64,
    /// How long it took, in the time of the fleet.
    pub virtual_ms: i64,
}

/// Something that happens at a time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Happening {
    Arrives(u64),
    Looks(usize),
    Tells(u64, Told),
    Ends(usize, u64, String, u32),
    Dies(usize),
    Sleeps(usize),
    Wakes(usize),
}

/// What a run is told.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Told {
    Timer(String),
    /// What was lost too often is to be tried again.
    Again(String),
}

struct Fleet {
    plan: Plan,
    index: Index,
    store: Arc<dyn Store>,
    /// Runs that are not over.
    runs: HashMap<u64, State>,
    workers: Vec<Worker>,
    happenings: BinaryHeap<Reverse<(i64, u64, Happening)>>,
    /// Who makes which attempt, as far as anybody who is awake does.
    at_work: HashMap<(u64, String, u32), usize>,
    chance: Chance,
    caps: Caps,
    now: i64,
    numbers: u64,
    report: Report,
    size: Size,
}

/// Plays a fleet around the reference; in the place of its report, what did not hold.
pub fn play(seed: u64, size: Size) -> Result<Report, String> {
    play_on(Arc::new(Memory::new()), seed, size)
}

/// Plays a fleet around a store in which nothing is; what it waits for must be done by other threads.
pub fn play_on(store: Arc<dyn Store>, seed: u64, size: Size) -> Result<Report, String> {
    let plan = crate::plan(WORKFLOW)?;
    let mut fleet = Fleet {
        index: Index::of(&plan),
        plan,
        store,
        runs: HashMap::new(),
        workers: Vec::new(),
        happenings: BinaryHeap::new(),
        at_work: HashMap::new(),
        chance: Chance::new(seed),
        caps: Caps { all: None, labels: [("gpu".to_owned(), gpu_max(size))].into() },
        now: 1_767_225_600_000,
        numbers: 0,
        report: Report::default(),
        size,
    };
    fleet.begin();
    let since = fleet.now;
    while let Some(Reverse((at, _, happening))) = fleet.happenings.pop() {
        fleet.now = at;
        fleet.happens(happening).map_err(|why| format!("seed {seed}, {} ms: {why}", at - since))?;
        if fleet.is_over() {
            break;
        }
    }
    fleet.report.virtual_ms = fleet.now - since;
    fleet.ended()
}

impl Fleet {
    fn begin(&mut self) {
        for number in 0..self.size.workers {
            self.workers.push(Worker::new(number, 0));
            let first = self.below(LOOK_MS);
            self.after(first, Happening::Looks(number));
        }
        if self.size.runs > 0 {
            self.after(0, Happening::Arrives(0));
        }
        self.after(10_000, Happening::Dies(0));
        self.after(15_000, Happening::Sleeps(0));
    }

    fn happens(&mut self, happening: Happening) -> Result<(), String> {
        match happening {
            Happening::Arrives(number) => self.arrives(number),
            Happening::Looks(worker) => self.looks(worker),
            Happening::Tells(run, told) => self.tells(run, told),
            Happening::Ends(worker, run, path, attempt) => self.ends(worker, run, &path, attempt),
            Happening::Dies(_) => self.somebody_dies(),
            Happening::Sleeps(_) => self.somebody_sleeps(),
            Happening::Wakes(worker) => self.wakes(worker),
        }
    }

    /// A run comes, and whoever hears of it first drives it. The next one follows when the fleet can just bear it.
    fn arrives(&mut self, number: u64) -> Result<(), String> {
        let worker = self.somebody();
        if let Some(worker) = worker {
            self.runs.insert(number, State::default());
            self.commit(worker, number, vec![started(&self.plan, Driver::Engine)])?;
        }
        let next = if worker.is_none() { number } else { number + 1 };
        if next < self.size.runs {
            let pause = self.below(2 * PAUSE_MS / i64::try_from(self.size.workers).unwrap_or(1));
            self.after(pause, Happening::Arrives(next));
        }
        Ok(())
    }

    /// A timer of a run is due, or a person answers: whoever is awake takes it in.
    fn tells(&mut self, run: u64, told: Told) -> Result<(), String> {
        let Some(worker) = self.somebody() else {
            self.after(LOOK_MS, Happening::Tells(run, told));
            return Ok(());
        };
        let event = match told {
            Told::Timer(timer) => Event::TimerFired { timer },
            Told::Again(path) => Event::answered(step(&path)?, Answer::Approve),
        };
        self.commit(worker, run, vec![event]).map(drop)
    }

    fn somebody(&mut self) -> Option<usize> {
        let awake: Vec<usize> = (0..self.workers.len()).filter(|at| self.workers[*at].is_awake()).collect();
        (!awake.is_empty()).then(|| *self.chance.pick(&awake))
    }

    fn ends(&mut self, worker: usize, run: u64, path: &str, attempt: u32) -> Result<(), String> {
        if !self.workers[worker].is_alive {
            return Ok(());
        }
        if !self.workers[worker].is_awake() {
            // It will say so when it wakes up.
            self.workers[worker].owed.push((run, path.to_owned(), attempt));
            return Ok(());
        }
        self.result(worker, run, path, attempt)
    }

    /// A worker says what came of an attempt.
    fn result(&mut self, worker: usize, run: u64, path: &str, attempt: u32) -> Result<(), String> {
        self.workers[worker].free();
        let is_its = self.at_work.get(&(run, path.to_owned(), attempt)) == Some(&worker);
        let event = Event::AttemptSucceeded { path: step(path)?, attempt, result: Default::default() };
        let is_taken = self.commit(worker, run, vec![event])?;
        match (is_taken, is_its) {
            (true, false) => Err(format!("worker {worker} had lost `{path}@{attempt}` of run {run}, and is believed")),
            (false, true) => Err(format!("worker {worker} has `{path}@{attempt}` of run {run}, and is refused")),
            (taken, _) => {
                self.report.refused += u64::from(!taken);
                Ok(())
            }
        }
    }

    fn is_over(&self) -> bool {
        self.runs.is_empty()
            && !self.happenings.iter().any(|Reverse((_, _, what))| matches!(what, Happening::Arrives(_)))
    }

    fn ended(self) -> Result<Report, String> {
        let left = now(self.store.expired(i64::MAX, 10))?.len() + now(self.store.unheld(10))?.len();
        match (self.runs.len(), left) {
            (0, 0) => Ok(self.report),
            (runs, tasks) => Err(format!("{runs} runs did not end, and {tasks} tasks or more are left")),
        }
    }

    fn after(&mut self, ms: i64, what: Happening) {
        self.numbers += 1;
        self.happenings.push(Reverse((self.now + ms, self.numbers, what)));
    }

    fn below(&mut self, ms: i64) -> i64 {
        i64::try_from(self.chance.below(u64::try_from(ms).unwrap_or(1))).unwrap_or_default()
    }
}

/// How many steps that ask for `gpu` may be running.
fn gpu_max(size: Size) -> u32 {
    u32::try_from(size.workers / 2).unwrap_or(u32::MAX).max(1)
}

fn step(path: &str) -> Result<StepPath, String> {
    path.parse().map_err(|error| format!("{path}: {error}"))
}

fn id(run: u64) -> Result<RunId, String> {
    RunId::new(format!("run-{run:07}")).ok_or_else(|| format!("{run} is no run"))
}

/// The answer of a store, waited for.
fn now<T>(pending: Pending<'_, T>) -> Result<T, String> {
    let waker = Waker::from(Arc::new(Sleeper(std::thread::current())));
    let (mut context, mut pending) = (Context::from_waker(&waker), pin!(pending));
    loop {
        match pending.as_mut().poll(&mut context) {
            Poll::Ready(answer) => return answer.map_err(|error| error.to_string()),
            Poll::Pending => std::thread::park(),
        }
    }
}

/// A thread that waits for an answer.
struct Sleeper(Thread);

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
