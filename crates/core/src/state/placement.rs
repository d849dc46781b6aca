//! Attempts that wait for a worker, and the machine on which the files of a run are.
//!
//! **Invariant:** an attempt that waits for a worker is made by nobody, so it cannot be lost. The machine of a run is the
//! one whose files it has worked on; it is given up by a person, or for a record of those files. What is asked about a
//! machine is asked by a step that waits for it, and is withdrawn with that wait.

use serde::{Deserialize, Serialize};

use super::apply::{Apply, Error};
use super::{OpenAttempt, Phase, Question, QueuedAttempt, State, StepNo};
use crate::decide::WAIT;
use crate::event::{self, Answer, Carried, OnHostLost};
use crate::path::StepPath;

/// Where the files of a run are.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Placement {
    /// The machine on which they are, where several share a store.
    pub host: Option<String>,
    /// That machine, if nothing is heard of it.
    pub lost: Option<LostHost>,
    /// When somebody last said that it is to be waited for.
    pub waited_at: Option<i64>,
    /// The newest record of the files that other machines can fetch.
    pub carried: Option<Carried>,
    /// A step whose files are not part of that, and the number that they would have had.
    pub uncarried: Option<(StepPath, u64)>,
    /// What the files are made from on the machine where the run continues, if not from a checkout.
    pub rebuild: Option<Carried>,
    /// The event with which a machine was last given up; 0 if none was. A worker that has files from before it is late.
    pub left_at: u64,
}

/// A machine of which nothing is heard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostHost {
    /// The machine.
    pub host: String,
    /// When it was last heard of.
    pub since: i64,
    /// What is done about it.
    #[serde(default)]
    pub then: OnHostLost,
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
        let Some(at) = self.number(path) else { return };
        let Phase::Attempt(open) = &mut self.step_mut(at).phase else { return };
        let phase = Phase::Queued(QueuedAttempt { labels, question: None, reserve: open.reserve.take() });
        self.agenda.open.remove(&at);
        self.agenda.add(at, &phase, false);
        self.step_mut(at).phase = phase;
    }

    /// The project whose checkouts it works in, where that is known.
    pub fn project(&self) -> Option<&str> {
        self.started.as_ref()?.context.project.as_deref()
    }

    /// The folder in which it was started, and is done, because nobody knows of which project that is.
    pub fn home(&self) -> Option<&str> {
        self.started.as_ref()?.context.home.as_deref()
    }

    /// Nothing is asked about the machine that a step waits for.
    fn withdraw(&mut self, at: StepNo) {
        if let Phase::Queued(queued) = &mut self.step_mut(at).phase {
            queued.question = None;
        }
    }

    /// A step that uses the files of its run is made on a machine.
    pub(crate) fn settle_on(&mut self, host: Option<&str>) {
        if self.placement.host.is_none() {
            self.placement.host = host.map(str::to_owned);
        }
    }
}

impl State {
    /// Steps whose attempt waits for a worker on a machine.
    pub(crate) fn waiting_for(&self, host: &str) -> Vec<StepNo> {
        let label = crate::decide::host_label(host);
        self.agenda.queued.iter().copied().filter(|at| self.step(*at).labels().contains(&label)).collect()
    }
}

