//! How an agent continues whose turn failed. Without an answer there is nothing left to try.

use serde_json::Map;

use super::{Decision, Planner};
use crate::Json;
use crate::compat;
use crate::event::{Event, Failure, QuestionKind};
use crate::plan::{Arg, Compat, ErrorClass, Form, OnError, OnInterrupt, OnItemError, Retry, Step};
use crate::recovery::{self, Recovery, RecoveryAction, Rules};
use crate::state::{State, StepInst, StepNo};

/// So often in a row a pause that was asked for is kept to the moment.
const EXACT_WAITS: u32 = 3;

/// The numbers by which a step recovers.
pub(crate) fn rules(planner: Planner<'_>, state: &State, at: StepNo) -> Rules {
    let inst = state.step(at);
    let unit = planner.plan.unit(state.body(inst.body).unit);
    if unit.compat.contains(&Compat::CountedRecovery) {
        let none = Map::new();
        let about = state.started.as_ref().and_then(|started| started.context.agent_settings.as_ref());
        return compat::counted_recovery(about.unwrap_or(&none));
    }
    Rules::native(planner.plan.step(inst.step).retry.as_ref())
}

/// Where the failed turn of an agent leads; `None` if nothing is left to try.
pub(super) fn recover(planner: Planner<'_>, state: &State, at: StepNo, error: &Failure) -> Option<Decision> {
    let (inst, rules) = (state.step(at), rules(planner, state, at));
    let turn = FailedTurn { planner, state, inst, rules: &rules, error };
    match error.class {
        ErrorClass::Question => Some(turn.ask()),
        // The limit ended it, and decides whether it continues.
        ErrorClass::Killed if super::budget::is_out_of_money(planner, state, at) => {
            Some(scheduled(inst, turn.on(), state.now))
        }
        class => turn.action(class).map(|(action, due)| scheduled(inst, action, due)),
    }
}

/// The session was shortened: the prompt is sent again.
pub(super) fn compacted(state: &State, at: StepNo) -> Option<Decision> {
    let inst = state.step(at);
    let compacting = matches!(inst.recovery.as_ref()?.action, Some(RecoveryAction::Compact));
    compacting.then(|| scheduled(inst, RecoveryAction::Resend, state.now))
}

/// After a person has answered or looked: the conversation continues where there is one.
pub(super) fn resumed(step: &Step, inst: &StepInst, now: i64, say: Option<&str>) -> Decision {
    let session = inst.recovery.as_ref().is_some_and(|recovery| recovery.resumable().is_some());
    let lost = inst.outcome.error.as_ref().is_some_and(|error| error.class == ErrorClass::Lost);
    let action = match say {
        None if lost && step.on_interrupt == OnInterrupt::Restore => {
            RecoveryAction::Restore { before: inst.restorable() }
        }
        Some(say) => RecoveryAction::Answer { say: recovery::answered(say) },
        None if session => RecoveryAction::Continue,
        None => RecoveryAction::Again,
    };
    scheduled(inst, action, now)
}

pub(super) fn scheduled(inst: &StepInst, action: RecoveryAction, due: i64) -> Decision {
    let (path, attempt) = (inst.path.clone(), inst.attempts + 1);
    Decision::of([Event::RetryScheduled { path, attempt, due, recovery: Some(action) }])
}

/// Whether the failure of a step would be dealt with by something around it.
pub(super) fn is_tolerated(planner: Planner<'_>, state: &State, at: StepNo) -> bool {
    let mut next = Some(at);
    while let Some(at) = next {
        let inst = state.step(at);
        let step = planner.plan.step(inst.step);
        let items = matches!(step.form, Form::ForEach { on_item_error, .. } if on_item_error != OnItemError::Fail);
        if step.optional || items || !matches!(step.on_error, OnError::Kind | OnError::Fail) {
            return true;
        }
        next = state.body(inst.body).owner;
    }
    false
}

struct FailedTurn<'a> {
    planner: Planner<'a>,
    state: &'a State,
    inst: &'a StepInst,
    rules: &'a Rules,
    error: &'a Failure,
}

