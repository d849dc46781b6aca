//! `on_exceed: degrade`: outputs are shortened instead of failing a run that is over its limit on tokens or money.

use super::Planner;
use crate::Json;
use crate::event::{End, Ended};
use crate::plan::OnExceed;
use crate::state::{Payer, State, StepNo};

/// What a shortened text ends with.
const MARK: &str = "\n[degraded]";

/// The end of a step that went well: with its output as it is, or shortened.
pub(super) fn ended(planner: Planner<'_>, state: &State, at: StepNo) -> End {
    let plain = End::plain(Ended::Succeeded);
    match state.shortens(planner.plan, at) {
        Some(degrade) => {
            End { degraded: true, output: shortened(&state.step(at).outcome.result.output, degrade.chars), ..plain }
        }
        None => plain,
    }
}

/// Whether another attempt may begin although a limit is reached.
pub(super) fn goes_on(payer: &Payer<'_>) -> bool {
    payer.limits.on_exceed == OnExceed::Degrade && !payer.account.over_budget
}

/// A text that is longer, cut; everything else stays what it is, because its readers depend on its shape.
fn shortened(output: &Json, chars: u64) -> Option<Json> {
    let text = output.as_str()?;
    let (end, _) = text.char_indices().nth(usize::try_from(chars).unwrap_or(usize::MAX))?;
    Some(Json::String(format!("{}{MARK}", &text[..end])))
}
