//! `prompt`: one turn of an agent, by whoever the step and the settings mean.

mod drive;
mod keep;
mod scripted;
mod tell;

use longhaul_agents::contract::Missing;
use longhaul_agents::drivers;
use longhaul_core::decide::Start;
use longhaul_core::plan::ErrorClass;

use super::{Attempt, Done};
use crate::backends::{AUTO, Backends, Choice, SCRIPTED};
use crate::engine::Shared;
use crate::execute::agent_defaults::Told;

/// Who makes a prompt: as the step and the settings say, and where they say nobody, the first agent that is there.
/// `None` for other work.
pub(crate) async fn who(shared: &Shared, start: &Start, told: &Told) -> Option<Choice> {
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

/// What whoever makes a prompt is called, as far as that is known without asking programs. `None` for other work.
pub(crate) fn names(shared: &Shared, start: &Start, told: &Told) -> Option<[String; 2]> {
    let mut choice = chosen(shared, start, &told.agent)?;
    if let Some(first) = shared.first_agent.get().filter(|_| choice.driver == AUTO) {
        choice = chosen(shared, start, first)?;
    }
    Some([choice.name, choice.driver])
}

/// Who makes a prompt where `told` makes those that name nobody.
fn chosen(shared: &Shared, start: &Start, told: &str) -> Option<Choice> {
    let choose = || shared.options.backends.choose(start.params.get("agent"), start.turn.agent.as_deref(), told);
    (start.kind == "prompt").then(choose)
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
        // Whoever asks for the script gets the script, whatever a workflow names.
        _ if attempt.told.agent == SCRIPTED => scripted::answer(attempt, prompt).await,
        (Some(SCRIPTED), _) => scripted::answer(attempt, prompt).await,
        (Some(AUTO), _) | (_, None) => Done::unusable(ErrorClass::Auth, nobody(&attempt.shared)),
        (_, Some(choice)) => drive_by(attempt, prompt, choice).await,
    }
}

/// That there is no agent, and where that is.
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

/// Agents that are used without being named, the first that is there.
const USUAL: &[&str] = &["claude", "codex", "copilot", "gemini", "opencode"];

/// The first agent that is there. Programs are asked for that, so it is found out once; one that is installed later is
/// found as long as there was none.
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

/// An agent that is not there is nothing that trying again fixes.
fn missing(shared: &Shared, missing: &Missing) -> Done {
    let place = shared.options.member.host.as_ref().map_or_else(String::new, |host| {
        format!(
            "; this is so on {host}: install it there, or give the step `runs_on` with a label of a machine that has it"
        )
    });
    Done::unusable(ErrorClass::Auth, format!("{missing}{place}"))
}
