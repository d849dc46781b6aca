//! The actions of the workers of a fleet: look, claim, lose, die, sleep, wake up.

use longhaul_core::decide::host_label;
use longhaul_core::event::{Event, Failure};
use longhaul_core::plan::ErrorClass;
use longhaul_core::state::Phase;
use longhaul_core::task::TaskKey;
use longhaul_store::{Claim, Task, WorkerId};

use super::{Fleet, Happening, LEASE_MS, LOOK_MS, gpu_max, now, step};

const SLOTS: usize = 4;
/// The number of workers on one machine.
const PER_MACHINE: usize = 4;
/// After this time a machine gets a new worker for a dead one.
const REPLACED_MS: i64 = 30_000;

pub(super) struct Worker {
    pub(super) id: WorkerId,
    pub(super) host: String,
    pub(super) labels: Vec<String>,
    pub(super) is_alive: bool,
    pub(super) busy: usize,
    lives: u32,
    asleep: bool,
    /// The attempts that ended while the worker slept.
    pub(super) owed: Vec<(u64, String, u32)>,
}

impl Worker {
    pub(super) fn new(number: usize, lives: u32) -> Self {
        let host = format!("m{}", number / PER_MACHINE);
        let mut labels = vec![host_label(&host)];
        if number.is_multiple_of(3) {
            labels.push("gpu".to_owned());
        }
        let id = WorkerId::new(format!("w{number}.{lives}"));
        Self { id, host, labels, is_alive: true, busy: 0, lives, asleep: false, owed: Vec::new() }
    }

    pub(super) fn is_awake(&self) -> bool {
        self.is_alive && !self.asleep
    }

    pub(super) fn room(&self) -> usize {
        SLOTS.saturating_sub(self.busy)
    }

    pub(super) fn free(&mut self) {
        self.busy = self.busy.saturating_sub(1);
    }
}

impl Fleet {
    /// A worker looks for work, every few seconds.
    pub(super) fn looks(&mut self, at: usize) -> Result<(), String> {
        self.after(LOOK_MS, Happening::Looks(at));
        if !self.workers[at].is_awake() {
            return Ok(());
        }
        now(self.store.renew(&self.workers[at].id, self.now, LEASE_MS))?;
        for task in now(self.store.expired(self.now, 100))? {
            self.recovers(at, &task)?;
        }
        self.takes(at)
    }

    fn takes(&mut self, at: usize) -> Result<(), String> {
        let worker = &self.workers[at];
        if worker.room() == 0 {
            return Ok(());
        }
        let claim = Claim {
            labels: worker.labels.clone(),
            caps: self.caps.clone(),
            ..Claim::new(worker.id.clone(), self.now, LEASE_MS, worker.room())
        };
        let tasks = now(self.store.claim(claim))?;
        self.report.claimed += tasks.len() as u64;
        if !tasks.is_empty() {
            self.keeps_to_caps()?;
        }
        for task in tasks {
            // Some workers die between the claim and the report.
            if self.chance.one_in(2_000) {
                return self.dies(at);
            }
            let (run, path) = about(&task)?;
            let (worker, host) = (self.workers[at].id.to_string(), Some(self.workers[at].host.clone()));
            let event = Event::AttemptClaimed { path: step(&path)?, attempt: task.attempt, worker, host };
            if !self.commit(at, run, vec![event])? {
                return Err(format!("`{path}` of run {run} was given to worker {at}, which may not begin it"));
            }
        }
        Ok(())
    }

    /// Recovers a task whose lease has expired.
    fn recovers(&mut self, at: usize, task: &Task) -> Result<(), String> {
        let (run, path) = about(task)?;
        let (step, attempt) = (step(&path)?, task.attempt);
        let phase = self.runs.get(&run).and_then(|state| state.find(&step)).map(|found| found.phase.clone());
        let event = match phase {
            Some(Phase::Queued(_)) => Event::AttemptReleased { path: step, attempt },
            _ => {
                let error = Failure::new(ErrorClass::Lost, "the process that made the attempt is gone");
                Event::AttemptFailed { path: step, attempt, error, result: Default::default() }
            }
        };
        self.report.lost += 1;
        self.at_work.remove(&(run, path, attempt));
        self.commit(at, run, vec![event]).map(drop)
    }

    fn keeps_to_caps(&self) -> Result<(), String> {
        let held = now(self.store.expired(i64::MAX, usize::MAX >> 1))?;
        let with_gpu = held.iter().filter(|task| task.labels.iter().any(|label| label == "gpu")).count();
        if with_gpu > gpu_max(self.size) as usize {
            Err(format!("{with_gpu} steps with a gpu at once"))
        } else {
            Ok(())
        }
    }

    pub(super) fn somebody_dies(&mut self) -> Result<(), String> {
        self.after(10_000, Happening::Dies(0));
        let at = self.chance.index(self.workers.len());
        if self.chance.one_in(2) { self.dies(at) } else { Ok(()) }
    }

    fn dies(&mut self, at: usize) -> Result<(), String> {
        if self.workers[at].is_alive {
            self.report.deaths += 1;
            self.workers[at].is_alive = false;
            self.at_work.retain(|_, worker| *worker != at);
            self.after(REPLACED_MS, Happening::Wakes(at));
        }
        Ok(())
    }

    pub(super) fn somebody_sleeps(&mut self) -> Result<(), String> {
        self.after(15_000, Happening::Sleeps(0));
        let at = self.chance.index(self.workers.len());
        if self.workers[at].is_awake() {
            self.workers[at].asleep = true;
            let sleep = self.below(3 * LEASE_MS);
            self.after(sleep, Happening::Wakes(at));
        }
        Ok(())
    }

    /// A sleeping worker wakes up, perhaps long after its lease; a new worker replaces a dead one.
    pub(super) fn wakes(&mut self, at: usize) -> Result<(), String> {
        if !self.workers[at].is_alive {
            self.workers[at] = Worker::new(at, self.workers[at].lives + 1);
            return Ok(());
        }
        self.workers[at].asleep = false;
        for (run, path, attempt) in std::mem::take(&mut self.workers[at].owed) {
            self.result(at, run, &path, attempt)?;
        }
        Ok(())
    }
}

/// The run and the step of a task.
fn about(task: &Task) -> Result<(u64, String), String> {
    let run = task.run.as_str().trim_start_matches("run-").parse().map_err(|error| format!("{}: {error}", task.run))?;
    let path = task.key.parse::<TaskKey>()?.of_step().ok_or_else(|| format!("`{}` is no step", task.key))?.0;
    Ok((run, path.to_string()))
}
