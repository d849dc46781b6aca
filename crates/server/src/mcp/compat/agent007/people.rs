//! `persona_list` and `persona_show`.

use longhaul_lang::world::{NameKind, World};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::told;
use crate::mcp::arguments::schema;
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};

pub(super) const PERSONA_LIST: Tool = Tool {
    name: "agent007_persona_list",
    title: "agent007: list personas",
    about: "The personas that workflows can name.",
    nature: Nature::Looks,
    schema: schema::<ListArgs>,
    call: |call| Box::pin(list(call)),
};

pub(super) const PERSONA_SHOW: Tool = Tool {
    name: "agent007_persona_show",
    title: "agent007: show a persona",
    about: "One persona: what an agent that is it is told.",
    nature: Nature::Looks,
    schema: schema::<ShowArgs>,
    call: |call| Box::pin(show(call)),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListArgs {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ShowArgs {
    /// The name of the persona.
    name: String,
}

async fn list(mut call: Call) -> Result<Reply, Problem> {
    let ListArgs {} = call.arguments()?;
    let disk = call.state.disk();
    Ok(told(json!({"personas": disk.names(NameKind::Persona)})))
}

async fn show(mut call: Call) -> Result<Reply, Problem> {
    let ShowArgs { name } = call.arguments()?;
    let disk = call.state.disk();
    let found = disk.described(NameKind::Persona, &name);
    let persona = found.ok_or_else(|| Problem::unknown("persona", &name, disk.names(NameKind::Persona)))?;
    Ok(told(json!({"name": name, "system_prompt": persona.text, "preferred_model": persona.model})))
}