impl FailedTurn<'_> {
    fn recovery(&self) -> Recovery {
        self.inst.recovery.as_deref().cloned().unwrap_or_default()
    }

    fn step(&self) -> &Step {
        self.planner.plan.step(self.inst.step)
    }

    fn action(&self, class: ErrorClass) -> Option<(RecoveryAction, i64)> {
        let own = match class {
            ErrorClass::Lost => Some((self.over(), self.state.now)),
            // Without an answer it is the step that is wrong.
            ErrorClass::Invalid if self.inst.outcome.result.output.is_null() || self.error.needs_person => return None,
            ErrorClass::Invalid => self.repair().or_else(|| self.reframe()),
            ErrorClass::Empty => self.nudge().or_else(|| self.pause()),
            ErrorClass::UsageLimit => self.wait(),
            ErrorClass::RateLimit if self.error.retry_after_ms.is_some() => self.wait(),
            ErrorClass::RateLimit
            | ErrorClass::Transient
            | ErrorClass::Overload
            | ErrorClass::Hung
            | ErrorClass::Killed
            | ErrorClass::Timeout => self.pause(),
            ErrorClass::Overflow => self.compact().or_else(|| self.reframe()),
            ErrorClass::Failed | ErrorClass::Any => self.asked_for().or_else(|| self.reframe_error()),
            ErrorClass::Refused => self.reframe_error(),
            ErrorClass::Auth | ErrorClass::Billing | ErrorClass::UnknownModel | ErrorClass::Question => None,
        };
        // Where the rules reframe everything, they do so too when its tries are used up.
        let transient = !matches!(class, ErrorClass::Auth | ErrorClass::Billing | ErrorClass::UnknownModel);
        own.or_else(|| if transient { self.reframe_error() } else { None }).or_else(|| self.fall_back())
    }

    /// How an interrupted turn is continued.
    fn over(&self) -> RecoveryAction {
        match self.step().on_interrupt {
            OnInterrupt::Continue => self.on(),
            OnInterrupt::Restore => RecoveryAction::Restore { before: self.inst.restorable() },
        }
    }

    /// The interrupted conversation, or all over again.
    fn on(&self) -> RecoveryAction {
        let resumable = self.recovery().resumable().is_some() && !self.rules.per_turn;
        if resumable { RecoveryAction::Continue } else { RecoveryAction::Again }
    }

    fn repair(&self) -> Option<(RecoveryAction, i64)> {
        let answer = &self.inst.outcome.result.output;
        let answer = answer.as_str().map_or_else(|| answer.to_string(), str::to_owned);
        let schema = self.step().output.schema.as_ref();
        let say = recovery::fix_up(&self.error.message, &answer, schema);
        (self.recovery().repairs < self.rules.repairs).then_some((RecoveryAction::Repair { say }, self.state.now))
    }

    fn nudge(&self) -> Option<(RecoveryAction, i64)> {
        let first = self.recovery().repairs == 0 && !self.rules.per_turn;
        first.then(|| (RecoveryAction::Repair { say: recovery::EMPTY.to_owned() }, self.state.now))
    }

    fn pause(&self) -> Option<(RecoveryAction, i64)> {
        // A `retry` without a list gives only other numbers.
        let named = |retry: &&Retry| !retry.on.is_empty() || self.rules.per_turn;
        if self.step().retry.as_ref().filter(named).is_some_and(|retry| !covers(retry, self.error.class)) {
            return None;
        }
        let tries = self.recovery().pauses;
        let usual_ms = self.rules.pause_ms(tries, seed(self.inst));
        let ms = match self.error.retry_after_ms {
            // At first the other side is taken at its word.
            Some(asked_ms) if tries == 0 && !self.rules.per_turn => asked_ms,
            asked_ms => usual_ms.max(asked_ms.unwrap_or(0)),
        };
        (tries < self.rules.pauses).then(|| (self.on(), later(self.state.now, ms)))
    }

    /// What a `retry` asks for by name.
    fn asked_for(&self) -> Option<(RecoveryAction, i64)> {
        let named = self.step().retry.as_ref().is_some_and(|retry| covers(retry, self.error.class));
        named.then(|| self.pause()).flatten()
    }

    fn wait(&self) -> Option<(RecoveryAction, i64)> {
        if self.prefers_another() && self.next_agent().is_some() {
            return None;
        }
        let known = self.error.retry_after_ms.map(|ms| later(self.state.now, ms));
        let waits = self.recovery().waits;
        // A pause that was asked for is exact; when a share is there again is not, and nobody is believed for ever.
        let exact = self.error.class == ErrorClass::RateLimit && waits < EXACT_WAITS && !self.rules.per_turn;
        let margin_ms = if exact { 0 } else { self.rules.margin_ms };
        let due = self.rules.reset_at(self.state.now, known, margin_ms);
        (waits < self.rules.waits).then_some((RecoveryAction::AwaitReset, due))
    }

    fn compact(&self) -> Option<(RecoveryAction, i64)> {
        let recovery = self.recovery();
        // What could not be shortened just now cannot be shortened.
        let failed = recovery.action == Some(RecoveryAction::Compact);
        let can = recovery.session.as_ref().is_some_and(|session| session.compacts) && !failed;
        (can && recovery.compactions < self.rules.compactions).then_some((RecoveryAction::Compact, self.state.now))
    }

    fn reframe(&self) -> Option<(RecoveryAction, i64)> {
        let framing = self.recovery().framing + 1;
        let due = later(self.state.now, self.rules.framing_pause_ms(framing));
        (framing <= self.rules.framings).then_some((RecoveryAction::Reframe { framing }, due))
    }

    fn reframe_error(&self) -> Option<(RecoveryAction, i64)> {
        self.rules.reframes_errors.then(|| self.reframe()).flatten()
    }

    fn fall_back(&self) -> Option<(RecoveryAction, i64)> {
        self.next_agent().map(|to| (RecoveryAction::Fallback { to }, self.state.now))
    }

    fn next_agent(&self) -> Option<String> {
        let agents = agent_key(self.step(), "fallback")?.as_array()?;
        agents.get(self.recovery().fallbacks as usize)?.as_str().map(str::to_owned)
    }

    /// Whether the workflow would rather continue with another agent than wait.
    fn prefers_another(&self) -> bool {
        agent_key(self.step(), "on_limit").and_then(Json::as_str) == Some("fallback")
    }

    /// It cannot continue without a person's word.
    fn ask(&self) -> Decision {
        Decision::of([Event::QuestionAsked {
            path: self.inst.path.clone(),
            kind: QuestionKind::Question,
            text: self.error.message.clone(),
            choices: Vec::new(),
            schema: None,
            due: None,
            error: Some(self.error.clone()),
            key: None,
        }])
    }
}

