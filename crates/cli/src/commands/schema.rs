//! `longhaul schema`: the JSON Schema of workflow files, for editors.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use longhaul_core::catalog::schema;
use longhaul_project::Project;
use serde_json::{Value, json};

use crate::ui;

/// Files that the schema is for, seen from the project's folder.
const PATTERNS: &[&str] = &[
    ".longhaul/workflows/*.yaml",
    ".longhaul/workflows/*/workflow.yaml",
    ".agents/workflows/*.yaml",
    ".agents/workflows/*/workflow.yaml",
];

/// Print the JSON Schema of workflow files, or make VS Code and Zed use it
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Write `.longhaul/schema.json` and the settings of VS Code and Zed that point to it
    #[arg(long)]
    install: bool,
    /// Print the OpenAPI document of `longhaul serve` instead
    #[arg(long, conflicts_with = "install")]
    openapi: bool,
    /// Print what was installed as JSON (the schema itself always is)
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if args.openapi {
        ui::print_json(&longhaul_server::http::openapi())?;
        return Ok(ExitCode::SUCCESS);
    }
    if !args.install {
        ui::print_json(&schema::workflow())?;
        return Ok(ExitCode::SUCCESS);
    }
    let written = install(&Project::current()?.root)?;
    if args.json {
        ui::print_json(&json!({"written": written}))?;
    } else {
        written.iter().for_each(|path| ui::say(format!("wrote {path}")));
        ui::say("other editors: start a file with\n# yaml-language-server: $schema=<path to .longhaul/schema.json>");
    }
    Ok(ExitCode::SUCCESS)
}

fn install(root: &Path) -> Result<Vec<String>> {
    let file = root.join(".longhaul/schema.json");
    write(&file, &schema::workflow())?;
    let mut written = vec![file];
    for (path, settings) in editors() {
        let path = root.join(path);
        if let Some(merged) = merge(&path, &settings)? {
            write(&path, &merged)?;
            written.push(path);
        } else {
            let ours = serde_json::to_string_pretty(&settings)?;
            ui::say(format!("{} is not plain JSON, so it was left alone; add:\n{ours}", path.display()));
        }
    }
    Ok(written.iter().map(|path| path.display().to_string()).collect())
}

fn editors() -> [(PathBuf, Value); 2] {
    let schemas = json!({"./.longhaul/schema.json": PATTERNS});
    let vscode = json!({"yaml.schemas": schemas});
    let zed = json!({"lsp": {"yaml-language-server": {"settings": {"yaml": {"schemas": schemas}}}}});
    [(PathBuf::from(".vscode/settings.json"), vscode), (PathBuf::from(".zed/settings.json"), zed)]
}

/// The settings with ours added; `None` if the file is not plain JSON.
fn merge(path: &Path, ours: &Value) -> Result<Option<Value>> {
    let mut settings = match std::fs::read_to_string(path) {
        Ok(text) if !text.trim().is_empty() => match serde_json::from_str(&text) {
            Ok(settings @ Value::Object(_)) => settings,
            _ => return Ok(None),
        },
        Ok(_) => json!({}),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => json!({}),
        Err(error) => return Err(error).with_context(|| format!("{} cannot be read", path.display())),
    };
    add(&mut settings, ours);
    Ok(Some(settings))
}

fn add(settings: &mut Value, ours: &Value) {
    match (settings, ours) {
        (Value::Object(settings), Value::Object(ours)) => {
            for (key, value) in ours {
                add(settings.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (settings, ours) => *settings = ours.clone(),
    }
}

fn write(path: &Path, value: &Value) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    }
    let text = serde_json::to_string_pretty(value)? + "\n";
    std::fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))
}
