//! Attempts that wait for a worker, and the machine on which the files of a run are.
//!
//! **Invariant:** an attempt that waits for a worker is made by nobody, so it can not be lost. The machine of a run is the
//! one whose files it has worked on; only a person gives it up.

use serde::{Deserialize, Serialize};

use super::apply::{Apply, Illegal};
use super::{Phase, State, StepNo};
use crate::path::StepPath;

/// A machine of which nothing is heard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missed {
    /// Which.
    pub host: String,
    /// Since when.
    pub since: i64,
}

impl State {
    /// The attempt of a step that was just begun waits for a worker instead.
    pub(crate) fn queue_up(&mut self, path: &StepPath, labels: Vec<String>) {
        let Some(at) = self.number(path).filter(|at| self.open.remove(at)) else { return };
        self.waiting.insert(at);
        self.queued.insert(at);
        let step = self.step_mut(at);
        (step.phase, step.labels) = (Phase::Queued, labels);
    }

    /// A step that uses the files of its run is made on a machine.
    pub(crate) fn settle_on(&mut self, host: Option<&str>) {
        if self.host.is_none() {
            self.host = host.map(str::to_owned);
        }
    }
}

impl Apply<'_> {
    /// A step whose attempt of that number waits for a worker.
    fn queued(&self, path: &StepPath, attempt: u32) -> Result<StepNo, Illegal> {
        let at = self.find(path)?;
        let step = self.state.step(at);
        match step.phase == Phase::Queued && step.attempts == attempt {
            true => Ok(at),
            false => Err(Illegal(format!("attempt {attempt} of `{path}` does not wait for a worker"))),
        }
    }

    /// Where an attempt that was just begun is made, if anywhere yet.
    pub(super) fn placed(&mut self, path: &StepPath, host: Option<&str>, queued: Option<&[String]>) {
        match queued {
            Some(labels) => self.state.queue_up(path, labels.to_vec()),
            None => self.works_on(path, host),
        }
    }

    fn works_on(&mut self, path: &StepPath, host: Option<&str>) {
        let step = self.state.find(path).map(|step| self.plan.step(step.step));
        if step.is_some_and(crate::plan::Step::uses_files) {
            self.state.settle_on(host);
        }
    }

    pub(super) fn attempt_claimed(&mut self, path: &StepPath, attempt: u32, host: Option<&str>) -> Result<(), Illegal> {
        let at = self.queued(path, attempt)?;
        self.works_on(path, host);
        // What was set aside for it still is.
        let (reserve, now) = (self.state.step_mut(at).reserve.take(), self.state.now);
        self.enter(at, Phase::Attempt);
        let step = self.state.step_mut(at);
        (step.reserve, step.started_at) = (reserve, Some(now));
        if self.state.missed.take_if(|missed| Some(missed.host.as_str()) == host).is_some() {
            self.state.paused = false;
        }
        Ok(())
    }

    pub(super) fn attempt_released(&mut self, path: &StepPath, attempt: u32) -> Result<(), Illegal> {
        self.queued(path, attempt).map(drop)
    }

    pub(super) fn host_missed(&mut self, host: &str, since: i64) {
        self.state.missed = Some(Missed { host: host.to_owned(), since });
        self.state.paused = true;
    }

    /// What waited for the machine is offered anew, to everybody.
    pub(super) fn host_left(&mut self, host: &str) {
        self.state.host.take_if(|at| at == host);
        if self.state.missed.take_if(|missed| missed.host == host).is_some() {
            self.state.paused = false;
        }
        let label = crate::decide::host_label(host);
        let waiting: Vec<StepNo> =
            self.state.queued.iter().copied().filter(|at| self.state.step(*at).labels.contains(&label)).collect();
        for at in waiting {
            self.offer_again(at);
        }
    }
}
