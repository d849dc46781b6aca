//! How an agent is called: for the first time, or to recover from what failed.

use serde_json::Map;

use super::start::AgentTurn;
use crate::Json;
use crate::event::Session;
use crate::plan::{OnInterrupt, Step};
use crate::recovery::{self, Recovery, RecoveryAction};
use crate::state::{State, StepInst};

/// The call, and in `params` what the agent is told.
pub(super) fn turn(state: &State, inst: &StepInst, step: &Step, params: &mut Map<String, Json>) -> AgentTurn {
    if !step.is_agent() {
        return AgentTurn::default();
    }
    let none = Recovery::default();
    let recovery = inst.recovery.as_deref().unwrap_or(&none);
    let session = session(state, recovery, params);
    let told = told(recovery, session.is_some(), params.get("text").and_then(Json::as_str), step);
    if let Some(told) = told {
        params.insert("text".to_owned(), Json::String(told));
    }
    let hints = super::hints::carried(inst, session.is_some());
    super::hints::add(inst, &hints, params);
    let restore = match recovery.action {
        Some(RecoveryAction::Restore { before }) => Some(before),
        _ => None,
    };
    // A turn that continues a conversation also continues with the files from before that conversation.
    let keep = step.on_interrupt == OnInterrupt::Restore && session.is_none();
    let (agent, compact) = (latest_fallback(step, recovery), recovery.action == Some(RecoveryAction::Compact));
    AgentTurn { agent, session, compact, keep, restore, usd_left: None, hints, repairs: repairs(recovery, step) }
}

/// Whether the agent is told its schema with what was wrong with its answer.
fn repairs(recovery: &Recovery, step: &Step) -> bool {
    let is_told = match &recovery.action {
        Some(RecoveryAction::Repair { say }) => say != recovery::EMPTY,
        Some(RecoveryAction::Reframe { .. }) => true,
        _ => false,
    };
    is_told && step.output.schema.is_some()
}

/// What every conversation of the workflow begins with.
pub(super) fn introduce(context: &str, params: &mut Map<String, Json>) {
    if let Some(Json::String(text)) = params.get_mut("text") {
        *text = format!("{}\n\n{text}", context.trim_end());
    }
}

/// The conversation that continues, if one does.
fn session(state: &State, recovery: &Recovery, params: &Map<String, Json>) -> Option<Session> {
    match &recovery.action {
        Some(
            RecoveryAction::Continue
            | RecoveryAction::Repair { .. }
            | RecoveryAction::Answer { .. }
            | RecoveryAction::Hint
            | RecoveryAction::Compact
            | RecoveryAction::Resend
            | RecoveryAction::AwaitReset,
        ) => recovery.resumable().cloned(),
        Some(RecoveryAction::Reframe { .. } | RecoveryAction::Fallback { .. } | RecoveryAction::Restore { .. }) => None,
        // An agent that takes over does not know the shared conversation of another agent.
        None | Some(RecoveryAction::Again) if recovery.fallbacks > 0 => None,
        None | Some(RecoveryAction::Again) => {
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
fn told(recovery: &Recovery, resumes: bool, task: Option<&str>, step: &Step) -> Option<String> {
    let (task, schema) = (task?, step.output.schema.as_ref());
    match recovery.action.as_ref()? {
        RecoveryAction::Continue | RecoveryAction::AwaitReset if resumes => Some(recovery::CONTINUE.to_owned()),
        RecoveryAction::Repair { say } | RecoveryAction::Answer { say } if resumes => Some(say.clone()),
        RecoveryAction::Hint if resumes => Some(recovery::HEARD.to_owned()),
        RecoveryAction::Hint => Some(format!("{}{}", recovery::HEARD_AGAIN, framed(task, recovery, schema))),
        // It knows nothing of the task any more.
        RecoveryAction::Repair { say } | RecoveryAction::Answer { say } => {
            Some(format!("{}\n\n{say}", framed(task, recovery, schema)))
        }
        RecoveryAction::Restore { .. } if recovery.fallbacks > 0 => Some(format!("{}{task}", recovery::TAKE_OVER)),
        RecoveryAction::Fallback { .. } => Some(format!("{}{task}", recovery::TAKE_OVER)),
        RecoveryAction::Again
        | RecoveryAction::Continue
        | RecoveryAction::Restore { .. }
        | RecoveryAction::AwaitReset
        | RecoveryAction::Resend
        | RecoveryAction::Reframe { .. }
        | RecoveryAction::Compact => (recovery.framing > 0).then(|| framed(task, recovery, schema)),
    }
}

fn framed(task: &str, recovery: &Recovery, schema: Option<&Json>) -> String {
    recovery::reframed(task, recovery.framing, schema)
}

/// Who does it now, if not the step's own agent.
fn latest_fallback(step: &Step, recovery: &Recovery) -> Option<String> {
    let at = (recovery.fallbacks as usize).checked_sub(1)?;
    super::recovery::agent_key(step, "fallback")?.as_array()?.get(at)?.as_str().map(str::to_owned)
}
