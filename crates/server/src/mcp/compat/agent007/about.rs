//! `help`, `health` and `config_show`: information about the server.

use longhaul_lang::world::{NameKind, World};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::told;
use super::table;
use crate::mcp::arguments::schema;
use crate::mcp::dispatch::USAGE;
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};

const TOPICS: [&str; 4] = ["overview", "skills", "workflows", "tools"];

pub(super) const HELP: Tool = Tool {
    name: "agent007_help",
    title: "agent007: help",
    about: "How to use these tools. Topics: overview, skills, workflows, tools.",
    nature: Nature::Looks,
    schema: schema::<HelpArgs>,
    call: |call| Box::pin(help(call)),
};

pub(super) const HEALTH: Tool = Tool {
    name: "agent007_health",
    title: "agent007: health",
    about: "Whether the server works, and which version it is.",
    nature: Nature::Looks,
    schema: schema::<NoArgs>,
    call: |call| Box::pin(health(call)),
};

pub(super) const CONFIG_SHOW: Tool = Tool {
    name: "agent007_config_show",
    title: "agent007: show the configuration",
    about: "Where the server looks for things. Shows no secrets.",
    nature: Nature::Looks,
    schema: schema::<NoArgs>,
    call: |call| Box::pin(config_show(call)),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoArgs {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct HelpArgs {
    /// overview, skills, workflows or tools; overview unless you say.
    #[serde(default)]
    topic: Option<String>,
}

async fn help(mut call: Call) -> Result<Reply, Problem> {
    let HelpArgs { topic } = call.arguments()?;
    let topic = topic.unwrap_or_else(|| TOPICS[0].to_owned());
    let disk = call.state.disk();
    let text = match topic.as_str() {
        "overview" => USAGE.to_owned(),
        "skills" => disk.names(NameKind::Skill).join("\n"),
        "workflows" => disk.names(NameKind::Workflow).join("\n"),
        "tools" => table().iter().map(|tool| format!("{}: {}", tool.name, tool.about)).collect::<Vec<_>>().join("\n"),
        other => return Err(Problem::unknown("topic", other, &TOPICS.map(str::to_owned))),
    };
    Ok(Reply::Done(text.clone(), json!({"topic": topic, "help": text})))
}

async fn health(mut call: Call) -> Result<Reply, Problem> {
    let NoArgs {} = call.arguments()?;
    // A server that cannot read its store is not healthy.
    call.state.engine().list(longhaul_store::Query { limit: 1, ..longhaul_store::Query::default() }).await?;
    Ok(told(json!({"status": "ok", "version": env!("CARGO_PKG_VERSION"), "mode": "hosted-mcp"})))
}

async fn config_show(mut call: Call) -> Result<Reply, Problem> {
    let NoArgs {} = call.arguments()?;
    let project = call.state.disk().project;
    Ok(told(json!({
        "project": project.root, "workflows": project.root.join(".longhaul/workflows"), "user": project.user,
        "mode": "hosted-mcp", "version": env!("CARGO_PKG_VERSION"),
    })))
}
