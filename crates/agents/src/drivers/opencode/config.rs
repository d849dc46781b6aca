//! Writes the settings of opencode for a turn.

use longhaul_core::Json;
use serde_json::json;

use super::super::command::with_version;
use crate::contract::{AgentSetup, Permission, Turn};
use crate::mcp::{self, McpServer};

/// The name of the provider for an address from our settings.
const PROVIDER: &str = "longhaul";
/// Tools that change nothing.
const LOOKING: [&str; 7] = ["read", "glob", "grep", "list", "lsp", "todoread", "todowrite"];

/// The name of a model for opencode: with its provider.
pub(super) fn model_name(setup: &AgentSetup, model: Option<&str>) -> Option<String> {
    let model = model?;
    Some(if setup.base_url.is_some() { format!("{PROVIDER}/{model}") } else { model.to_owned() })
}

/// The settings of a turn.
pub(super) fn of(setup: &AgentSetup, turn: &Turn, model: Option<&str>) -> Json {
    let mut config = json!({"autoupdate": false, "share": "disabled", "permission": permission(turn)});
    if !turn.mcp.is_empty() {
        config["mcp"] = turn.mcp.iter().map(|server| (server.name.clone(), started(setup, turn, server))).collect();
    }
    if let (Some(url), Some(model)) = (&setup.base_url, model) {
        let mut options = json!({"baseURL": with_version(url)});
        if let Some(key) = &setup.key_env {
            // opencode reads the variable itself, so the key is not in these settings.
            options["apiKey"] = format!("{{env:{key}}}").into();
        }
        let models = Json::from_iter([(model.to_owned(), json!({"name": model}))]);
        config["provider"] = json!({PROVIDER: {
            "npm": "@ai-sdk/openai-compatible", "name": PROVIDER, "options": options, "models": models,
        }});
        config["small_model"] = format!("{PROVIDER}/{model}").into();
    }
    config
}

/// How opencode starts a server.
fn started(setup: &AgentSetup, turn: &Turn, server: &McpServer) -> Json {
    let entry = mcp::entry(setup, &mcp::file(turn).to_string_lossy(), server);
    let command: Vec<String> = std::iter::once(entry.command).chain(entry.args).collect();
    json!({"type": "local", "command": command, "enabled": true})
}

/// Rules by tool; if several match, the last one counts.
fn permission(turn: &Turn) -> Json {
    let mut rules = serde_json::Map::new();
    let all = match (&turn.tools, turn.permission) {
        (Some(_), _) | (None, Permission::ReadOnly) => "deny",
        (None, Permission::Edit | Permission::Full) => "allow",
    };
    rules.insert("*".to_owned(), all.into());
    let named: Vec<&str> = match &turn.tools {
        Some(tools) => tools.iter().map(String::as_str).collect(),
        None if turn.permission == Permission::ReadOnly => LOOKING.to_vec(),
        None => Vec::new(),
    };
    for tool in named.into_iter().filter(|tool| turn.permission != Permission::ReadOnly || LOOKING.contains(tool)) {
        rules.insert(tool.to_owned(), "allow".into());
    }
    for server in &turn.mcp {
        let rest = if server.tools.is_none() { "allow" } else { "deny" };
        rules.insert(format!("{}_*", server.name), rest.into());
        let tools = server.tools.iter().flatten();
        rules.extend(tools.map(|tool| (format!("{}_{tool}", server.name), Json::from("allow"))));
    }
    // No person is there to answer.
    rules.insert("question".to_owned(), "deny".into());
    rules.insert("external_directory".to_owned(), outside(turn));
    rules.into()
}

fn outside(turn: &Turn) -> Json {
    if turn.permission == Permission::Full {
        return "allow".into();
    }
    let dirs = turn.dirs.iter().map(|dir| (format!("{}/**", dir.display()), Json::from("allow")));
    std::iter::once(("*".to_owned(), Json::from("deny"))).chain(dirs).collect()
}
