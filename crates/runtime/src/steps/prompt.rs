//! `prompt`: one turn of an agent, by whoever the step and the settings mean.

mod drive;
mod scripted;
mod tell;

use longhaul_agents::contract::Missing;
use longhaul_agents::drivers;
use longhaul_core::plan::ErrorClass;

use super::{Attempt, Done};
use crate::backends::{AUTO, Choice, SCRIPTED};

pub(super) async fn make(attempt: &Attempt) -> Done {
    let Some(prompt) = attempt.text("text") else {
        return Done::failed(ErrorClass::Invalid, "the prompt has no text; skills can not be run by this version");
    };
    attempt.keep("prompt.md", prompt);
    let told = attempt.told.agent.as_str();
    let agents = &attempt.shared.options.backends;
    // Whoever asks for the script gets the script, whatever a workflow names.
    if told == SCRIPTED {
        return scripted::answer(attempt, prompt).await;
    }
    let mut choice = agents.choose(attempt.param("agent"), attempt.start.turn.agent.as_deref(), told);
    if choice.model.is_none() {
        choice.model.clone_from(&attempt.told.model);
    }
    match choice.driver.as_str() {
        SCRIPTED => scripted::answer(attempt, prompt).await,
        AUTO => match found_first(attempt) {
            Some(name) => drive_by(attempt, prompt, agents.choose(attempt.param("agent"), None, name)).await,
            None => Done::unspent(ErrorClass::Auth, NOBODY),
        },
        _ => drive_by(attempt, prompt, choice).await,
    }
}

const NOBODY: &str = "no agent is installed or configured; install one (`longhaul agents` lists them), or try the \
                      workflow without one: --agent scripted";

/// Agents that are used without being named, the first that is there.
const USUAL: &[&str] = &["claude", "codex", "copilot", "gemini", "opencode"];

/// The first agent that is there.
fn found_first(attempt: &Attempt) -> Option<&'static str> {
    let is_there = |name: &&&str| {
        let choice = attempt.shared.options.backends.choose(None, None, name);
        drivers::by_name(name).is_some_and(|driver| driver.find(&choice.setup).is_ok())
    };
    USUAL.iter().find(is_there).copied()
}

async fn drive_by(attempt: &Attempt, prompt: &str, choice: Choice) -> Done {
    let Some(driver) = drivers::by_name(&choice.driver) else {
        let known: Vec<&str> = drivers::ALL.iter().map(|driver| driver.name()).collect();
        let message = format!("there is no agent `{}`; there are: {}", choice.driver, known.join(", "));
        return Done::unspent(ErrorClass::Auth, message);
    };
    drive::drive(attempt, driver, &choice, prompt).await
}

/// An agent that is not there is nothing that trying again mends.
fn missing(missing: &Missing) -> Done {
    Done::unspent(ErrorClass::Auth, missing.to_string())
}
