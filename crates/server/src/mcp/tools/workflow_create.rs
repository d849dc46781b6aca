//! `workflow_create`: writes a workflow as a file of the project.
//!
//! **Invariant:** it writes only workflows without errors, only into the project's own workflow folder, and replaces a
//! file only if asked to.

use std::io::Write;
use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::workflow_check;
use crate::mcp::answers::Saved;
use crate::mcp::arguments::schema;
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};

pub(crate) const TOOL: Tool = Tool {
    name: "workflow_create",
    title: "Save a workflow",
    about: "Checks the text of a workflow and, if it has no errors, saves it as `.longhaul/workflows/NAME.yaml` of the project. \
            Starts nothing.",
    nature: Nature::Ends,
    schema: schema::<Args>,
    call: |call| Box::pin(create(call)),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The name of the workflow: small letters, digits and dashes.
    name: String,
    /// The text of the workflow, as YAML.
    text: String,
    /// Whether to replace a workflow of the project with this name.
    #[serde(default)]
    overwrite: bool,
}

async fn create(mut call: Call) -> Result<Reply, Problem> {
    let args: Args = call.arguments()?;
    if !call.caller.who.inside.is_empty() {
        return Err(Problem::new("a step of a run may not change workflows; let a person do it outside of the run"));
    }
    if !is_name(&args.name) {
        return Err(Problem::new(format!(
            "`{}` cannot be the name of a workflow: 1 to 64 small letters, digits and single dashes between them",
            args.name
        )));
    }
    let report = workflow_check::of_text(&call.state, &args.name, args.text.clone());
    if report.has_errors() {
        return Err(Problem::new(format!(
            "it has errors; nothing was written\n\n{}",
            workflow_check::in_words(&report)
        )));
    }
    let folder = call.state.disk().project.root.join(".longhaul/workflows");
    let file = folder.join(format!("{}.yaml", args.name));
    write(&folder, &file, &args).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Problem::new(format!("there is a workflow `{}` already; `overwrite: true` replaces it", args.name))
        }
        _ => Problem::new(format!("{} cannot be written: {error}", file.display())),
    })?;
    let text = format!("saved as {}; start it with the tool `start` or `run`", file.display());
    let saved = Saved { checked: workflow_check::as_data(&report), name: args.name, file };
    Ok(Reply::Done(text, json!(saved)))
}

fn is_name(name: &str) -> bool {
    let plain = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    plain && (1..=64).contains(&name.len()) && !name.starts_with('-') && !name.ends_with('-') && !name.contains("--")
}

/// Writes the file. It is complete or not there.
fn write(folder: &Path, file: &Path, args: &Args) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    if !args.overwrite {
        let mut new = std::fs::OpenOptions::new().write(true).create_new(true).open(file)?;
        return new.write_all(args.text.as_bytes());
    }
    let beside = folder.join(format!(".{}.tmp", args.name));
    std::fs::write(&beside, &args.text)?;
    std::fs::rename(beside, file)
}
