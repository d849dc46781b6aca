//! The views of a run for people and programs, computed from plan, state and history.
//!
//! **Invariant:** a view is computed, never stored. It depends only on the history.

mod attempts;
mod brief;
mod budget;
mod cost;
mod critical;
mod forecast;
mod hosted;
mod label;
mod questions;
mod run;
pub mod shown;
mod standing;
mod step;
mod timeline;
mod trace;

pub use attempts::{Attempt, attempts};
pub use brief::{Brief, RunLine, brief};
pub use budget::{RunBudget, Used, budget};
pub use cost::{Cost, Limit, Spent, cost};
pub use critical::critical_path;
pub use forecast::{Forecast, forecast};
pub use hosted::{AutoRan, Held, SILENT_MS, auto_ran, counted, free, held, outputs, results};
pub use label::label;
pub use questions::{Asked, questions};
pub(crate) use questions::{progress, shown};
pub use run::{Progress, Run, run};
pub use standing::{Standing, StandingWord, answer_command, standing};
pub use step::{AtWork, StepView, ToldHint, steps};
pub use timeline::{Spanned, TimelineSpan, timeline};
pub use trace::{Trace, Traced, trace};

use crate::event::QuestionKind;
use crate::state::{Phase, State, StepInst};
use crate::status::{Awaited, StepStatus};

/// The status of a step, in one word.
fn status(state: &State, step: &StepInst) -> StepStatus {
    match &step.phase {
        Phase::Done => step.outcome.ended.map_or(StepStatus::Cancelled, StepStatus::from),
        // In a finished run no step is running.
        _ if state.is_finished() => StepStatus::Cancelled,
        Phase::Ready => StepStatus::Pending,
        Phase::Attempt(_) | Phase::Inside | Phase::Judge => StepStatus::Running,
        Phase::Retry { .. } | Phase::Question(_) | Phase::Waiting { .. } | Phase::Hosted(_) | Phase::Queued(_) => {
            StepStatus::Waiting
        }
    }
}

/// The thing that a waiting step waits for, in one word.
fn awaited(step: &StepInst) -> Option<Awaited> {
    match &step.phase {
        Phase::Question(question) => Some(match question.kind {
            QuestionKind::Approval | QuestionKind::Review | QuestionKind::Consent => Awaited::Approval,
            QuestionKind::Question => Awaited::Question,
            QuestionKind::Operator => Awaited::Operator,
            QuestionKind::Machine => Awaited::Machine,
        }),
        Phase::Queued(queued) if queued.question.is_some() => Some(Awaited::Machine),
        Phase::Hosted(_) => Some(Awaited::Client),
        Phase::Queued(_) => Some(Awaited::Worker),
        Phase::Waiting { signal: Some(_), .. } => Some(Awaited::Event),
        Phase::Retry { .. } | Phase::Waiting { .. } => Some(Awaited::Timer),
        Phase::Ready | Phase::Attempt(_) | Phase::Inside | Phase::Judge | Phase::Done => None,
    }
}
