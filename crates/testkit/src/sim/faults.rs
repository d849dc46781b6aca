//! Chooses what happens next, and what goes wrong: outcomes, latencies, duplicates, people.

use longhaul_core::consent::Terms;
use longhaul_core::decide::Start;
use longhaul_core::event::{
    Amount, Answer, BudgetChange, Driver, Envelope, Event, Failure, QuestionKind, Result as Left, RunStarted, Usage,
    VERSION,
};
use longhaul_core::path::StepPath;
use longhaul_core::plan::{ErrorClass, Outcome, Plan, SEMANTICS, WorkKind};
use longhaul_core::state::Phase;
use longhaul_core::task::TimerId;
use serde_json::json;

use super::Sim;

const CLASSES: [ErrorClass; 6] = [
    ErrorClass::Transient,
    ErrorClass::RateLimit,
    ErrorClass::Timeout,
    ErrorClass::Invalid,
    ErrorClass::Lost,
    ErrorClass::Failed,
];
/// How often a failed run is started again.
const REOPENED_MAX: u32 = 3;

pub(crate) fn started(plan: &Plan, driver: Driver) -> Event {
    Event::RunStarted(RunStarted {
        workflow: plan.main().name.clone(),
        plan: "sim".to_owned(),
        semantics: SEMANTICS,
        task: "sim".to_owned(),
        inputs: Default::default(),
        context: Default::default(),
        trigger: None,
        owner: None,
        approvals: None,
        consent: Some(Terms { granted: true, ..Terms::default() }),
        forked: None,
        driver,
        source: None,
    })
}

impl Sim {
    /// The next event; `None` when the run is over for good.
    pub(super) fn next_event(&mut self) -> Option<Event> {
        if let Some(attempt) = self.state.on_failure.open_attempt().filter(|_| !self.chance.one_in(4)) {
            return Some(self.on_failure(attempt));
        }
        if let Some(finished) = &self.state.finished {
            let again = self.reopened < REOPENED_MAX && finished.outcome != Outcome::Success;
            return again.then(|| self.reopening()).flatten();
        }
        if self.state.paused && !(self.is_patient() && self.chance.one_in(3)) {
            return Some(Event::Unpaused { by: None });
        }
        if self.state.stopped.is_some() && !(self.is_patient() && self.chance.one_in(3)) {
            return Some(Event::RunResumed { by: None });
        }
        if self.is_patient() && self.chance.one_in(60) {
            return Some(Event::RunStopped { by: Some("ana".to_owned()) });
        }
        if self.is_patient() && self.chance.one_in(40) {
            return Some(Event::CancelRequested { by: None, reason: None });
        }
        if self.is_patient() && self.chance.one_in(40) {
            return Some(Event::Paused { by: None });
        }
        if self.is_patient() && self.chance.one_in(25) {
            return Some(self.steering());
        }
        self.happening()
    }

    /// A person tells a step something or changes a limit. The planner must refuse what does not fit.
    fn steering(&mut self) -> Event {
        let steps = self.state.steps();
        if self.chance.one_in(3) {
            let change = match self.chance.below(3) {
                0 => BudgetChange { usd: Some(Amount::By(0.25)), ..BudgetChange::default() },
                1 => BudgetChange { tokens: Some(Amount::To(500)), ..BudgetChange::default() },
                _ => BudgetChange { steps: Some(Amount::By(3)), ..BudgetChange::default() },
            };
            return Event::BudgetChanged { change, by: None };
        }
        let path = steps[self.chance.clone().index(steps.len())].path.clone();
        let path = if self.chance.one_in(4) { path.visited(2) } else { path };
        Event::HintGiven { path, text: "look again".to_owned(), by: None }
    }

    /// The work after a failure ends, fails, or is taken over because its worker is gone.
    fn on_failure(&mut self, attempt: u32) -> Event {
        let error = self.chance.one_in(4).then(|| Failure::new(ErrorClass::Transient, "no network"));
        let event = match self.is_patient() && self.chance.one_in(3) {
            true => Event::OnFailureStarted { attempt: attempt + 1 },
            false => Event::OnFailureEnded { attempt, error },
        };
        self.delivered.push(event.clone());
        event
    }

