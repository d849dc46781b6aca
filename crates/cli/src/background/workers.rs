//! The workers of the background engine: one process per project, started again when it dies.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use longhaul_runtime::{Clock, System};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin, Command};

use super::place::{self, Place};
use super::protocol::{Order, WorkerStatus};
use crate::ui;

/// The pause before a worker that died is started again: doubled each time, up to the most.
const PAUSE_FIRST: Duration = Duration::from_secs(1);
const PAUSE_MOST: Duration = Duration::from_secs(60);
/// A worker that lived so long has not failed at its start.
const LIVED: Duration = Duration::from_secs(120);

/// A worker that was asked for more recently does not end for good.
const ORDERED: Duration = Duration::from_secs(10);

/// A worker whose folder does not exist is given up after so many failures in a row.
const WITHOUT_FOLDER_MOST: u32 = 4;

/// A worker of a project.
pub(super) struct Worker {
    pub(super) order: Order,
    /// When it was last asked for.
    ordered_at: Instant,
    process: Option<Process>,
    /// Earlier processes, of other orders. They let their commands end, and start nothing more.
    leaving: Vec<Process>,
    /// When it is started again.
    again_at: Instant,
    pause: Duration,
    restarts: u32,
    /// How often in a row it failed while its folder did not exist.
    without_folder: u32,
    since_ms: i64,
    log: PathBuf,
}

struct Process {
    child: Child,
    /// Closing it, or writing to it, lets the worker go.
    leash: Option<ChildStdin>,
    started: Instant,
}

impl Process {
    fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    fn signal(&self, signal: Signal) {
        let pid = self.child.id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
        if let Some(pid) = pid {
            let _ = kill_process(pid, signal);
        }
    }
}

/// What became of a worker.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// It runs, or is about to.
    Stays,
    /// It has ended because nothing was left to do, or because its folder is gone.
    Over,
}

impl Worker {
    pub(super) fn new(place: &Place, order: Order) -> Self {
        let log = place.log_of(&order.project, order.store.as_deref());
        let now = Instant::now();
        Self {
            order,
            ordered_at: now,
            process: None,
            leaving: Vec::new(),
            again_at: now,
            pause: PAUSE_FIRST,
            restarts: 0,
            without_folder: 0,
            since_ms: System.now_ms(),
            log,
        }
    }

    pub(super) fn is_of(&self, order: &Order) -> bool {
        (&self.order.project, &self.order.store) == (&order.project, &order.store)
    }

    /// Serves another order for the same project. If it differs, a new process starts at once. The earlier one lets its
    /// commands end; its agents continue under the new one.
    pub(super) async fn serve(&mut self, order: Order) {
        (self.ordered_at, self.without_folder) = (Instant::now(), 0);
        if self.order.is_alike(&order) {
            return;
        }
        if let Some(mut process) = self.process.take() {
            if let Some(leash) = process.leash.as_mut() {
                // A worker that is gone needs no word.
                let _ = leash.write_all(b"l").await;
            }
            self.leaving.push(process);
        }
        (self.order, self.again_at, self.pause) = (order, Instant::now(), PAUSE_FIRST);
    }

    /// Looks after the process: starts it, or notices its end.
    pub(super) fn turn(&mut self) -> Turn {
        self.leaving.retain_mut(Process::is_running);
        let Some(process) = &mut self.process else {
            if self.without_folder >= WITHOUT_FOLDER_MOST && self.leaving.is_empty() {
                ui::say(format!("{} does not exist any more; its worker is given up", self.order.project.display()));
                return Turn::Over;
            }
            if Instant::now() >= self.again_at {
                self.start();
            }
            return Turn::Stays;
        };
        let Ok(Some(status)) = process.child.try_wait() else { return Turn::Stays };
        let lived = process.started.elapsed();
        self.process = None;
        if status.success() && self.ordered_at.elapsed() >= ORDERED && self.leaving.is_empty() {
            return Turn::Over;
        }
        if status.success() {
            // It may have decided to end before the order came.
            self.again_at = Instant::now();
            return Turn::Stays;
        }
        self.died(&status.to_string(), lived);
        Turn::Stays
    }

    fn died(&mut self, how: &str, lived: Duration) {
        self.pause = if lived >= LIVED { PAUSE_FIRST } else { (self.pause * 2).min(PAUSE_MOST) };
        self.again_at = Instant::now() + self.pause;
        self.restarts += 1;
        self.without_folder = if self.order.project.is_dir() { 0 } else { self.without_folder + 1 };
        ui::say(format!(
            "the worker of {} ended with {how}; it starts again in {} s; its log: {}",
            self.order.project.display(),
            self.pause.as_secs(),
            self.log.display()
        ));
    }

    fn start(&mut self) {
        match self.spawned() {
            Ok(process) => {
                ui::say(format!("a worker for {}: {}", self.order.project.display(), self.order.why));
                (self.process, self.since_ms) = (Some(process), System.now_ms());
            }
            Err(error) => self.died(&format!("{error:#}"), Duration::ZERO),
        }
    }

    fn spawned(&self) -> Result<Process> {
        let Order { project, store, options, environment, idle_seconds, .. } = &self.order;
        let log = place::opened_log(&self.log)?;
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("worker").args(options).current_dir(project);
        command.args(["--leash", &idle_seconds.unwrap_or(super::supervisor::IDLE_SECONDS).to_string()]);
        command.env_clear().envs(environment).env("PWD", project);
        if let Some(store) = store {
            command.env("LONGHAUL_STORE", store);
        }
        command.stdin(Stdio::piped()).stdout(log.try_clone()?).stderr(log);
        let mut child = command.spawn().context("it cannot be started")?;
        let leash = child.stdin.take();
        Ok(Process { child, leash, started: Instant::now() })
    }

    /// Asks the worker to end: it stops its steps and records that. The leash stays: without it the worker would leave
    /// its agents running.
    pub(super) fn ask_to_end(&mut self) {
        self.processes().for_each(|process| process.signal(Signal::TERM));
    }

    /// Ends a worker that does not end by itself. Its agents continue, and the next engine attaches to them.
    pub(super) fn kill(&mut self) {
        for process in self.processes().filter_map(|process| process.is_running().then_some(process)) {
            ui::say(format!(
                "a worker does not end, and is killed: process {}",
                process.child.id().unwrap_or_default()
            ));
            process.signal(Signal::KILL);
        }
    }

    /// Whether it has a process. A process that has ended is forgotten.
    pub(super) fn is_running(&mut self) -> bool {
        self.leaving.retain_mut(Process::is_running);
        self.process.take_if(|process| !process.is_running());
        self.process.is_some() || !self.leaving.is_empty()
    }

    fn processes(&mut self) -> impl Iterator<Item = &mut Process> {
        self.process.iter_mut().chain(&mut self.leaving)
    }

    pub(super) fn status(&self) -> WorkerStatus {
        WorkerStatus {
            project: self.order.project.clone(),
            store: self.order.store.clone(),
            pid: self.process.as_ref().and_then(|process| process.child.id()),
            since: self.since_ms,
            restarts: self.restarts,
            is_renewed: !self.leaving.is_empty(),
            log: self.log.clone(),
        }
    }
}
