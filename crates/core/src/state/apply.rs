//! Applying events.
//!
//! **Invariant:** an event that does not fit changes nothing. Every change of a phase goes through
//! [`Apply::enter`], so the lists of who needs a decision, who waits and who works cannot disagree with it.

use super::{Answered, BodyInst, BodyNo, Finished, OnFailure, Phase, Question, Slot, State, StepInst, StepNo, Stop};
use crate::approval::Approval;
use crate::event::{self, Answer, Ended, Envelope, Event, OnHostLost, QuestionKind, Usage};
use crate::id::StepId;
use crate::index::Index;
use crate::origin::Caller;
use crate::path::StepPath;
use crate::plan::{BodyIx, Compat, ErrorClass, Form, Items, OnInterrupt, Order, Plan, StepIx};
use crate::recovery::RecoveryAction;
use crate::task::TimerId;

/// How the event of a pause at a limit of the run begins to say so.
pub(crate) const PAUSED_AT: &str = "limit: ";

/// An event that cannot follow from what came before: a bug, a foreign history, or a late result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(pub String);

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl State {
    /// Takes an event in; one that does not fit changes nothing.
    pub fn apply(&mut self, plan: &Plan, index: &Index, envelope: &Envelope) -> Result<(), Error> {
        if envelope.seq != self.seq + 1 {
            return Err(Error(format!("event {} cannot follow event {}", envelope.seq, self.seq)));
        }
        self.expects(&envelope.event)?;
        // Reopening looks at the whole run and finds out late whether there is anything to do.
        let before = matches!(envelope.event, Event::Reopened { .. }).then(|| self.clone());
        let earlier = self.now;
        self.now = self.now.max(envelope.at);
        if let Err(error) = (Apply { plan, index, state: self }).event(&envelope.event) {
            self.now = earlier;
            if let Some(before) = before {
                *self = before;
            }
            return Err(error);
        }
        self.seq = envelope.seq;
        Ok(())
    }

    /// Whether a run in this state can have such an event at all.
    fn expects(&self, event: &Event) -> Result<(), Error> {
        let refused = |why: &str| Err(Error(why.to_owned()));
        match event {
            Event::RunStarted(_) if self.started.is_some() => refused("the run was started before"),
            Event::RunStarted(_) => Ok(()),
            _ if self.started.is_none() => refused("the run was not started"),
            Event::Refused { .. } => Ok(()),
            Event::Imported { .. } if self.finished.is_none() => refused("the run is not over"),
            Event::Imported { .. } => Ok(()),
            Event::OnFailureStarted { .. } | Event::OnFailureEnded { .. } if !self.has_failed() => {
                refused("the run has not failed")
            }
            Event::OnFailureStarted { .. } | Event::OnFailureEnded { .. } => Ok(()),
            Event::Reopened { .. } if self.finished.is_none() => refused("the run is not over"),
            Event::Reopened { .. } | Event::PlanReplaced(_) => Ok(()),
            // The limit is raised first, and then the run starts again.
            Event::BudgetChanged { .. } => Ok(()),
            _ if self.finished.is_some() => refused("the run is over"),
            _ => Ok(()),
        }
    }
}

pub(super) struct Apply<'a> {
    pub(super) plan: &'a Plan,
    pub(super) index: &'a Index,
    pub(super) state: &'a mut State,
}

