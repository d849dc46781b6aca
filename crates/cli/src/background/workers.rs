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

/// A worker of a project.
pub(super) struct Worker {
    pub(super) order: Order,
    /// When it was last asked for.
    ordered_at: Instant,
    /// What the next process is started with, if it differs.
    renewal: Option<Order>,
    process: Option<Process>,
    /// When it is started again.
    again_at: Instant,
    pause: Duration,
    restarts: u32,
    since_ms: i64,
    log: PathBuf,
}

struct Process {
    child: Child,
    /// Closing it, or writing to it, lets the worker go.
    leash: Option<ChildStdin>,
    started: Instant,
}

/// What became of a worker.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// It runs, or is about to.
    Stays,
    /// It has ended because nothing was left to do.
    Over,
}

impl Worker {
    pub(super) fn new(place: &Place, order: Order) -> Self {
        let log = place.log_of(&order.project, order.store.as_deref());
        let now = Instant::now();
        Self {
            order,
            ordered_at: now,
            renewal: None,
            process: None,
            again_at: now,
            pause: PAUSE_FIRST,
            restarts: 0,
            since_ms: System.now_ms(),
            log,
        }
    }

    pub(super) fn is_of(&self, order: &Order) -> bool {
        (&self.order.project, &self.order.store) == (&order.project, &order.store)
    }

    /// Serves another order for the same project. If it differs, the worker lets its steps end, and a new one takes its
    /// place; its agents continue meanwhile.
    pub(super) async fn serve(&mut self, order: Order) {
        self.ordered_at = Instant::now();
        if self.renewal.as_ref().unwrap_or(&self.order).is_alike(&order) {
            return;
        }
        if let Some(leash) = self.process.as_mut().and_then(|process| process.leash.as_mut()) {
            // A worker that is gone needs no word.
            let _ = leash.write_all(b"l").await;
        }
        self.renewal = Some(order);
    }

    /// Looks after the process: starts it, or notices its end.
    pub(super) fn turn(&mut self) -> Turn {
        let Some(process) = &mut self.process else {
            if Instant::now() >= self.again_at {
                self.start();
            }
            return Turn::Stays;
        };
        let Ok(Some(status)) = process.child.try_wait() else { return Turn::Stays };
        let lived = process.started.elapsed();
        self.process = None;
        if let Some(order) = self.renewal.take() {
            (self.order, self.again_at) = (order, Instant::now());
            return Turn::Stays;
        }
        if status.success() && self.ordered_at.elapsed() >= ORDERED {
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

    /// Ends the worker: it stops its steps and records that.
    pub(super) async fn end(&mut self) {
        let Some(mut process) = self.process.take() else { return };
        let pid = process.child.id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
        if let Some(pid) = pid {
            let _ = kill_process(pid, Signal::TERM);
        }
        // The leash stays until the end: without it the worker would leave its agents running.
        let _ = process.child.wait().await;
    }

    pub(super) fn status(&self) -> WorkerStatus {
        WorkerStatus {
            project: self.order.project.clone(),
            store: self.order.store.clone(),
            pid: self.process.as_ref().and_then(|process| process.child.id()),
            since: self.since_ms,
            restarts: self.restarts,
            is_renewed: self.renewal.is_some(),
            log: self.log.clone(),
        }
    }
}
