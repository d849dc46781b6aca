//! The agents, and how each is set up to talk to the endpoint.

use std::path::{Path, PathBuf};

use longhaul_testkit::model_server::ModelServer;

/// An agent as workflows name it.
pub(crate) struct Agent {
    pub(crate) name: &'static str,
    model: &'static str,
    /// Whether it is a program of others; models behind an address are asked by our own.
    is_program: bool,
    /// Variables that keep its own patience short, and its files where the next test finds them.
    env: &'static [(&'static str, &'static str)],
}

const AGENTS: [Agent; 8] = [
    program("claude", "claude-sonnet-4-5", &[("CLAUDE_CODE_MAX_RETRIES", "1")]),
    program("codex", "scripted-model", &[]),
    program("copilot", "scripted-model", &[("COPILOT_CACHE_HOME", "{agents}/cache")]),
    program("gemini", "gemini-2.5-pro", &[]),
    program("opencode", "scripted/scripted-model", &[]),
    program(
        "acp",
        "scripted-model",
        &[("ANTHROPIC_BASE_URL", "{server}"), ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")],
    ),
    served("anthropic"),
    served("openai"),
];

const fn program(name: &'static str, model: &'static str, env: &'static [(&'static str, &'static str)]) -> Agent {
    Agent { name, model, is_program: true, env }
}

const fn served(name: &'static str) -> Agent {
    Agent { name, model: "scripted-model", is_program: false, env: &[] }
}

/// Where the agents are.
fn folder() -> PathBuf {
    let usual = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/agents");
    std::env::var_os("LONGHAUL_AGENTS_DIR").map_or_else(usual, PathBuf::from)
}

/// Does something with an agent, if it is installed.
pub(crate) fn with(name: &str, case: fn(&Agent)) {
    let agent = AGENTS.iter().find(|agent| agent.name == name).unwrap();
    if agent.is_program && agent.program().is_none() {
        eprintln!("skipped: {name} is not installed; scripts/install-agents says why");
    } else {
        case(agent);
    }
}

impl Agent {
    /// How a step says that it only looks. What speaks the protocol cannot be held to that.
    pub(crate) fn looking(&self) -> &'static str {
        if self.name == "acp" { "acp" } else { "{sandbox: read-only}" }
    }

    pub(crate) fn program(&self) -> Option<PathBuf> {
        folder().join("bin").join(self.name).canonicalize().ok()
    }

    /// The settings of a user for whom it talks to an endpoint.
    pub(crate) fn settings(&self, server: &ModelServer) -> String {
        let mut settings = format!("[agents.{}]\n", self.name);
        let mut set = |key: &str, value: String| settings.push_str(&format!("{key} = {value:?}\n"));
        if self.is_program {
            set("program", self.program().unwrap().display().to_string());
        }
        set("base_url", format!("{}/v1", server.lane(self.name)));
        set("key_env", "SCRIPTED_KEY".to_owned());
        set("auth", "key".to_owned());
        set("model", self.model.to_owned());
        let agents = folder().display().to_string();
        for (name, value) in self.env {
            set(
                &format!("env.{name}"),
                value.replace("{agents}", &agents).replace("{server}", &server.lane(self.name)),
            );
        }
        if self.name == "acp" {
            // it is Claude behind the protocol, which knows its key by another name
            settings.push_str("keep_env = [\"ANTHROPIC_API_KEY=SCRIPTED_KEY\"]\n");
        }
        settings
    }
}

/// A test of a case for each of some agents, in a module of the case's name.
macro_rules! with_agents {
    ($case:ident: $($agent:ident),+) => {
        mod $case {
            $(
                #[test]
                fn $agent() {
                    crate::real_agents::agent::with(stringify!($agent), super::$case);
                }
            )+
        }
    };
}

pub(crate) use with_agents;