impl Apply<'_> {
    fn event(&mut self, event: &Event) -> Result<(), Error> {
        match event {
            Event::RunStarted(started) => {
                self.state.started = Some(started.clone());
                self.state.started_at = self.state.now;
                self.state.placement.host = self.state.home().map(str::to_owned);
                self.open_body(self.plan.main().body, None, 0, None);
            }
            Event::AttemptStarted { path, attempt, reserve, hosted, host, queued, hints } => {
                self.attempt_started(path, *attempt, *reserve, *hosted)?;
                self.carries(path, hints);
                self.state.tried += 1;
                self.placed(path, host.as_deref(), queued.as_deref());
            }
            Event::AttemptClaimed { path, attempt, host, .. } => {
                self.attempt_claimed(path, *attempt, host.as_deref())?
            }
            Event::AttemptReleased { path, attempt } => self.attempt_released(path, *attempt)?,
            Event::HostSettled { host } => self.state.settle_on(Some(host)),
            Event::HostMissed { host, since, then } => self.host_missed(host, *since, *then),
            Event::HostSeen { host } => self.host_seen(host),
            Event::HostLeft { host, carried, .. } => self.host_left(host, carried.as_ref()),
            Event::HostedClaimed { path, attempt, by, until } => self.claimed(path, *attempt, by, *until)?,
            Event::HeartbeatSeen { path, attempt, hint, until } => {
                self.heartbeat_seen(path, *attempt, hint.as_deref(), *until)?;
            }
            Event::HostedReturned { path, attempt } => self.returned(path, *attempt)?,
            Event::AttemptAdopted { path, attempt } => drop(self.open_attempt(path, *attempt)?),
            Event::AttemptDelayed { path, attempt, why } => {
                let at = self.open_attempt(path, *attempt)?;
                if let Phase::Attempt(open) = &mut self.state.step_mut(at).phase {
                    open.delayed.clone_from(why);
                }
            }
            Event::ToolDenied { path, attempt, tool } => {
                let at = self.open_attempt(path, *attempt)?;
                self.state.step_mut(at).tool_denied(tool);
            }
            Event::SessionSeen { path, attempt, session, thread } => {
                self.session_seen(path, *attempt, session, thread.as_deref())?;
            }
            Event::FilesKept { path, attempt, .. } => {
                let at = self.open_attempt(path, *attempt)?;
                self.state.step_mut(at).recovery.get_or_insert_default().kept = Some(*attempt);
            }
            Event::FilesRestored { path, attempt, .. } | Event::FilesRebuilt { path, attempt, .. } => {
                self.open_attempt(path, *attempt)?;
            }
            Event::CarryFailed { path, attempt, number, .. } => {
                self.open_attempt(path, *attempt)?;
                self.uncarried(path, *number);
            }
            Event::AttemptSucceeded { path, attempt, result } => self.attempt_ended(path, *attempt, result, None)?,
            Event::AttemptFailed { path, attempt, error, result } => {
                self.attempt_ended(path, *attempt, result, Some(error))?;
            }
            Event::AttemptStopped { path, attempt, usage } => self.attempt_stopped(path, *attempt, *usage)?,
            Event::RetryScheduled { path, due, recovery, .. } => {
                let at = self.undecided(path)?;
                if let Some(action) = recovery {
                    self.recovering(at, action);
                }
                if needs_permit(&self.plan.step(self.state.step(at).step).form) {
                    self.enter(at, Phase::Retry { due: *due });
                } else {
                    self.try_again(at);
                }
            }
            Event::StepSkipped { path, why } => {
                let at = self.undecided(path)?;
                self.skip(at, *why);
            }
            Event::ItemsFound { path, items } => {
                let at = self.undecided(path)?;
                self.state.step_mut(at).container.items.clone_from(items);
                self.enter(at, Phase::Inside);
                self.wants(at);
            }
            Event::BodyOpened { path, index, bound } => self.body_opened(path, *index, bound)?,
            Event::QuestionAsked { path, kind, text, choices, schema, due, error, key } => {
                let question = Question {
                    kind: *kind,
                    text: text.clone(),
                    choices: choices.clone(),
                    schema: schema.clone(),
                    due: *due,
                    asked_at: self.state.now,
                    key: key.clone(),
                    approved: Vec::new(),
                };
                self.asked(path, question, error.as_ref())?;
            }
            Event::Answered { path, answer, by, .. } if self.asks_about_machine(path) => {
                self.machine_answered(path, answer, by.as_deref());
            }
            Event::Answered { path, answer, comment, by, .. } => {
                self.answered(path, answer, comment.as_deref())?;
                self.commented(path, comment.as_deref(), by.as_deref());
            }
            Event::Approved { path, by, caller, comment, .. } => {
                self.approved(path, by.as_deref(), caller.as_deref(), comment.as_deref())?;
            }
            Event::WaitStarted { path, due, signal } => self.wait_started(path, *due, signal.as_deref())?,
            Event::TimerFired { timer } => self.timer_fired(timer),
            Event::Signalled { name, data, .. } => self.signalled(name, data),
            Event::SignalRefused { name, .. } => self.signal_refused(name)?,
            Event::StepEnded { path, end } => {
                let at = self.undecided(path)?;
                self.step_ended(at, end);
            }
            Event::Routed { path, to } => {
                let at = self.undecided(path)?;
                self.target(at, to)?;
                self.state.step_mut(at).outcome.chosen = Some(to.clone());
            }
            Event::Rewound { path, to } => self.rewound(path, to)?,
            Event::LimitReached { limit, path } => self.limit_reached(limit, path.as_ref())?,
            Event::UnitStopped { path, why } => self.unit_stopped(path, why)?,
            Event::Refused { .. } | Event::Consented { .. } | Event::Imported { .. } => {}
            Event::HintGiven { path, text, by } => self.hint_given(path, text, by.as_deref())?,
            Event::BudgetChanged { change, .. } => self.budget_changed(change),
            Event::ConsentRevoked { .. } => self.state.consent_revoked = true,
            Event::CancelRequested { .. } => self.state.cancelling = true,
            Event::Paused { by } => {
                self.state.paused = true;
                let limit = by.as_deref().and_then(|by| by.strip_prefix(PAUSED_AT));
                self.state.paused_at = limit.map(str::to_owned);
            }
            Event::Unpaused { .. } => {
                (self.state.paused, self.state.paused_at) = (false, None);
                self.state.placement.lost.take_if(|missed| missed.then == OnHostLost::Pause);
            }
            Event::RunStopped { by } => self.run_stopped(by.as_deref()),
            Event::RunResumed { .. } => self.state.stopped = None,
            Event::Reopened { from, .. } => self.reopen(from.as_ref())?,
            Event::PlanReplaced(replaced) => self.plan_replaced(replaced)?,
            Event::ResultKept { path, .. } => self.result_kept(path)?,
            Event::RunFinished { outcome, message, outputs } => {
                let at = self.state.now;
                self.state.finished =
                    Some(Finished { outcome: *outcome, message: message.clone(), outputs: outputs.clone(), at });
            }
            Event::OnFailureStarted { attempt } => self.on_failure_started(*attempt)?,
            Event::OnFailureEnded { attempt, .. } => self.on_failure_ended(*attempt)?,
        }
        Ok(())
    }

    /// Attempts that wait for a worker are taken back: a worker must not start them.
    fn run_stopped(&mut self, by: Option<&str>) {
        self.state.stopped = Some(Stop { by: by.map(str::to_owned), at: self.state.now });
        let queued: Vec<StepNo> = self.state.agenda.queued.iter().copied().collect();
        queued.into_iter().for_each(|at| self.offer_again(at));
        // Nothing waits for the machine any more. If it is still silent when the run continues, that is noticed again.
        self.state.placement.lost = None;
    }

    /// One that is begun while another is open takes its place: nobody makes that one any more.
    fn on_failure_started(&mut self, attempt: u32) -> Result<(), Error> {
        let before = self.state.on_failure.attempts;
        if attempt != before + 1 {
            return Err(Error(format!("attempt {attempt} of `on_failure` cannot follow attempt {before}")));
        }
        self.state.on_failure = OnFailure { attempts: attempt, open: true };
        Ok(())
    }

    fn on_failure_ended(&mut self, attempt: u32) -> Result<(), Error> {
        if self.state.on_failure.open_attempt() != Some(attempt) {
            return Err(Error(format!("attempt {attempt} of `on_failure` is not open")));
        }
        self.state.on_failure.open = false;
        Ok(())
    }

    pub(super) fn find(&self, path: &StepPath) -> Result<StepNo, Error> {
        self.state.number(path).ok_or_else(|| Error(format!("no step `{path}` was reached")))
    }

    /// A step about which something is to be decided.
    pub(super) fn undecided(&self, path: &StepPath) -> Result<StepNo, Error> {
        let at = self.find(path)?;
        match self.state.step(at).phase {
            Phase::Ready | Phase::Inside | Phase::Judge => Ok(at),
            Phase::Attempt(_)
            | Phase::Queued(_)
            | Phase::Hosted(_)
            | Phase::Retry { .. }
            | Phase::Question(_)
            | Phase::Waiting { .. }
            | Phase::Done => Err(Error(format!("nothing is to be decided about `{path}`"))),
        }
    }

    /// A step whose attempt of that number is under way.
    fn open_attempt(&self, path: &StepPath, attempt: u32) -> Result<StepNo, Error> {
        let at = self.find(path)?;
        let step = self.state.step(at);
        match step.is_making(attempt) {
            true => Ok(at),
            false => Err(Error(format!("attempt {attempt} of `{path}` is not open"))),
        }
    }

    /// Another step of the same body.
    pub(super) fn target(&self, at: StepNo, to: &StepId) -> Result<StepIx, Error> {
        let step = self.state.step(at);
        let target = self.index.find(self.state.body(step.body).body, to.as_str());
        target.ok_or_else(|| Error(format!("`{}` cannot lead to `{to}`", step.path)))
    }

    /// Moves a step on, from the lists it is on to those where it belongs. What belonged to the phase before is dropped with it;
    /// of an attempt that is given up nobody tells the cost, and one that only waited for a worker had none.
    pub(super) fn enter(&mut self, at: StepNo, phase: Phase) {
        let needs_permit = needs_permit(&self.plan.step(self.state.step(at).step).form);
        let mut before = std::mem::replace(&mut self.state.step_mut(at).phase, Phase::Done);
        if let Some(reserve) = before.take_reserve().filter(|_| !before.is_queued()) {
            self.pay(at, Usage::default(), reserve);
        }
        self.state.agenda.remove(at, &before, needs_permit);
        self.state.agenda.add(at, &phase, needs_permit);
        self.state.step_mut(at).phase = phase;
    }

    fn attempt_started(
        &mut self,
        path: &StepPath,
        attempt: u32,
        reserve: Option<Usage>,
        hosted: bool,
    ) -> Result<(), Error> {
        let at = self.undecided(path)?;
        let now = self.state.now;
        let step = self.state.step(at);
        if attempt != step.attempts + 1 || step.phase != Phase::Ready {
            return Err(Error(format!("attempt {attempt} of `{path}` cannot follow attempt {}", step.attempts)));
        }
        self.enter(at, Phase::begun(reserve, hosted));
        self.freshened(at);
        let step = self.state.step_mut(at);
        step.attempts = attempt;
        step.started_at = Some(now);
        (step.outcome.error, step.answered) = (None, None);
        if attempt == 1 {
            let body = self.state.step(at).body;
            self.for_accounts(body, |account| (account.steps, account.idle) = (account.steps + 1, account.idle + 1));
        }
        Ok(())
    }

    fn attempt_ended(
        &mut self,
        path: &StepPath,
        attempt: u32,
        result: &event::Result,
        error: Option<&event::Failure>,
    ) -> Result<(), Error> {
        let at = match result.by {
            Some(_) => self.hosted(path, attempt)?,
            None => self.open_attempt(path, attempt)?,
        };
        self.submitted(result.by.as_deref());
        let step = self.state.step_mut(at);
        step.heard(result, error);
        step.outcome.result = result.clone();
        step.outcome.error = error.cloned();
        step.lost += u32::from(error.is_some_and(|error| error.class == ErrorClass::Lost));
        self.settle_cost(at, result);
        let is_lost = error.is_some_and(|error| error.class == ErrorClass::Lost);
        self.files_left(path, result, is_lost);
        if error.is_none_or(|error| !error.needs_person) {
            self.worked(at);
        }
        self.enter(at, Phase::Judge);
        Ok(())
    }

    /// What an attempt cost takes the place of what was set aside for it; not knowing is not nothing.
    fn settle_cost(&mut self, at: StepNo, result: &event::Result) {
        let step = self.state.step_mut(at);
        let reserve = step.phase.take_reserve().filter(|_| !result.cached);
        let session = step.recovery.as_mut().and_then(|recovery| recovery.session.as_mut());
        if let (Some(session), Some(total)) = (session, result.session_total) {
            session.total = Some(total);
            let id = session.id.clone();
            self.counted(&id, total);
        }
        let Some(usage) = result.usage else {
            return self.pay(at, Usage::default(), reserve.unwrap_or_default());
        };
        self.book(at, usage);
        self.state.step_mut(at).usage += usage;
        let dearest = &mut self.state.costs.largest_attempt;
        dearest.input_tokens = dearest.input_tokens.max(usage.tokens());
        dearest.usd = dearest.usd.max(usage.usd);
        self.pay(at, usage, usage.unknown_of(reserve.unwrap_or_default()));
    }

    /// A step that continues a shared conversation starts from the usage of all its steps.
    fn counted(&mut self, id: &str, total: Usage) {
        let State { threads, steps, .. } = &mut *self.state;
        if threads.is_empty() {
            return;
        }
        let others = steps.iter_mut().filter_map(|step| step.recovery.as_mut()?.session.as_mut());
        let same = threads.values_mut().chain(others).filter(|session| session.id == id);
        same.for_each(|session| session.total = Some(total));
    }

    fn session_seen(
        &mut self,
        path: &StepPath,
        attempt: u32,
        session: &event::Session,
        thread: Option<&str>,
    ) -> Result<(), Error> {
        let at = self.open_attempt(path, attempt)?;
        let thread = thread.filter(|_| !self.took_over(at));
        let total = session.total.or_else(|| self.total_of(at, &session.id));
        let session = event::Session { total, ..session.clone() };
        if let Some(thread) = thread {
            self.state.threads.insert(thread.to_owned(), session.clone());
        }
        self.state.step_mut(at).recovery.get_or_insert_default().session = Some(session);
        Ok(())
    }

    /// Whether another agent does the step's work. Its conversation is nothing that the step's own agent could continue with,
    /// so it is not shared.
    pub(super) fn took_over(&self, at: StepNo) -> bool {
        self.state.step(at).recovery.as_ref().is_some_and(|recovery| recovery.fallbacks > 0)
    }

    /// What a conversation had used before it was seen again: what it uses now is the difference.
    fn total_of(&self, at: StepNo, id: &str) -> Option<Usage> {
        let own = self.state.step(at).recovery.as_ref().and_then(|recovery| recovery.session.as_ref());
        own.into_iter().chain(self.state.threads.values()).find(|session| session.id == id)?.total
    }

    fn recovering(&mut self, at: StepNo, action: &RecoveryAction) {
        let unit = self.state.body(self.state.step(at).body).unit;
        let per_turn = self.plan.unit(unit).compat.contains(&Compat::CountedRecovery);
        let step = self.state.step_mut(at);
        let counts = step.outcome.error.as_ref().is_some_and(|error| error.class != ErrorClass::Lost);
        step.recovery.get_or_insert_default().take(action, per_turn, counts);
    }

    /// Whoever stops an engine wants its work to continue later: in the same conversation, where there is one, or from the
    /// beginning, where the step says so.
    fn attempt_stopped(&mut self, path: &StepPath, attempt: u32, usage: Option<Usage>) -> Result<(), Error> {
        let at = self.open_attempt(path, attempt)?;
        self.settle_cost(at, &event::Result { usage, ..event::Result::default() });
        let step = self.state.step_mut(at);
        step.stopped += 1;
        if let Some(recovery) = step.recovery.as_mut().filter(|recovery| recovery.resumable().is_some()) {
            recovery.action = Some(RecoveryAction::Continue);
        }
        self.interrupted(at);
        self.enter(at, Phase::Ready);
        Ok(())
    }

    /// What an agent left in the middle is not continued, where its step says so.
    pub(super) fn interrupted(&mut self, at: StepNo) {
        let step = self.state.step_mut(at);
        if step.attempts > 0 && self.plan.step(step.step).on_interrupt == OnInterrupt::Restore {
            let action = RecoveryAction::Restore { before: step.restorable() };
            step.recovery.get_or_insert_default().take(&action, false, false);
        }
    }

    fn asked(&mut self, path: &StepPath, question: Question, error: Option<&event::Failure>) -> Result<(), Error> {
        if question.kind == QuestionKind::Machine {
            return self.asks_for_machine(path, question);
        }
        let at = self.undecided(path)?;
        let asked_at = question.asked_at;
        self.enter(at, Phase::Question(Box::new(question)));
        self.freshened(at);
        let step = self.state.step_mut(at);
        step.started_at.get_or_insert(asked_at);
        (step.answered, step.outcome.comment) = (None, None);
        if let Some(error) = error {
            step.outcome.error = Some(error.clone());
        }
        Ok(())
    }

    fn answered(&mut self, path: &StepPath, answer: &Answer, comment: Option<&str>) -> Result<(), Error> {
        let at = self.find(path)?;
        let Phase::Question(question) = &self.state.step(at).phase else {
            return Err(Error(format!("`{path}` asks nothing")));
        };
        let kind = question.kind;
        self.worked(at);
        let step = self.state.step_mut(at);
        step.answered = Some(Box::new(Answered { kind, answer: answer.clone() }));
        step.outcome.comment = comment.map(str::to_owned);
        if let Some(recovery) = &mut step.recovery {
            recovery.rested();
        }
        // With consent it begins as if nobody had been asked: in its turn.
        let begins = kind == QuestionKind::Consent && *answer == Answer::Approve;
        self.enter(at, if begins { Phase::Ready } else { Phase::Judge });
        Ok(())
    }

    /// One of several approvals: the question stays open.
    fn approved(
        &mut self,
        path: &StepPath,
        by: Option<&str>,
        caller: Option<&Caller>,
        comment: Option<&str>,
    ) -> Result<(), Error> {
        let at = self.find(path)?;
        let person = caller.and_then(Caller::person).or(by).unwrap_or_default().to_owned();
        let approval = Approval { by: person, at: self.state.now, comment: comment.map(str::to_owned) };
        let step = self.state.step_mut(at);
        step.phase.question_mut().ok_or_else(|| Error(format!("`{path}` asks nothing")))?.approved.push(approval);
        Ok(())
    }

    fn wait_started(&mut self, path: &StepPath, due: Option<i64>, signal: Option<&str>) -> Result<(), Error> {
        let at = self.undecided(path)?;
        let now = self.state.now;
        self.enter(at, Phase::Waiting { due, signal: signal.map(str::to_owned) });
        self.freshened(at);
        if due.is_none_or(|due| due > now) {
            self.worked(at);
        }
        self.state.step_mut(at).started_at = Some(now);
        let earlier = signal.and_then(|name| self.state.signals.iter().position(|(known, _)| known == name));
        if let Some(position) = earlier {
            let (_, data) = self.state.signals.remove(position);
            self.state.step_mut(at).outcome.result.output = data;
            self.enter(at, Phase::Judge);
        }
        Ok(())
    }

    fn signalled(&mut self, name: &str, data: &crate::Json) {
        let waits = |at: &&StepNo| matches!(&self.state.step(**at).phase, Phase::Waiting { signal: Some(signal), .. } if signal == name);
        match self.state.agenda.waiting.iter().find(waits).copied() {
            Some(at) => {
                self.state.step_mut(at).outcome.result.output = data.clone();
                self.enter(at, Phase::Judge);
            }
            None => self.state.signals.push((name.to_owned(), data.clone())),
        }
    }

    fn signal_refused(&mut self, name: &str) -> Result<(), Error> {
        let kept = self.state.signals.iter().position(|(known, _)| known == name);
        let kept = kept.ok_or_else(|| Error(format!("no signal `{name}` is kept")))?;
        self.state.signals.remove(kept);
        Ok(())
    }

    /// A timer of a step that has moved on means nothing any more, and neither does one from before it did.
    fn timer_fired(&mut self, timer: &TimerId) {
        self.state.account.deadline_passed |= *timer == TimerId::Deadline;
        let Some(at) = timer.path().and_then(|path| self.state.number(path)) else { return };
        let now = self.state.now;
        match (timer, &self.state.step(at).phase) {
            (TimerId::UnitDeadline(_), Phase::Inside) => self.late(at),
            (TimerId::Retry(_), Phase::Retry { due }) if *due <= now => self.enter(at, Phase::Ready),
            (TimerId::Wait(_), Phase::Waiting { due: Some(due), signal }) if *due <= now => {
                let late = signal.is_some();
                let step = self.state.step_mut(at);
                step.outcome.error =
                    late.then(|| event::Failure::new(ErrorClass::Timeout, "the signal did not come in time"));
                self.enter(at, Phase::Judge);
            }
            (TimerId::Gate(_), Phase::Question(question)) if question.due.is_some_and(|due| due <= now) => {
                let answered = Answered { kind: question.kind, answer: Answer::TimedOut };
                self.state.step_mut(at).answered = Some(Box::new(answered));
                self.enter(at, Phase::Judge);
            }
            (TimerId::Lease(_), Phase::Hosted(hosted))
                if hosted.lease.as_ref().is_some_and(|lease| lease.until <= now) =>
            {
                self.offer_again(at);
            }
            _ => {}
        }
    }

    fn body_opened(
        &mut self,
        path: &StepPath,
        index: u32,
        bound: &indexmap::IndexMap<String, crate::Json>,
    ) -> Result<(), Error> {
        let at = self.undecided(path)?;
        let step = self.state.step(at).step;
        let inner = self.index.inner(step);
        let which = if inner.len() > 1 { index as usize } else { 0 };
        let body = *inner.get(which).ok_or_else(|| Error(format!("`{path}` has no body {index}")))?;
        let now = self.state.now;
        let keeps = matches!(self.plan.step(step).form, Form::Repeat { .. });
        let before = self.state.step(at).container.children.last().copied().filter(|_| keeps);
        if before.is_some() {
            self.again(self.state.step(at).body, path);
        }
        self.enter(at, Phase::Inside);
        let from = self.earlier_body(at, body, index);
        let child = self.open_body(body, Some(at), index, from);
        if let Some(before) = before {
            self.state.body_mut(child).names = self.state.body(before).names.clone();
        }
        self.state.body_mut(child).names.extend(bound.iter().map(|(name, value)| (name.clone(), value.clone())));
        let step = self.state.step_mut(at);
        step.started_at.get_or_insert(now);
        step.container.children.push(child);
        step.container.opened += 1;
        self.wants(at);
        Ok(())
    }

    pub(super) fn open_body(
        &mut self,
        body: BodyIx,
        owner: Option<StepNo>,
        index: u32,
        from: Option<BodyNo>,
    ) -> BodyNo {
        let plan_body = self.plan.body(body);
        let slots = plan_body
            .steps
            .iter()
            .map(|step| Slot { pending: number(self.plan.step(*step).deps.len()), ..Slot::default() });
        let at = BodyNo(number(self.state.bodies.len()));
        let mut account = self.account_for(body);
        if let (Some(account), Some(before)) = (&mut account, self.earlier_account(from)) {
            *account = before;
        }
        let after = owner.is_some_and(|owner| self.opens_after(owner));
        if account.is_some() {
            self.state.agenda.limited.insert(at);
        }
        self.state.bodies.push(BodyInst {
            body,
            unit: plan_body.unit,
            owner,
            index,
            names: indexmap::IndexMap::new(),
            slots: slots.collect(),
            live: 0,
            failed: false,
            verdict: None,
            ended: false,
            account,
            idle_rounds: 0,
            from,
            after,
            fresh: false,
        });
        match plan_body.order {
            Order::Machine { start } => drop(self.reach(at, start)),
            Order::Graph => {
                for step in plan_body.steps.iter().filter(|step| self.plan.step(**step).deps.is_empty()) {
                    self.reach(at, *step);
                }
            }
        }
        at
    }

    /// A step whose turn it is.
    pub(super) fn reach(&mut self, body: BodyNo, step: StepIx) -> StepNo {
        let at = self.add(body, step);
        self.revived(at);
        self.enter(at, Phase::Ready);
        at
    }

    /// A step that its body counts on from now on.
    pub(super) fn revived(&mut self, at: StepNo) {
        let step = self.state.step_mut(at);
        if !std::mem::replace(&mut step.live, true) {
            let body = step.body;
            self.state.body_mut(body).live += 1;
        }
    }

    pub(super) fn add(&mut self, body: BodyNo, step: StepIx) -> StepNo {
        let position = self.index.position(step);
        let now = self.state.now;
        let slot = &mut self.state.body_mut(body).slots[position];
        if let Some(spare) = slot.spare.take() {
            slot.current = Some(spare);
            let inst = self.state.step_mut(spare);
            *inst = StepInst::new(step, inst.path.clone(), body, now);
            self.takes_early_hints(spare);
            let visits = self.state.body(body).slots[position].visits;
            self.with_origin(spare, visits);
            return spare;
        }
        let at = StepNo(number(self.state.steps.len()));
        let order = self.plan.body(self.state.body(body).body).order;
        let slot = &mut self.state.body_mut(body).slots[position];
        slot.visits += 1;
        slot.current = Some(at);
        let visits = slot.visits;
        if matches!(order, Order::Machine { .. }) {
            self.for_accounts(body, |account| account.visits_most = account.visits_most.max(visits));
        }
        let path = self.path(body, &self.plan.step(step).id, visits);
        if visits > 1 {
            self.again(body, &path);
        }
        self.state.by_path.insert(path.to_string(), at);
        self.state.steps.push(StepInst::new(step, path, body, now));
        self.takes_early_hints(at);
        self.with_origin(at, visits);
        at
    }

    fn path(&self, body: BodyNo, id: &StepId, visit: u32) -> StepPath {
        let body = self.state.body(body);
        let path = match body.owner {
            None => StepPath::root(id.clone()),
            Some(owner) => {
                let indexed = !matches!(self.plan.step(self.state.step(owner).step).form, Form::Workflow { .. });
                self.state.step(owner).path.child(indexed.then_some(body.index), id.clone())
            }
        };
        path.visited(visit)
    }
}

/// Whether a step has to wait until fewer are running: leaf work, and looking for files.
pub(super) fn needs_permit(form: &Form) -> bool {
    matches!(form, Form::Work(_) | Form::ForEach { items: Items::Glob(_), .. })
}

pub(super) fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

pub(super) fn is_ok(ended: Ended) -> bool {
    matches!(ended, Ended::Succeeded | Ended::Skipped)
}