    fn happening(&mut self) -> Option<Event> {
        let timers = self.state.timers(&self.plan);
        let waits: Vec<(StepPath, Phase)> =
            self.state.waiting().map(|step| (step.path.clone(), step.phase.clone())).collect();
        let (open, waiting) = (self.open.len(), waits.len());
        if open > 0 && (waiting == 0 || self.chance.one_in(2)) {
            let at = self.chance.index(open);
            if let Some(kept) = self.files_kept(at).filter(|_| self.chance.one_in(4)) {
                return Some(kept);
            }
            if let Some(seen) = self.session(at) {
                return Some(seen);
            }
            let start = self.open.remove(at);
            let event = self.outcome(&start);
            self.delivered.push(event.clone());
            return Some(event);
        }
        let at = self.chance.index(waiting);
        let (path, phase) = waits.get(at)?.clone();
        match phase {
            Phase::Question(_) => {
                let due = timers.iter().find(|(timer, _)| *timer == TimerId::Gate(path.clone()));
                match due.filter(|_| self.chance.one_in(3)) {
                    Some((timer, due)) => Some(self.fire(timer.clone(), *due)),
                    None => Some(self.answer(path)),
                }
            }
            Phase::Hosted(_) => Some(self.hosted(&path)),
            Phase::Queued(_) => Some(self.waits_for_worker(path)),
            Phase::Waiting { signal: Some(name), .. } if !self.chance.one_in(4) || timers.is_empty() => {
                // Some steps wait for a number; the planner must refuse any other value.
                let data = if self.is_patient() && self.chance.one_in(3) { json!("none") } else { json!({"n": 1}) };
                Some(Event::Signalled { name, data, by: None })
            }
            _ => {
                let (timer, due) = timers.into_iter().min_by_key(|(_, due)| *due)?;
                Some(self.fire(timer, due))
            }
        }
    }

    fn fire(&mut self, timer: TimerId, due: i64) -> Event {
        self.now = self.now.max(due);
        Event::TimerFired { timer }
    }

    fn outcome(&mut self, start: &Start) -> Event {
        if start.kind == WorkKind::Prompt {
            return self.turn_ended(start);
        }
        let (path, attempt) = (start.path.clone(), start.attempt);
        let word = if self.is_patient() && self.chance.one_in(3) { "bad" } else { "good" };
        let output = if start.kind == WorkKind::Glob { json!(["x.md", "y.md"]) } else { json!(word) };
        let usage = self.chance.one_in(3).then(|| Usage {
            input_tokens: 7,
            output_tokens: 3,
            usd: 1.0 / (3.0 + self.chance.below(9_999) as f64),
            ..Usage::default()
        });
        let result = Left { output, usage, exit_code: Some(0), carried: self.carried(), ..Left::default() };
        if self.is_patient() && self.chance.one_in(8) {
            return Event::AttemptStopped { path, attempt, usage };
        }
        let stopped = self.state.cancelling && self.chance.one_in(2);
        if stopped || (self.is_patient() && self.chance.one_in(4)) {
            let error = Failure::new(*self.chance.pick(&CLASSES), "it did not work");
            return Event::AttemptFailed { path, attempt, error, result };
        }
        Event::AttemptSucceeded { path, attempt, result }
    }

    fn answer(&mut self, path: StepPath) -> Event {
        let kind = self.state.find(&path).and_then(|step| step.asks()).map(|question| question.kind);
        let patient = self.is_patient();
        // Not every answer is valid for every question. The planner must refuse an invalid one, and ask again.
        let answer = match self.chance.below(if patient { 7 } else { 2 }) {
            2 => Answer::Deny { reason: None },
            3 => Answer::Edit { value: self.good(&path) },
            4 => Answer::Skip,
            5 => Answer::Value { value: json!("retry") },
            6 => Answer::Value { value: json!(7) },
            _ if kind == Some(QuestionKind::Question) => Answer::Value { value: json!("good") },
            // Otherwise a step without remaining rounds would ask again and again.
            _ if !patient && kind == Some(QuestionKind::Operator) => Answer::Edit { value: self.good(&path) },
            _ => Answer::Approve,
        };
        Event::answered(path, answer)
    }

    /// Starts a run again: from the failed steps, or from any step with a result.
    fn reopening(&mut self) -> Option<Event> {
        self.reopened += 1;
        let steps = self.state.steps();
        let from = steps[self.chance.clone().index(steps.len())].path.clone();
        let named = Event::Reopened { from: Some(from), by: None };
        let plain = Event::Reopened { from: None, by: None };
        let order = if self.chance.one_in(3) { [named, plain] } else { [plain, named] };
        order.into_iter().find(|event| {
            let envelope = Envelope { v: VERSION, seq: self.state.seq + 1, at: self.now, event: event.clone() };
            self.state.clone().apply(&self.plan, &self.index, &envelope).is_ok()
        })
    }

    /// Sends an event that does not fit: the planner must refuse it and change nothing.
    pub(super) fn disturb(&mut self) -> Result<(), String> {
        let stale: Vec<Event> = self.delivered.iter().rev().take(5).cloned().collect();
        for event in stale.into_iter().chain([Event::RunStarted(match started(&self.plan, self.driver) {
            Event::RunStarted(started) => started,
            other => return Err(format!("{other:?} does not start a run")),
        })]) {
            let envelope = Envelope { v: VERSION, seq: self.state.seq + 1, at: self.now + 5_000, event };
            let mut after = self.state.clone();
            if after.apply(&self.plan, &self.index, &envelope).is_ok() {
                return Err(format!("a second delivery was accepted: {:?}", envelope.event));
            }
            if after != self.state {
                return Err(format!("what was refused changed the state: {:?}", envelope.event));
            }
        }
        Ok(())
    }
}
