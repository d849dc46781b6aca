//! `prompt`: one turn of an agent. The step and the settings choose the agent.

mod drive;
mod keep;
mod scripted;
mod servers;
mod tell;

use longhaul_agents::contract::MissingAgent;
use longhaul_agents::drivers;
use longhaul_core::decide::Start;
use longhaul_core::plan::{ErrorClass, WorkKind};

use super::{Attempt, Done};
use crate::engine::Shared;
use crate::execute::agent_defaults::AgentDefaults;
use longhaul_config::{AUTO, Backends, Choice, SCRIPTED};

/// The agent of a prompt: from the step and the settings, otherwise the first installed one. `None` for other work.
pub(crate) async fn who(shared: &Shared, start: &Start, told: &AgentDefaults) -> Option<Choice> {
    let mut choice = chosen(shared, start, &told.agent)?;
    if choice.driver == AUTO
        && let Some(first) = first_there(shared).await
    {
        choice = chosen(shared, start, first)?;
    }
    if choice.model.is_none() {
        choice.model.clone_from(&told.model);
    }
    Some(choice)
}

/// The names of a prompt's agent, as far as they are known without running programs. `None` for other work.
pub(crate) fn names(shared: &Shared, start: &Start, told: &AgentDefaults) -> Option<[String; 2]> {
    let mut choice = chosen(shared, start, &told.agent)?;
    if let Some(first) = shared.first_agent.get().filter(|_| choice.driver == AUTO) {
        choice = chosen(shared, start, first)?;
    }
    Some([choice.name, choice.driver])
}

/// The agent of a prompt. `told` is the agent for prompts that name none.
fn chosen(shared: &Shared, start: &Start, told: &str) -> Option<Choice> {
    let choose = || shared.options.backends.choose(start.params.get("agent"), start.turn.agent.as_deref(), told);
    (start.kind == WorkKind::Prompt).then(choose)
}

pub(super) async fn make(attempt: &Attempt) -> Done {
    let Some(prompt) = attempt.text("text") else {
        let message = "the prompt has no text; was its skill there when the workflow was checked?";
        return Done::unusable(ErrorClass::Invalid, message);
    };
    attempt.keep("prompt.md", prompt);
    if let Err(done) = keep::files(attempt).await {
        return *done;
    }
    let driver = attempt.choice.as_ref().map(|choice| choice.driver.as_str());
    match (driver, &attempt.choice) {
        // `scripted` as the default agent answers all prompts, even if the workflow names another agent.
        _ if attempt.told.agent == SCRIPTED => scripted::answer(attempt, prompt).await,
        (Some(SCRIPTED), _) => scripted::answer(attempt, prompt).await,
        (Some(AUTO), _) | (_, None) => Done::unusable(ErrorClass::Auth, nobody(&attempt.shared)),
        (_, Some(choice)) => drive_by(attempt, prompt, choice).await,
    }
}

/// The error that there is no agent on this machine.
fn nobody(shared: &Shared) -> String {
    match &shared.options.member.host {
        None => "no agent is installed or configured; install one (`longhaul agents` lists them), or try the workflow \
                 without one: --agent scripted"
            .to_owned(),
        Some(host) => format!(
            "no agent is installed or configured on {host}, which took this step; install one there (`longhaul agents` \
             lists them), or give the step `runs_on` with a label of a machine that has one"
        ),
    }
}

/// The agents to look for if no agent is named, in this order.
const USUAL: &[&str] = &["claude", "codex", "copilot", "gemini", "opencode"];

/// The first installed agent. The check runs programs, so the result is remembered. While there is none, the check is
/// repeated.
pub(crate) async fn first_there(shared: &Shared) -> Option<&'static str> {
    let find = || async {
        let backends = shared.options.backends.clone();
        let first = tokio::task::spawn_blocking(move || USUAL.iter().find(|name| is_there(&backends, name)).copied());
        first.await.ok().flatten().ok_or(())
    };
    shared.first_agent.get_or_try_init(find).await.ok().copied()
}

fn is_there(backends: &Backends, name: &str) -> bool {
    let choice = backends.choose(None, None, name);
    drivers::by_name(name).is_some_and(|driver| driver.find(&choice.setup).is_ok())
}

async fn drive_by(attempt: &Attempt, prompt: &str, choice: &Choice) -> Done {
    let Some(driver) = drivers::by_name(&choice.driver) else {
        let known: Vec<&str> = drivers::ALL.iter().map(|driver| driver.name()).collect();
        let message = format!("there is no agent `{}`; there are: {}", choice.driver, known.join(", "));
        return Done::unusable(ErrorClass::Auth, message);
    };
    drive::drive(attempt, driver, choice, prompt).await
}

/// The failure for a missing agent. A retry does not help.
fn missing(shared: &Shared, missing: &MissingAgent) -> Done {
    let place = shared.options.member.host.as_ref().map_or_else(String::new, |host| {
        format!(
            "; this is so on {host}: install it there, or give the step `runs_on` with a label of a machine that has it"
        )
    });
    Done::unusable(ErrorClass::Auth, format!("{missing}{place}"))
}
