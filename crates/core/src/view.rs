//! What people and programs see of a run: folds of plan, state and history.
//!
//! **Invariant:** a view is computed, never stored; what it says follows from the history alone.

mod attempts;
mod brief;
mod cost;
mod critical;
mod forecast;
mod hosted;
mod questions;
mod run;
pub mod shown;
mod step;
mod timeline;
mod trace;

pub use attempts::{Attempt, attempts};
pub use brief::{Brief, Line, brief};
pub use cost::{Cost, Limit, Spent, cost};
pub use critical::critical_path;
pub use forecast::{Forecast, forecast};
pub use hosted::{AutoRan, Held, SILENT_MS, auto_ran, counted, free, held, outputs, results};
pub use questions::{Asked, questions};
pub(crate) use questions::{progress, shown};
pub use run::{Progress, Run, run};
pub use step::{AtWork, Step, steps};
pub use timeline::{Span, Spanned, timeline};
pub use trace::{Trace, Traced, trace};

use crate::event::{Ended, QuestionKind};
use crate::state::{Phase, State, StepInst};

/// The status of a step in a word.
fn status(state: &State, step: &StepInst) -> &'static str {
    match (&step.phase, step.ended) {
        (Phase::Done, Some(Ended::Succeeded)) => "succeeded",
        (Phase::Done, Some(Ended::Failed)) => "failed",
        (Phase::Done, Some(Ended::Skipped)) => "skipped",
        (Phase::Done, Some(Ended::Cancelled) | None) => "cancelled",
        // Nothing of a run that is over is still under way.
        _ if state.is_finished() => "cancelled",
        (Phase::Ready, _) => "pending",
        (Phase::Attempt | Phase::Inside | Phase::Judge, _) => "running",
        (Phase::Retry { .. } | Phase::Question | Phase::Waiting { .. } | Phase::Handed | Phase::Queued, _) => "waiting",
    }
}

/// What a waiting step waits for, in a word.
fn awaited(step: &StepInst) -> Option<&'static str> {
    match &step.phase {
        Phase::Question => step.question.as_ref().map(|question| match question.kind {
            QuestionKind::Approval | QuestionKind::Review | QuestionKind::Consent => "approval",
            QuestionKind::Question => "question",
            QuestionKind::Operator => "operator",
            QuestionKind::Machine => "machine",
        }),
        Phase::Queued if step.asks().is_some() => Some("machine"),
        Phase::Handed => Some("host"),
        Phase::Queued => Some("worker"),
        Phase::Waiting { signal: Some(_), .. } => Some("event"),
        Phase::Retry { .. } | Phase::Waiting { .. } => Some("timer"),
        Phase::Ready | Phase::Attempt | Phase::Inside | Phase::Judge | Phase::Done => None,
    }
}
