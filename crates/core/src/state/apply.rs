//! Applying events.

use super::{BodyInst, BodyNo, Finished, Phase, Question, Slot, State, StepInst, StepNo};
use crate::event::{self, Answer, Ended, Envelope, Event};
use crate::id::StepId;
use crate::index::Index;
use crate::path::StepPath;
use crate::plan::{BodyIx, ErrorClass, Form, Order, Plan, StepIx};

/// An event that can not follow from what came before: a bug, a foreign history, or a late result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Illegal(pub String);

impl State {
    /// Takes an event in.
    pub fn apply(&mut self, plan: &Plan, index: &Index, envelope: &Envelope) -> Result<(), Illegal> {
        if envelope.seq != self.seq + 1 {
            return Err(Illegal(format!("event {} can not follow event {}", envelope.seq, self.seq)));
        }
        self.now = self.now.max(envelope.at);
        Apply { plan, index, state: self }.event(&envelope.event)?;
        self.seq = envelope.seq;
        Ok(())
    }
}

pub(super) struct Apply<'a> {
    pub(super) plan: &'a Plan,
    pub(super) index: &'a Index,
    pub(super) state: &'a mut State,
}

impl Apply<'_> {
    fn event(&mut self, event: &Event) -> Result<(), Illegal> {
        match event {
            Event::RunStarted(started) => {
                self.state.started = Some(started.clone());
                self.state.started_at = self.state.now;
                self.open_body(self.plan.main().body, None, 0);
            }
            Event::AttemptStarted { path, attempt } => self.attempt_started(path, *attempt)?,
            Event::AttemptSucceeded { path, attempt, result } => self.attempt_ended(path, *attempt, result, None)?,
            Event::AttemptFailed { path, attempt, error, result } => {
                self.attempt_ended(path, *attempt, result, Some(error))?;
            }
            Event::RetryScheduled { path, due, .. } => self.phase(path, Phase::Retry { due: *due })?,
            Event::StepSkipped { path, why } => {
                let at = self.find(path)?;
                self.skip(at, *why);
            }
            Event::ItemsFound { path, items } => {
                let at = self.find(path)?;
                self.off_agenda(at);
                let step = self.state.step_mut(at);
                step.items.clone_from(items);
                step.phase = Phase::Inside;
                self.state.agenda.push_back(at);
            }
            Event::BodyOpened { path, index, bound } => self.body_opened(path, *index, bound)?,
            Event::QuestionAsked { path, kind, text, choices, schema, due } => {
                let question = Question {
                    kind: *kind,
                    text: text.clone(),
                    choices: choices.clone(),
                    schema: schema.clone(),
                    due: *due,
                    asked_at: self.state.now,
                };
                self.phase(path, Phase::Question)?;
                let at = self.find(path)?;
                let now = self.state.now;
                let step = self.state.step_mut(at);
                step.question = Some(question);
                step.started_at.get_or_insert(now);
            }
            Event::Answered { path, answer, .. } => self.answered(path, answer)?,
            Event::WaitStarted { path, due, signal } => self.wait_started(path, *due, signal.as_deref())?,
            Event::TimerFired { timer } => self.timer_fired(timer),
            Event::Signalled { name, data, .. } => self.signalled(name, data),
            Event::StepEnded { path, end } => {
                let at = self.find(path)?;
                self.step_ended(at, end);
            }
            Event::Routed { path, to } => {
                let at = self.find(path)?;
                self.state.step_mut(at).chosen = Some(to.clone());
            }
            Event::Rewound { path, to } => self.rewound(path, to)?,
            Event::LimitReached { limit } => self.state.limits_reached.push(limit.clone()),
            Event::Refused { .. } => {}
            Event::CancelRequested { .. } => self.state.cancelling = true,
            Event::Paused { .. } => self.state.paused = true,
            Event::Unpaused { .. } => self.state.paused = false,
            Event::Reopened { from, .. } => self.reopen(from.as_ref())?,
            Event::RunFinished { outcome, message, outputs } => {
                let at = self.state.now;
                self.state.finished =
                    Some(Finished { outcome: *outcome, message: message.clone(), outputs: outputs.clone(), at });
                self.state.agenda.clear();
            }
        }
        Ok(())
    }

    pub(super) fn find(&self, path: &StepPath) -> Result<StepNo, Illegal> {
        self.state.number(path).ok_or_else(|| Illegal(format!("no step `{path}` was reached")))
    }

    /// Moves a step on; it needs no decision any more.
    fn phase(&mut self, path: &StepPath, phase: Phase) -> Result<(), Illegal> {
        let at = self.find(path)?;
        self.off_agenda(at);
        if matches!(phase, Phase::Retry { .. } | Phase::Question | Phase::Waiting { .. }) {
            self.state.waiting.insert(at);
        } else {
            self.state.waiting.remove(&at);
        }
        self.state.step_mut(at).phase = phase;
        Ok(())
    }

    /// Takes a step off the list it is on; it is nearly always the first.
    pub(super) fn off_agenda(&mut self, at: StepNo) {
        let step = self.state.step(at);
        let queued = step.phase == Phase::Ready && matches!(self.plan.step(step.step).form, Form::Work(_));
        let list = if queued { &mut self.state.queue } else { &mut self.state.agenda };
        if list.front() == Some(&at) {
            list.pop_front();
        } else if let Some(position) = list.iter().position(|other| *other == at) {
            list.remove(position);
        }
    }

    pub(super) fn judge(&mut self, at: StepNo) {
        self.state.waiting.remove(&at);
        self.state.step_mut(at).phase = Phase::Judge;
        self.state.agenda.push_back(at);
    }

    fn attempt_started(&mut self, path: &StepPath, attempt: u32) -> Result<(), Illegal> {
        self.phase(path, Phase::Attempt)?;
        let at = self.find(path)?;
        let now = self.state.now;
        let step = self.state.step_mut(at);
        if attempt != step.attempts + 1 {
            return Err(Illegal(format!("attempt {attempt} of `{path}` can not follow attempt {}", step.attempts)));
        }
        step.attempts = attempt;
        step.started_at = Some(now);
        (step.error, step.answer, step.question) = (None, None, None);
        self.state.running += 1;
        if attempt == 1 {
            self.state.steps_executed += 1;
            self.state.steps_idle += 1;
        }
        Ok(())
    }

    fn attempt_ended(
        &mut self,
        path: &StepPath,
        attempt: u32,
        result: &event::Result,
        error: Option<&event::Failure>,
    ) -> Result<(), Illegal> {
        let at = self.find(path)?;
        let step = self.state.step_mut(at);
        if step.phase != Phase::Attempt || step.attempts != attempt {
            return Err(Illegal(format!("attempt {attempt} of `{path}` is not open")));
        }
        step.result = result.clone();
        step.error = error.cloned();
        step.lost += u32::from(error.is_some_and(|error| error.class == ErrorClass::Lost));
        if let Some(usage) = result.usage {
            step.usage += usage;
            self.state.usage += usage;
        }
        self.state.running = self.state.running.saturating_sub(1);
        self.judge(at);
        Ok(())
    }

    fn answered(&mut self, path: &StepPath, answer: &Answer) -> Result<(), Illegal> {
        let at = self.find(path)?;
        if self.state.step(at).phase != Phase::Question {
            return Err(Illegal(format!("`{path}` asks nothing")));
        }
        self.state.step_mut(at).answer = Some(answer.clone());
        self.judge(at);
        Ok(())
    }

    fn wait_started(&mut self, path: &StepPath, due: Option<i64>, signal: Option<&str>) -> Result<(), Illegal> {
        self.phase(path, Phase::Waiting { due, signal: signal.map(str::to_owned) })?;
        let at = self.find(path)?;
        let earlier = signal.and_then(|name| self.state.signals.iter().position(|(known, _)| known == name));
        if let Some(position) = earlier {
            let (_, data) = self.state.signals.remove(position);
            self.state.step_mut(at).result.output = data;
            self.judge(at);
        }
        Ok(())
    }

    fn signalled(&mut self, name: &str, data: &crate::Json) {
        let waits =
            |step: &StepInst| matches!(&step.phase, Phase::Waiting { signal: Some(signal), .. } if signal == name);
        match self.state.steps.iter().position(waits) {
            Some(position) => {
                let at = StepNo(number(position));
                self.state.step_mut(at).result.output = data.clone();
                self.judge(at);
            }
            None => self.state.signals.push((name.to_owned(), data.clone())),
        }
    }

    /// A timer of a step that has moved on means nothing any more.
    fn timer_fired(&mut self, timer: &str) {
        let Some((kind, path)) = timer.split_once(':') else {
            self.state.deadline_passed |= timer == "deadline";
            return;
        };
        let Some(at) = self.state.by_path.get(path).copied() else { return };
        match (kind, &self.state.step(at).phase) {
            ("retry", Phase::Retry { .. }) => {
                self.line_up(at);
            }
            ("wait", Phase::Waiting { signal, .. }) => {
                let late = signal.is_some();
                let step = self.state.step_mut(at);
                step.error = late.then(|| event::Failure::new(ErrorClass::Timeout, "the signal did not come in time"));
                self.judge(at);
            }
            ("gate", Phase::Question) => {
                self.state.step_mut(at).answer = Some(Answer::TimedOut);
                self.judge(at);
            }
            _ => {}
        }
    }

    fn body_opened(
        &mut self,
        path: &StepPath,
        index: u32,
        bound: &indexmap::IndexMap<String, crate::Json>,
    ) -> Result<(), Illegal> {
        let at = self.find(path)?;
        self.off_agenda(at);
        let step = self.state.step(at).step;
        let inner = self.index.inner(step);
        let which = if inner.len() > 1 { index as usize } else { 0 };
        let body = *inner.get(which).ok_or_else(|| Illegal(format!("`{path}` has no body {index}")))?;
        let keeps = matches!(self.plan.step(step).form, Form::Repeat { .. });
        let before = self.state.step(at).children.last().copied().filter(|_| keeps);
        let child = self.open_body(body, Some(at), index);
        if let Some(before) = before {
            self.state.body_mut(child).names = self.state.body(before).names.clone();
        }
        self.state.body_mut(child).names.extend(bound.iter().map(|(name, value)| (name.clone(), value.clone())));
        let step = self.state.step_mut(at);
        step.phase = Phase::Inside;
        step.children.push(child);
        step.opened = step.opened.max(index + 1);
        self.wants(at);
        Ok(())
    }

    pub(super) fn open_body(&mut self, body: BodyIx, owner: Option<StepNo>, index: u32) -> BodyNo {
        let plan_body = self.plan.body(body);
        let slots = plan_body
            .steps
            .iter()
            .map(|step| Slot { pending: number(self.plan.step(*step).deps.len()), ..Slot::default() });
        let at = BodyNo(number(self.state.bodies.len()));
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
        self.state.body_mut(body).live += 1;
        self.line_up(at);
        at
    }

    /// Puts a step where decisions are made: leaf work needs a slot, everything else only thought.
    pub(super) fn line_up(&mut self, at: StepNo) {
        self.state.waiting.remove(&at);
        self.state.step_mut(at).phase = Phase::Ready;
        match self.plan.step(self.state.step(at).step).form {
            Form::Work(_) => self.state.queue.push_back(at),
            _ => self.state.agenda.push_back(at),
        }
    }

    pub(super) fn add(&mut self, body: BodyNo, step: StepIx) -> StepNo {
        let position = self.index.position(step);
        let at = StepNo(number(self.state.steps.len()));
        let slot = &mut self.state.body_mut(body).slots[position];
        slot.visits += 1;
        slot.current = Some(at);
        let visits = slot.visits;
        self.state.visits_most = self.state.visits_most.max(visits);
        let path = self.path(body, &self.plan.step(step).id, visits);
        self.state.by_path.insert(path.to_string(), at);
        let since = self.state.now;
        self.state.steps.push(StepInst {
            step,
            path,
            phase: Phase::Ready,
            ended: None,
            ok: false,
            attempts: 0,
            result: event::Result::default(),
            error: None,
            choice: None,
            defaulted: false,
            since,
            started_at: None,
            ended_at: None,
            question: None,
            usage: event::Usage::default(),
            body,
            dead: false,
            lost: 0,
            answer: None,
            chosen: None,
            items: Vec::new(),
            opened: 0,
            closed: 0,
            children: Vec::new(),
            left: Vec::new(),
        });
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

pub(super) fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

pub(super) fn is_ok(ended: Ended) -> bool {
    matches!(ended, Ended::Succeeded | Ended::Skipped)
}
