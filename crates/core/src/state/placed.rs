//! Attempts that wait for a worker, and the machine on which the files of a run are.
//!
//! **Invariant:** an attempt that waits for a worker is made by nobody, so it cannot be lost. The machine of a run is the
//! one whose files it has worked on; it is given up by a person, or for a record of those files. What is asked about a
//! machine is asked by a step that waits for it, and is withdrawn with that wait.

use serde::{Deserialize, Serialize};

use super::apply::{Apply, Illegal};
use super::{Phase, Question, State, StepNo};
use crate::decide::WAIT;
use crate::event::{self, Answer, Carried, Gone};
use crate::path::StepPath;

/// A machine of which nothing is heard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missed {
    /// Which.
    pub host: String,
    /// Since when.
    pub since: i64,
    /// What is done about it.
    #[serde(default)]
    pub then: Gone,
    /// What a person chose, and who, while nothing has followed from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<(String, Option<String>)>,
    /// Whether somebody works there again.
    #[serde(default)]
    pub is_back: bool,
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

    /// The project whose checkouts it works in, where that is known.
    pub fn project(&self) -> Option<&str> {
        self.started.as_ref()?.about.get("project")?.as_str()
    }

    /// The folder in which it was started, and is done, because nobody knows of which project that is.
    pub fn home(&self) -> Option<&str> {
        self.started.as_ref()?.about.get("home")?.as_str()
    }

    /// A step that uses the files of its run is made on a machine.
    pub(crate) fn settle_on(&mut self, host: Option<&str>) {
        if self.host.is_none() {
            self.host = host.map(str::to_owned);
        }
    }
}

impl State {
    /// Steps whose attempt waits for a worker on a machine.
    pub(crate) fn waiting_for(&self, host: &str) -> Vec<StepNo> {
        let label = crate::decide::host_label(host);
        self.queued.iter().copied().filter(|at| self.step(*at).labels.contains(&label)).collect()
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

    /// Whoever takes what waits for a machine that was missed is there again. Who only begins something new may be about to go.
    fn is_back(&mut self, host: Option<&str>) {
        let Some(missed) = self.state.missed.as_mut().filter(|missed| Some(missed.host.as_str()) == host) else {
            return;
        };
        match missed.then {
            Gone::Pause => (self.state.missed, self.state.paused) = (None, false),
            Gone::Ask | Gone::Rebuild => missed.is_back = true,
        }
    }

    pub(super) fn attempt_claimed(&mut self, path: &StepPath, attempt: u32, host: Option<&str>) -> Result<(), Illegal> {
        let at = self.queued(path, attempt)?;
        self.works_on(path, host);
        self.is_back(host);
        // What was set aside for it still is.
        let (reserve, now) = (self.state.step_mut(at).reserve.take(), self.state.now);
        self.enter(at, Phase::Attempt);
        let step = self.state.step_mut(at);
        (step.reserve, step.started_at) = (reserve, Some(now));
        Ok(())
    }

    pub(super) fn attempt_released(&mut self, path: &StepPath, attempt: u32) -> Result<(), Illegal> {
        self.queued(path, attempt).map(drop)
    }

    pub(super) fn host_missed(&mut self, host: &str, since: i64, then: Gone) {
        self.state.missed = Some(Missed { host: host.to_owned(), since, then, chosen: None, is_back: false });
        self.state.paused |= then == Gone::Pause;
    }

    pub(super) fn host_seen(&mut self, host: &str) {
        self.state.missed.take_if(|missed| missed.host == host);
        self.withdraw();
    }

    /// What waited for the machine is offered again, to everybody.
    pub(super) fn host_left(&mut self, host: &str, carried: Option<&Carried>) {
        self.state.host.take_if(|at| at == host);
        let missed = self.state.missed.take_if(|missed| missed.host == host);
        if missed.is_some_and(|missed| missed.then == Gone::Pause) {
            self.state.paused = false;
        }
        self.state.left_at = self.state.seq + 1;
        self.state.rebuild = carried.cloned();
        self.state.carried = carried.cloned();
        (self.state.uncarried, self.state.waited_at) = (None, None);
        self.state.waiting_for(host).into_iter().for_each(|at| self.offer_again(at));
        self.withdraw();
    }

    /// What becomes of the files that an attempt left. What was lost with its worker is made again.
    pub(super) fn files_left(&mut self, path: &StepPath, result: &event::Result, is_lost: bool) {
        let uses = |step: &super::StepInst| self.plan.step(step.step).uses_files();
        let is_here = self.state.host.is_some() && result.by.is_none() && self.state.find(path).is_some_and(uses);
        match &result.carried {
            Some(carried) => self.files_carried(carried),
            None if is_here && !is_lost && !result.cached => self.uncarried(path, 0),
            None => {}
        }
    }

    /// Records under another name count from the beginning: whoever writes them has files of their own.
    fn files_carried(&mut self, carried: &Carried) {
        let known = self.state.carried.as_ref();
        if known.is_none_or(|known| known.name != carried.name || known.number < carried.number) {
            self.state.carried = Some(carried.clone());
            self.state.uncarried.take_if(|(_, number)| *number < carried.number);
        }
    }

    /// There are files that no record has.
    pub(super) fn uncarried(&mut self, path: &StepPath, number: u64) {
        if self.state.uncarried.as_ref().is_none_or(|(_, known)| *known < number) {
            self.state.uncarried = Some((path.clone(), number));
        }
    }

    /// Whether what a step asks is about the machine that it waits for.
    pub(super) fn asks_about_machine(&self, path: &StepPath) -> bool {
        let asks = |step: &super::StepInst| step.phase == Phase::Queued && step.question.is_some();
        self.state.missed.is_some() && self.state.find(path).is_some_and(asks)
    }

    pub(super) fn asks_for_machine(&mut self, path: &StepPath, question: Question) -> Result<(), Illegal> {
        let at = self.find(path)?;
        if self.state.step(at).phase != Phase::Queued || self.state.missed.is_none() {
            return Err(Illegal(format!("`{path}` waits for no machine that is missed")));
        }
        self.state.step_mut(at).question = Some(question);
        Ok(())
    }

    /// To wait is all that follows from itself; the rest is decided.
    pub(super) fn machine_answered(&mut self, path: &StepPath, answer: &Answer, by: Option<&str>) {
        let Some(at) = self.state.number(path) else { return };
        self.state.step_mut(at).question = None;
        let word = match answer {
            Answer::Value { value } => value.as_str().unwrap_or_default(),
            Answer::Approve | Answer::Deny { .. } | Answer::Edit { .. } | Answer::Skip | Answer::TimedOut => "",
        };
        if word == WAIT {
            (self.state.missed, self.state.waited_at) = (None, Some(self.state.now));
        } else if let Some(missed) = &mut self.state.missed {
            missed.chosen = Some((word.to_owned(), by.map(str::to_owned)));
        }
    }

    /// Nothing is asked about a machine any more.
    fn withdraw(&mut self) {
        let waiting: Vec<StepNo> = self.state.queued.iter().copied().collect();
        waiting.into_iter().for_each(|at| self.state.step_mut(at).question = None);
    }
}
