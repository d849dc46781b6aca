//! The options of an engine.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use longhaul_agents::scripted::Script;
use longhaul_config::{Backends, Channel, ToolServer, Values};
use longhaul_core::approval::Approvals;
use longhaul_core::notification::NotifyRules;
use longhaul_core::policy::Policy;

use crate::fleet::membership::Membership;

/// The options of an engine.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// The folder for files of runs.
    pub runs_dir: PathBuf,
    /// The folder for commands that name none.
    pub workspace: PathBuf,
    /// The replies of the scripted agent.
    pub script: Arc<Script>,
    /// The agent for prompts that name none. `scripted` answers all prompts.
    pub agent: String,
    /// The configured agents.
    pub backends: Backends,
    /// The most attempts that run at once, over all runs.
    pub attempts_max: usize,
    /// The most prompts that run at once, by backend. Other backends have no limit of their own.
    pub backends_max: IndexMap<String, usize>,
    /// How long a claim lasts without a renewal.
    pub lease: Duration,
    /// Whether to ignore cached results and run the steps again.
    pub refresh_cache: bool,
    /// The project's notification channels, by name.
    pub channels: IndexMap<String, Channel>,
    /// Who is notified of what, and when. By default nobody is.
    pub notify: NotifyRules,
    /// The configured tool servers, by name.
    pub tools: IndexMap<String, ToolServer>,
    /// The rules for answers in the settings. A run keeps the rules from its start.
    pub approvals: Option<Approvals>,
    /// The members of each role.
    pub roles: IndexMap<String, Vec<String>>,
    /// The actions that are allowed, that need a question, or that are denied.
    pub policy: Policy,
    /// The longest time that the consent of a run lasts, for all callers.
    pub run_ceiling_ms: Option<i64>,
    /// Size limits of values.
    pub values: Values,
    /// This engine as a member of the fleet.
    pub member: Membership,
    /// The program whose `__guard` command cleans up after a killed engine.
    pub guard: Option<PathBuf>,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            runs_dir: PathBuf::from("runs"),
            workspace: PathBuf::from("."),
            script: Arc::new(Script::builtin()),
            agent: "scripted".to_owned(),
            backends: Backends::default(),
            attempts_max: 16,
            backends_max: IndexMap::new(),
            lease: Duration::from_secs(60),
            refresh_cache: false,
            channels: IndexMap::new(),
            notify: NotifyRules::default(),
            tools: IndexMap::new(),
            approvals: None,
            roles: IndexMap::new(),
            policy: Policy::default(),
            run_ceiling_ms: None,
            values: Values::default(),
            member: Membership::default(),
            guard: None,
        }
    }
}
