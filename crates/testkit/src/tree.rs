//! Shows the state of a run as a tree, for debugging a failed test.

use longhaul_core::plan::Plan;
use longhaul_core::state::{Phase, State, StepInst};

/// Every step that was reached, indented by depth, with its state.
pub fn tree(plan: &Plan, state: &State) -> String {
    let mut steps: Vec<&StepInst> = state.steps().iter().collect();
    steps.sort_by(|a, b| a.path.segments().cmp(b.path.segments()));
    let mut text = format!("{} ({}), event {}\n", plan.main().name, state.status(), state.seq);
    for step in steps {
        let depth = step.path.segments().len();
        text.push_str(&format!("{:indent$}{}: {}\n", "", step.path, word(step), indent = 2 * depth));
    }
    text
}

fn word(step: &StepInst) -> String {
    let phase = match (&step.phase, step.outcome.ended) {
        (Phase::Done, Some(ended)) => format!("{ended:?}").to_lowercase(),
        (Phase::Done, None) => "nowhere".to_owned(),
        (Phase::Ready, _) => "ready".to_owned(),
        (Phase::Hosted(_), _) => "handed out".to_owned(),
        (Phase::Attempt(_), _) => "at work".to_owned(),
        (Phase::Retry { due }, _) => format!("again at {due}"),
        (Phase::Question(_), _) => "asks".to_owned(),
        (Phase::Waiting { due, signal }, _) => format!("waits {due:?} {signal:?}"),
        (Phase::Inside, _) => "inside".to_owned(),
        (Phase::Queued(_), _) => "waits for a worker".to_owned(),
        (Phase::Judge, _) => "to be judged".to_owned(),
    };
    let attempts = if step.attempts > 0 { format!(" @{}", step.attempts) } else { String::new() };
    let error = step.outcome.error.as_ref().map_or_else(String::new, |error| format!(" ({})", error.message));
    format!("{phase}{attempts}{error}")
}
