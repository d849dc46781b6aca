//! Sub-workflows with limits of their own.
//!
//! **Invariant:** inside a sub-workflow no more is running at once, and no more steps are begun, than it says.

use longhaul_core::decide::Planner;
use longhaul_core::plan::{Form, OnExceed};
use longhaul_core::state::{Phase, State, StepInst};

pub(super) fn holds(planner: Planner<'_>, state: &State, step: &StepInst) -> Result<(), String> {
    let Form::Workflow { unit, .. } = &planner.plan.step(step.step).form else { return Ok(()) };
    let limits = &planner.plan.unit(*unit).limits;
    let at_once = state.open_attempts().chain(state.handed()).filter(|open| open.path.is_inside(&step.path)).count();
    if step.phase == Phase::Inside && limits.parallel.is_some_and(|most| at_once > most as usize) {
        return Err(format!("`{}` does {at_once} things at once, which it does not allow", step.path));
    }
    let begun = || state.steps().iter().filter(|inner| inner.attempts > 0 && inner.path.is_inside(&step.path)).count();
    let strict = matches!(limits.on_exceed, OnExceed::Fail | OnExceed::Degrade);
    match limits.steps.filter(|_| strict).is_some_and(|most| begun() as u64 > most) {
        true => Err(format!("`{}` has begun more steps than it allows", step.path)),
        false => Ok(()),
    }
}