/// What the workflow writes about the agent of a step.
pub(super) fn agent_key<'s>(step: &'s Step, key: &str) -> Option<&'s Json> {
    let Form::Work(work) = &step.form else { return None };
    match work.params.get("agent")? {
        Arg::Json(agent) => agent.get(key),
        Arg::Map(agent) => agent.get(key)?.as_json(),
        Arg::Expr(_) | Arg::Text(_) | Arg::List(_) => None,
    }
}

/// Whether a `retry` is about such an error. Without a list it is about what will probably work later.
pub(super) fn covers(retry: &Retry, class: ErrorClass) -> bool {
    let group = match class {
        ErrorClass::Overload | ErrorClass::Empty | ErrorClass::Hung | ErrorClass::Killed => ErrorClass::Transient,
        ErrorClass::UsageLimit => ErrorClass::RateLimit,
        other => other,
    };
    match retry.on.as_slice() {
        [] => matches!(group, ErrorClass::Transient | ErrorClass::RateLimit),
        classes => [class, group, ErrorClass::Any].iter().any(|class| classes.contains(class)),
    }
}

fn later(now: i64, ms: u64) -> i64 {
    now.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX))
}

/// A number that differs from step to step and from attempt to attempt, and is the same whenever it is asked for.
fn seed(inst: &StepInst) -> u64 {
    let bytes = inst.path.to_string().into_bytes().into_iter().chain(inst.attempts.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