impl Apply<'_> {
    /// A step whose attempt of that number waits for a worker.
    fn queued(&self, path: &StepPath, attempt: u32) -> Result<StepNo, Error> {
        let at = self.find(path)?;
        let step = self.state.step(at);
        match step.phase.is_queued() && step.attempts == attempt {
            true => Ok(at),
            false => Err(Error(format!("attempt {attempt} of `{path}` does not wait for a worker"))),
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
        let Some(missed) = self.state.placement.lost.as_mut().filter(|missed| Some(missed.host.as_str()) == host)
        else {
            return;
        };
        match missed.then {
            OnHostLost::Pause => (self.state.placement.lost, self.state.paused) = (None, false),
            OnHostLost::Ask | OnHostLost::Rebuild => missed.is_back = true,
        }
    }

    pub(super) fn attempt_claimed(&mut self, path: &StepPath, attempt: u32, host: Option<&str>) -> Result<(), Error> {
        let at = self.queued(path, attempt)?;
        self.works_on(path, host);
        self.is_back(host);
        // What was set aside for it still is.
        let reserve = self.state.step_mut(at).phase.take_reserve();
        let labels = self.state.step(at).labels().to_vec();
        self.enter(at, Phase::Attempt(OpenAttempt { labels, delayed: None, reserve }));
        self.state.step_mut(at).started_at = Some(self.state.now);
        Ok(())
    }

    pub(super) fn attempt_released(&mut self, path: &StepPath, attempt: u32) -> Result<(), Error> {
        self.queued(path, attempt).map(drop)
    }

    pub(super) fn host_missed(&mut self, host: &str, since: i64, then: OnHostLost) {
        self.state.placement.lost = Some(LostHost { host: host.to_owned(), since, then, chosen: None, is_back: false });
        self.state.paused |= then == OnHostLost::Pause;
    }

    pub(super) fn host_seen(&mut self, host: &str) {
        self.state.placement.lost.take_if(|missed| missed.host == host);
        self.withdraw();
    }

    /// What waited for the machine is offered again, to everybody.
    pub(super) fn host_left(&mut self, host: &str, carried: Option<&Carried>) {
        self.state.placement.host.take_if(|at| at == host);
        let missed = self.state.placement.lost.take_if(|missed| missed.host == host);
        if missed.is_some_and(|missed| missed.then == OnHostLost::Pause) {
            self.state.paused = false;
        }
        self.state.placement.left_at = self.state.seq + 1;
        self.state.placement.rebuild = carried.cloned();
        self.state.placement.carried = carried.cloned();
        (self.state.placement.uncarried, self.state.placement.waited_at) = (None, None);
        self.state.waiting_for(host).into_iter().for_each(|at| self.offer_again(at));
        self.withdraw();
    }

    /// What becomes of the files that an attempt left. What was lost with its worker is made again.
    pub(super) fn files_left(&mut self, path: &StepPath, result: &event::Result, is_lost: bool) {
        let uses = |step: &super::StepInst| self.plan.step(step.step).uses_files();
        let is_here =
            self.state.placement.host.is_some() && result.by.is_none() && self.state.find(path).is_some_and(uses);
        match &result.carried {
            Some(carried) => self.files_carried(carried),
            None if is_here && !is_lost && !result.cached => self.uncarried(path, 0),
            None => {}
        }
    }

    /// Records under another name count from the beginning: their writer has other files.
    fn files_carried(&mut self, carried: &Carried) {
        let known = self.state.placement.carried.as_ref();
        if known.is_none_or(|known| known.name != carried.name || known.number < carried.number) {
            self.state.placement.carried = Some(carried.clone());
            self.state.placement.uncarried.take_if(|(_, number)| *number < carried.number);
        }
    }

    /// There are files that no record has.
    pub(super) fn uncarried(&mut self, path: &StepPath, number: u64) {
        if self.state.placement.uncarried.as_ref().is_none_or(|(_, known)| *known < number) {
            self.state.placement.uncarried = Some((path.clone(), number));
        }
    }

    /// Whether what a step asks is about the machine that it waits for.
    pub(super) fn asks_about_machine(&self, path: &StepPath) -> bool {
        let asks = |step: &super::StepInst| step.phase.is_queued() && step.asks().is_some();
        self.state.placement.lost.is_some() && self.state.find(path).is_some_and(asks)
    }

    pub(super) fn asks_for_machine(&mut self, path: &StepPath, question: Question) -> Result<(), Error> {
        let at = self.find(path)?;
        let is_lost = self.state.placement.lost.is_some();
        match &mut self.state.step_mut(at).phase {
            Phase::Queued(queued) if is_lost => queued.question = Some(Box::new(question)),
            _ => return Err(Error(format!("`{path}` waits for no machine that is missed"))),
        }
        Ok(())
    }

    /// To wait is all that follows from itself; the rest is decided.
    pub(super) fn machine_answered(&mut self, path: &StepPath, answer: &Answer, by: Option<&str>) {
        let Some(at) = self.state.number(path) else { return };
        self.state.withdraw(at);
        let word = match answer {
            Answer::Value { value } => value.as_str().unwrap_or_default(),
            Answer::Approve | Answer::Deny { .. } | Answer::Edit { .. } | Answer::Skip | Answer::TimedOut => "",
        };
        if word == WAIT {
            (self.state.placement.lost, self.state.placement.waited_at) = (None, Some(self.state.now));
        } else if let Some(missed) = &mut self.state.placement.lost {
            missed.chosen = Some((word.to_owned(), by.map(str::to_owned)));
        }
    }

    /// Nothing is asked about a machine any more.
    fn withdraw(&mut self) {
        let waiting: Vec<StepNo> = self.state.agenda.queued.iter().copied().collect();
        waiting.into_iter().for_each(|at| self.state.withdraw(at));
    }
}
