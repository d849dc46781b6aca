//! The defaults for a run's agents from its start, in addition to the workflow.
//!
//! **Invariant:** a run keeps the defaults from its start. `resume` can set others, and those count from then on.

use std::time::Duration;

use longhaul_core::event::RunStarted;
use longhaul_core::plan::{Compat, Plan, StepIx};
use longhaul_core::{Json, catalog};
use serde_json::Map;

use crate::engine::Shared;
use crate::execute::compat;
use longhaul_config::AUTO;

/// What was said about the agents of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct AgentDefaults {
    /// The agent for prompts that name none.
    pub(crate) agent: String,
    /// The model for prompts that name none.
    pub(crate) model: Option<String>,
    /// The time limit of a turn, if the step has none.
    pub(crate) turn: Option<Duration>,
}

impl AgentDefaults {
    /// The defaults for a run: the option of this engine, otherwise the value from the start of the run.
    pub(crate) fn of(started: Option<&RunStarted>, now: &str, counted: bool) -> Self {
        let context = started.map(|started| &*started.context);
        let before = context.and_then(|context| context.agent.as_deref()).filter(|before| *before != AUTO);
        let mut told = Self { agent: before.filter(|_| now == AUTO).unwrap_or(now).to_owned(), ..Self::default() };
        if counted {
            told.read(context.and_then(|context| context.agent_settings.as_ref()).unwrap_or(&Map::new()));
        }
        told
    }

    /// The defaults for a step of a run.
    pub(crate) fn for_step(shared: &Shared, plan: &Plan, started: Option<&RunStarted>, step: StepIx) -> Self {
        let unit = plan.unit(plan.body(plan.step(step).body).unit);
        Self::of(started, &shared.options.agent, unit.compat.contains(&Compat::CountedRecovery))
    }

    fn read(&mut self, settings: &Map<String, Json>) {
        let text = |key: &str| settings.get(key).and_then(Json::as_str).map(str::trim).filter(|text| !text.is_empty());
        let cli = text("AGENT_CLI").map(str::to_lowercase);
        if let Some(cli) = cli.filter(|cli| self.agent == AUTO && catalog::names::BACKENDS.contains(&cli.as_str())) {
            self.agent = cli;
        }
        self.model = text("AGENT_MODEL").or_else(|| text("AGENT_CLAUDE_MODEL")).map(str::to_owned);
        let seconds = text("AGENT_RESULT_TIMEOUT_S").and_then(|text| text.parse().ok());
        self.turn = Some(seconds.map_or(compat::TURN, Duration::from_secs));
    }
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

    fn agent(about: Json, now: &str, counted: bool) -> String {
        AgentDefaults::of(Some(&started(about)), now, counted).agent
    }

    #[test]
    fn a_run_keeps_its_agent_until_somebody_says_another() {
        assert_eq!(agent(json!({"agent": "scripted"}), AUTO, false), "scripted");
        assert_eq!(agent(json!({"agent": "scripted"}), "codex", false), "codex");
        assert_eq!(agent(json!({"agent": "auto"}), AUTO, false), AUTO);
        assert_eq!(agent(json!({}), "claude", false), "claude");
    }

    #[test]
    fn agent_settings_count_for_files_that_rely_on_them() {
        let about =
            || json!({"agent_settings": {"AGENT_CLI": " Codex ", "AGENT_MODEL": "@gm", "AGENT_RESULT_TIMEOUT_S": "9"}});
        assert_eq!(agent(about(), AUTO, true), "codex");
        assert_eq!(agent(about(), AUTO, false), AUTO);
        assert_eq!(agent(about(), "scripted", true), "scripted");
        let told = AgentDefaults::of(Some(&started(about())), AUTO, true);
        assert_eq!((told.model.as_deref(), told.turn), (Some("@gm"), Some(Duration::from_secs(9))));
        assert_eq!(AgentDefaults::of(None, AUTO, true).turn, Some(Duration::from_secs(600)));
    }
}
