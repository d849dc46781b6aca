//! One attempt of a worker with a login, from the claim to the last report.

use std::sync::Arc;
use std::time::Duration;

use longhaul_core::decide::{Planner, start_of};
use longhaul_core::event::{self, Envelope, Event, Failure};
use longhaul_core::plan::ErrorClass;
use longhaul_store::{Error as Refusal, REPORT_BYTES_MAX, Task, WorkReport};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{TOGETHER, scope};
use crate::engine::{EngineEvent, Error, Shared};
use crate::execute::attempt;
use crate::execute::permits::Promise;
use crate::fleet::membership::{Attempt, attempt_of};
use crate::run::run_loop::{LOOK_AT_OTHERS, Loaded, as_stopped, is_open, is_queued, load};

/// How long to wait until an engine records a report, before sending it again.
const REMIND: Duration = Duration::from_secs(30);

struct Making<'a> {
    shared: &'a Arc<Shared>,
    task: &'a Task,
    attempt: Attempt,
    loaded: Loaded,
    changes: watch::Receiver<u64>,
}

/// Runs the attempt of a task that this worker holds. Returns whether everything is reported. With `is_old`, the
/// attempt may have started before.
pub(super) async fn make(
    shared: &Arc<Shared>,
    task: &Task,
    is_old: bool,
    stop: &CancellationToken,
) -> Result<bool, Error> {
    let Some(attempt) = attempt_of(&task.key) else { return Ok(false) };
    let changes = shared.store.watch();
    let loaded = load(shared, &task.run).await?;
    let mut making = Making { shared, task, attempt, loaded, changes };
    if making.is_open() && is_old {
        return making.go_on(stop).await;
    }
    Ok(making.is_queued() && making.begin(stop).await? && making.carry_out(false, stop).await?)
}

