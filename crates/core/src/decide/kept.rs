//! Results that a run keeps when its plan is replaced.
//!
//! **Invariant:** a result is kept only if the step means the same, was given the same, and follows nothing that was done again;
//! or if a person says so.

use super::judge::{left_out_for, refused, succeeded};
use super::start::given_to;
use super::{Decision, Planner, gate};
use crate::event::{End, Ended, Event, QuestionKind, StepMatch};
use crate::plan::{Form, Items, StepIx};
use crate::state::{Earlier, Phase, State, StepInst, StepNo};

/// Why a step that had a result runs again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Redo {
    /// It has no result.
    Unfinished,
    /// A person wants it.
    Asked,
    /// It means something else.
    Changed,
    /// It treats failures in another way, and it had failed.
    Failure,
    /// It follows a step that runs again.
    Follows,
    /// It is given something else.
    Given,
    /// The items that it is in are looked up again.
    Listed,
}

/// Keeps the result of a step whose turn it is, if that still holds.
pub(super) fn keep(planner: Planner<'_>, state: &State, at: StepNo) -> Option<Decision> {
    let inst = state.step(at);
    let old = before(state, inst).filter(|_| inst.is_untried() && !inst.origin.kept)?;
    if redo(planner, state, at).is_some() {
        return None;
    }
    let was = Some(old.path.clone()).filter(|was| *was != inst.path);
    Some(Decision::of([Event::ResultKept { path: inst.path.clone(), was }]))
}

/// Whether a step may have a result to keep: cheap, for the many that have none.
pub(super) fn is_candidate(state: &State, at: StepNo) -> bool {
    let inst = state.step(at);
    inst.origin.from.is_some() && inst.is_untried() && !inst.origin.kept
}

/// Why a step runs again; `None` if it keeps its result.
pub(crate) fn redo(planner: Planner<'_>, state: &State, at: StepNo) -> Option<Redo> {
    let inst = state.step(at);
    let (Some(earlier), Some(old)) = (state.earlier.as_deref(), before(state, inst)) else {
        return Some(Redo::Unfinished);
    };
    let Some(entry) = entry(state, earlier, inst) else { return Some(Redo::Unfinished) };
    if !has_result(planner, inst.step, old) {
        return Some(Redo::Unfinished);
    }
    if Earlier::is_named(&earlier.redo, &inst.path) {
        return Some(Redo::Asked);
    }
    if Earlier::is_named(&earlier.keep, &inst.path) {
        return None;
    }
    let failed = old.outcome.error.is_some() && old.outcome.ended != Some(Ended::Succeeded);
    match () {
        () if entry.changed => Some(Redo::Changed),
        () if entry.errors && (failed || old.outcome.defaulted) => Some(Redo::Failure),
        () if inst.origin.after => Some(Redo::Follows),
        () => (seen(earlier, old) != given_to(planner, state, at)).then_some(Redo::Given),
    }
}

fn seen(earlier: &Earlier, old: &StepInst) -> Option<String> {
    earlier.seen.get(&old.path.to_string()).cloned()
}

fn entry<'s>(state: &State, earlier: &'s Earlier, inst: &StepInst) -> Option<&'s StepMatch> {
    earlier.step_match(state.body(inst.body), inst.step)
}

/// The step under the plan before.
pub(crate) fn before<'s>(state: &'s State, inst: &StepInst) -> Option<&'s StepInst> {
    state.earlier.as_deref()?.steps.get(inst.origin.from?.at())
}

/// Whether a step of a kind that is kept has something to keep.
fn has_result(planner: Planner<'_>, step: StepIx, old: &StepInst) -> bool {
    let over = old.phase == Phase::Done && old.outcome.ok && old.outcome.ended.is_some();
    let asked = |kind: QuestionKind| old.answered.as_ref().is_some_and(|answered| answered.kind == kind);
    let answered = asked(QuestionKind::Approval) || asked(QuestionKind::Question);
    match &planner.plan.step(step).form {
        Form::Work(_) => is_made(old) || (over && (old.attempts > 0 || old.answered.is_some())),
        Form::ForEach { items: Items::Glob(_), .. } => old.container.opened > 0 || (over && old.attempts > 0),
        Form::Approve(_) | Form::Ask { .. } => answered && (over || old.phase == Phase::Judge),
        Form::Wait(_) => over && old.started_at.is_some(),
        _ => false,
    }
}

/// Whether an attempt succeeded and nothing has been decided about it.
fn is_made(old: &StepInst) -> bool {
    old.phase == Phase::Judge && old.attempts > 0 && old.outcome.error.is_none() && old.answered.is_none()
}

/// The end of a step that keeps its result; `None` if something is to be decided as always.
pub(super) fn end(planner: Planner<'_>, state: &State, at: StepNo) -> Option<Decision> {
    let inst = state.step(at);
    let old = before(state, inst).filter(|_| inst.origin.kept)?;
    let error = inst.outcome.error.clone();
    match (&planner.plan.step(inst.step).form, inst.answered.as_deref()) {
        (Form::Approve(_) | Form::Ask { .. }, Some(answered)) => {
            Some(gate::answered(planner, state, at, &answered.answer))
        }
        (_, Some(_)) | (Form::ForEach { .. }, None) => None,
        (_, None) => Some(match (old.outcome.ended, error) {
            (Some(Ended::Failed), Some(error)) => refused(planner, state, at, error),
            (Some(Ended::Skipped), error) => left_out_for(planner, state, at, error),
            (_, error) => {
                let defaulted = old.outcome.defaulted;
                let error = error.filter(|_| defaulted);
                succeeded(planner, state, at, End { defaulted, error, ..End::plain(Ended::Succeeded) })
            }
        }),
    }
}
