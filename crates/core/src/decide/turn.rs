//! How an agent is called on the rung on which its step stands.

use serde_json::Map;

use super::start::Turn;
use crate::Json;
use crate::event::Session;
use crate::ladder::{self, Climb, Rung};
use crate::plan::{OnInterrupt, Step};
use crate::state::{State, StepInst};

/// The call, and in `params` what the agent is told.
pub(super) fn turn(state: &State, inst: &StepInst, step: &Step, params: &mut Map<String, Json>) -> Turn {
    if !step.is_agent() {
        return Turn::default();
    }
    let none = Climb::default();
    let climb = inst.climb.as_deref().unwrap_or(&none);
    let session = session(state, climb, params);
    let told = told(climb, session.is_some(), params.get("text").and_then(Json::as_str), step);
    if let Some(told) = told {
        params.insert("text".to_owned(), Json::String(told));
    }
    let restore = match climb.rung {
        Some(Rung::Restore { before }) => Some(before),
        _ => None,
    };
    // Whoever continues in a conversation continues with what was recorded before that began.
    let keep = step.on_interrupt == OnInterrupt::Restore && session.is_none();
    let (agent, compact) = (latest_fallback(step, climb), climb.rung == Some(Rung::Compact));
    Turn { agent, session, compact, keep, restore, usd_left: None }
}

/// What every conversation of the workflow begins with.
pub(super) fn introduce(context: &str, params: &mut Map<String, Json>) {
    if let Some(Json::String(text)) = params.get_mut("text") {
        *text = format!("{}\n\n{text}", context.trim_end());
    }
}

/// The conversation that continues, if one does.
fn session(state: &State, climb: &Climb, params: &Map<String, Json>) -> Option<Session> {
    match &climb.rung {
        Some(
            Rung::Continue
            | Rung::Repair { .. }
            | Rung::Answer { .. }
            | Rung::Compact
            | Rung::Resend
            | Rung::AwaitReset,
        ) => climb.resumable().cloned(),
        Some(Rung::Reframe { .. } | Rung::Fallback { .. } | Rung::Restore { .. }) => None,
        // Whoever takes over knows nothing of what another agent shares.
        None | Some(Rung::Again) if climb.fallbacks > 0 => None,
        None | Some(Rung::Again) => {
            let agent = params.get("agent");
            let own = agent.and_then(|agent| agent.get("backend")?.as_str());
            let goes_on = |session: &&Session| session.resumes && own.is_none_or(|own| own == session.agent);
            state.threads.get(thread_of(agent)?).filter(goes_on).cloned()
        }
    }
}

/// The conversation that steps share, by name.
pub fn thread_of(agent: Option<&Json>) -> Option<&str> {
    let name = agent?.get("thread")?.as_str()?;
    (!matches!(name, "" | "new" | "@new")).then_some(name)
}

/// What the agent is told, where that is not the prompt as it stands.
fn told(climb: &Climb, resumes: bool, task: Option<&str>, step: &Step) -> Option<String> {
    let (task, schema) = (task?, step.output.schema.as_ref());
    match climb.rung.as_ref()? {
        Rung::Continue | Rung::AwaitReset if resumes => Some(ladder::CONTINUE.to_owned()),
        Rung::Repair { say } | Rung::Answer { say } if resumes => Some(say.clone()),
        // It knows nothing of the task any more.
        Rung::Repair { say } | Rung::Answer { say } => Some(format!("{}\n\n{say}", framed(task, climb, schema))),
        Rung::Restore { .. } if climb.fallbacks > 0 => Some(format!("{}{task}", ladder::TAKE_OVER)),
        Rung::Fallback { .. } => Some(format!("{}{task}", ladder::TAKE_OVER)),
        Rung::Again
        | Rung::Continue
        | Rung::Restore { .. }
        | Rung::AwaitReset
        | Rung::Resend
        | Rung::Reframe { .. }
        | Rung::Compact => (climb.framing > 0).then(|| framed(task, climb, schema)),
    }
}

fn framed(task: &str, climb: &Climb, schema: Option<&Json>) -> String {
    ladder::reframed(task, climb.framing, schema)
}

/// Who does it now, if not the step's own agent.
fn latest_fallback(step: &Step, climb: &Climb) -> Option<String> {
    let at = (climb.fallbacks as usize).checked_sub(1)?;
    super::ladder::agent_key(step, "fallback")?.as_array()?.get(at)?.as_str().map(str::to_owned)
}