impl Making<'_> {
    fn is_queued(&self) -> bool {
        is_queued(&self.loaded.state, &self.attempt.0, self.attempt.1) && !self.loaded.state.cancelling
    }

    fn is_open(&self) -> bool {
        is_open(&self.loaded.state, &self.attempt.0, self.attempt.1)
    }

    /// Reports the claim, and waits until an engine records it. False if the attempt must not start.
    async fn begin(&mut self, stop: &CancellationToken) -> Result<bool, Error> {
        let (mut said, mut pause): (Option<Instant>, Duration) = (None, TOGETHER);
        while self.is_queued() && self.is_held().await? {
            if said.is_none_or(|said| said.elapsed() > REMIND) {
                self.report(&self.claimed(), stop).await?;
                said = Some(Instant::now());
            }
            tokio::select! {
                () = stop.cancelled() => {
                    let (path, attempt) = self.attempt.clone();
                    self.report(&Event::AttemptReleased { path, attempt }, stop).await?;
                    return Ok(false);
                }
                // Wake-ups about progress come late, and the attempt waits for this, so poll.
                () = tokio::time::sleep(pause) => self.catch_up().await?,
            }
            pause = (pause * 2).min(LOOK_AT_OTHERS);
        }
        let is_begun = self.is_open() && !self.loaded.state.cancelling;
        if is_begun {
            self.tell(self.claimed());
        }
        Ok(is_begun)
    }

    /// Shows an event to watchers of this worker.
    fn tell(&self, event: Event) {
        let (at, seq) = (self.shared.clock.now_ms(), self.loaded.state.seq);
        let events = Arc::new(vec![Envelope { v: event::VERSION, seq, at, event }]);
        let _ = self.shared.pulse.send(EngineEvent::Events(self.task.run.clone(), events));
    }

    fn claimed(&self) -> Event {
        let ((path, attempt), member) = (self.attempt.clone(), &self.shared.options.member);
        Event::AttemptClaimed { path, attempt, worker: member.name.clone(), host: member.host.clone() }
    }

    async fn is_held(&self) -> Result<bool, Error> {
        let ours = |task: &Task| task.key == self.task.key && task.worker.as_ref() == Some(&self.shared.worker);
        match self.shared.store.tasks(&self.task.run).await {
            Ok(tasks) => Ok(tasks.iter().any(ours)),
            Err(Refusal::Unreachable(_) | Refusal::Busy) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    /// Continues an attempt that an earlier process of this worker started; with its agent, if that still runs.
    async fn go_on(&mut self, stop: &CancellationToken) -> Result<bool, Error> {
        let (path, attempt) = self.attempt.clone();
        if self.shared.artifacts.has_agent(&self.task.run, &path, attempt) {
            let adopted = Event::AttemptAdopted { path, attempt };
            self.report(&adopted, stop).await?;
            self.tell(adopted);
            return self.carry_out(true, stop).await;
        }
        let error = Failure::new(ErrorClass::Lost, "the process that made the attempt is gone");
        let lost = Event::AttemptFailed { path, attempt, error, result: Default::default() };
        self.report(&lost, stop).await.map(|()| true)
    }

    async fn carry_out(&mut self, adopted: bool, stop: &CancellationToken) -> Result<bool, Error> {
        let planner = Planner { plan: &self.loaded.plan.0, index: &self.loaded.plan.1 };
        let Some(start) = start_of(planner, &self.loaded.state, &self.attempt.0) else { return Ok(false) };
        let cancel = CancellationToken::new();
        // However this ends, stop the attempt: it must not run without a listener.
        let _end = cancel.clone().drop_guard();
        let (done, mut finished) = mpsc::unbounded_channel();
        let promise = Promise::default();
        attempt::begin(self.shared, &self.task.run, &self.loaded, (start, adopted), cancel.clone(), promise, done);
        loop {
            tokio::select! {
                event = finished.recv() => {
                    let Some(event) = event else { return Ok(false) };
                    let is_stopped = stop.is_cancelled() || self.loaded.state.is_stopped();
                    let event = if is_stopped { as_stopped(event) } else { event };
                    self.report(&event, stop).await?;
                    if is_end(&event) {
                        self.tell(event);
                        return Ok(true);
                    }
                }
                () = stop.cancelled(), if !cancel.is_cancelled() => cancel.cancel(),
                () = self.news(), if !cancel.is_cancelled() => {
                    let seen = self.catch_up().await;
                    let state = &self.loaded.state;
                    if seen.is_err() || !self.is_open() || state.cancelling || state.is_stopped() {
                        cancel.cancel();
                    }
                }
            }
        }
    }

    /// Waits until the run may have changed, but not for too short a time: other runs change, too.
    async fn news(&mut self) {
        tokio::time::sleep(LOOK_AT_OTHERS).await;
        tokio::select! {
            _ = self.changes.changed() => {}
            () = tokio::time::sleep(LOOK_AT_OTHERS) => {}
        }
    }

    /// Reads new events. If the store cannot be reached, it asks again. It is an error if the worker is shut out, or
    /// holds nothing of the run any more.
    async fn catch_up(&mut self) -> Result<(), Error> {
        let run = &self.task.run;
        let moved = match self.shared.store.read(run, self.loaded.state.seq, 1).await {
            Ok(events) if events.is_empty() => return Ok(()),
            Ok(_) => load(self.shared, run).await,
            Err(error) => Err(error.into()),
        };
        match moved {
            Ok(loaded) => self.loaded = loaded,
            Err(Error::Store(Refusal::Unreachable(_) | Refusal::Busy)) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Reports the end of the attempt. While the store cannot be reached it tries again, unless `stop` is cancelled.
    async fn report(&self, event: &Event, stop: &CancellationToken) -> Result<(), Error> {
        let mut text = serde_json::to_string(event).map_err(Error::encoding)?;
        if text.len() > REPORT_BYTES_MAX {
            text = serde_json::to_string(&self.too_large(text.len())).map_err(Error::encoding)?;
        }
        let report = WorkReport {
            worker: self.shared.worker.clone(),
            run: self.task.run.clone(),
            key: self.task.key.clone(),
            attempt: self.task.attempt,
            text,
            at_ms: self.shared.clock.now_ms(),
        };
        loop {
            match scope(self.shared)?.report(report.clone()).await {
                Err(Refusal::Unreachable(_) | Refusal::Busy | Refusal::Unsure(_)) if !stop.is_cancelled() => {
                    tokio::time::sleep(LOOK_AT_OTHERS).await;
                }
                told => return Ok(told?),
            }
        }
    }

    fn too_large(&self, bytes: usize) -> Event {
        let (path, attempt) = self.attempt.clone();
        let why = format!("its result has {bytes} bytes; a worker with a login reports {REPORT_BYTES_MAX} at most");
        let error = Failure::new(ErrorClass::Failed, why);
        Event::AttemptFailed { path, attempt, error, result: Default::default() }
    }
}

fn is_end(event: &Event) -> bool {
    use Event::{AttemptFailed, AttemptStopped, AttemptSucceeded};
    matches!(event, AttemptSucceeded { .. } | AttemptFailed { .. } | AttemptStopped { .. })
}
