//! What the person who started a run said about its agents, beside the workflow.
//!
//! **Invariant:** a run keeps what it was started with; whoever resumes it can say something else, and then that counts.

use std::time::Duration;

use longhaul_core::event::RunStarted;
use longhaul_core::plan::{Compat, Plan, StepIx};
use longhaul_core::{Json, catalog};
use serde_json::Map;

use crate::backends::AUTO;
use crate::engine::Shared;

/// The settings of workhorse that a run of one of its files goes by.
const WORKHORSE: &[&str] = &[
    "AGENT_CLI",
    "AGENT_MODEL",
    "AGENT_CLAUDE_MODEL",
    "CODEX_PROFILE",
    "AGENT_MAX_OUTPUT_RETRIES",
    "AGENT_MAX_INVOKE_RETRIES",
    "AGENT_MAX_REPHRASE_ATTEMPTS",
    "AGENT_MAX_COMPACT_ATTEMPTS",
    "AGENT_USE_DEFAULT_OUTPUTS",
    "AGENT_RESULT_TIMEOUT_S",
    "AGENT_INVOKE_BACKOFF_BASE_S",
    "AGENT_INVOKE_BACKOFF_CAP_S",
    "AGENT_CAP_DEFAULT_WAIT_S",
    "AGENT_CAP_WAIT_MARGIN_S",
    "AGENT_MAX_CAP_WAITS",
    "AGENT_CAP_MAX_WAIT_S",
];
/// How long a turn of such a run may take where nothing says so.
const WORKHORSE_TURN: Duration = Duration::from_secs(600);

/// What was said about the agents of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// Who does prompts that name nobody.
    pub(crate) agent: String,
    /// Which model does them.
    pub(crate) model: Option<String>,
    /// How long a turn may take where the step does not say.
    pub(crate) turn: Option<Duration>,
}

impl Told {
    /// What holds for a run: what this engine was told, else what the run was started with.
    pub(crate) fn of(started: Option<&RunStarted>, now: &str, workhorse: bool) -> Self {
        let context = started.map(|started| &*started.context);
        let before = context.and_then(|context| context.agent.as_deref()).filter(|before| *before != AUTO);
        let mut told = Self { agent: before.filter(|_| now == AUTO).unwrap_or(now).to_owned(), ..Self::default() };
        if workhorse {
            told.read(context.and_then(|context| context.agent_settings.as_ref()).unwrap_or(&Map::new()));
        }
        told
    }

    /// What holds for a step of a run.
    pub(crate) fn for_step(shared: &Shared, plan: &Plan, started: Option<&RunStarted>, step: StepIx) -> Self {
        let unit = plan.unit(plan.body(plan.step(step).body).unit);
        Self::of(started, &shared.options.agent, unit.compat.contains(&Compat::WorkhorseRecovery))
    }

    fn read(&mut self, settings: &Map<String, Json>) {
        let text = |key: &str| settings.get(key).and_then(Json::as_str).map(str::trim).filter(|text| !text.is_empty());
        let cli = text("AGENT_CLI").map(str::to_lowercase);
        if let Some(cli) = cli.filter(|cli| self.agent == AUTO && catalog::names::BACKENDS.contains(&cli.as_str())) {
            self.agent = cli;
        }
        self.model = text("AGENT_MODEL").or_else(|| text("AGENT_CLAUDE_MODEL")).map(str::to_owned);
        let seconds = text("AGENT_RESULT_TIMEOUT_S").and_then(|text| text.parse().ok());
        self.turn = Some(seconds.map_or(WORKHORSE_TURN, Duration::from_secs));
    }
}

/// What the environment says to a run of a workhorse file.
pub(crate) fn workhorse_settings() -> Map<String, Json> {
    let set = WORKHORSE.iter().filter_map(|name| Some(((*name).to_owned(), Json::String(std::env::var(name).ok()?))));
    set.collect()
}

#[cfg(test)]
mod tests {
    use indexmap::IndexMap;
    use serde_json::json;

    use super::*;

    fn started(about: Json) -> RunStarted {
        let about: IndexMap<String, Json> = serde_json::from_value(about).unwrap();
        serde_json::from_value(json!({"workflow": "w", "plan": "p", "semantics": 1, "task": "", "about": about}))
            .unwrap()
    }

    fn agent(about: Json, now: &str, workhorse: bool) -> String {
        Told::of(Some(&started(about)), now, workhorse).agent
    }

    #[test]
    fn a_run_keeps_its_agent_until_somebody_says_another() {
        assert_eq!(agent(json!({"agent": "scripted"}), AUTO, false), "scripted");
        assert_eq!(agent(json!({"agent": "scripted"}), "codex", false), "codex");
        assert_eq!(agent(json!({"agent": "auto"}), AUTO, false), AUTO);
        assert_eq!(agent(json!({}), "claude", false), "claude");
    }

    #[test]
    fn settings_of_workhorse_count_for_its_files_alone() {
        let about =
            || json!({"agent_settings": {"AGENT_CLI": " Codex ", "AGENT_MODEL": "@gm", "AGENT_RESULT_TIMEOUT_S": "9"}});
        assert_eq!(agent(about(), AUTO, true), "codex");
        assert_eq!(agent(about(), AUTO, false), AUTO);
        assert_eq!(agent(about(), "scripted", true), "scripted");
        let told = Told::of(Some(&started(about())), AUTO, true);
        assert_eq!((told.model.as_deref(), told.turn), (Some("@gm"), Some(Duration::from_secs(9))));
        assert_eq!(Told::of(None, AUTO, true).turn, Some(Duration::from_secs(600)));
    }
}
