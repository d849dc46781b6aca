//! Lists and sends the files of a run.
//!
//! **Invariant:** a file is sent only if it lies in the folder of the run, whatever its name is and wherever links
//! point. A browser never executes it.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use axum::http::{StatusCode, header};
use longhaul_core::id::RunId;
use schemars::JsonSchema;
use serde::Serialize;

use super::call::{Call, Reply};
use super::elsewhere;
use super::problem::Problem;

/// The most files to list.
const FILES_MAX: usize = 2000;
/// How deep to look into folders.
const DEPTH_MAX: usize = 12;
/// The largest file to send.
const FILE_BYTES_MAX: u64 = 32 << 20;

/// A file of a run.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Artifact {
    name: String,
    bytes: u64,
    #[schemars(extend("enum" = ["text", "diff", "json", "other"]))]
    kind: &'static str,
}

/// The files of a run, by name.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Artifacts {
    artifacts: Vec<Artifact>,
    /// Whether there are more files than are listed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    more: bool,
    /// Machines with files of the run that are not here.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    elsewhere: BTreeSet<String>,
}

pub(super) async fn list(call: Call) -> Result<Reply, Problem> {
    let run = call.run().await?;
    let root = call.state().engine().run_dir(&run);
    let mut found = Vec::new();
    walk(&root, Path::new(""), 0, &mut found);
    found.sort_by(|a, b| a.name.cmp(&b.name));
    let elsewhere = elsewhere::machines(call.state().engine(), &run).await?;
    let more = found.len() > FILES_MAX;
    found.truncate(FILES_MAX);
    Reply::json(&Artifacts { artifacts: found, more, elsewhere })
}

/// Lists the files in a folder. It does not follow links.
fn walk(root: &Path, below: &Path, depth: usize, found: &mut Vec<Artifact>) {
    let files = std::fs::read_dir(root.join(below)).into_iter().flatten().flatten();
    for file in files {
        if found.len() > FILES_MAX || depth > DEPTH_MAX {
            return;
        }
        let Ok(about) = file.metadata() else { continue };
        let name = below.join(file.file_name());
        if about.is_dir() {
            walk(root, &name, depth + 1, found);
        } else if about.is_file() && is_shown(&name) {
            let name = name.to_string_lossy().into_owned();
            found.push(Artifact { kind: kind(&name), name, bytes: about.len() });
        }
    }
}

/// Whether to show a file. The engine's own files about a process are hidden.
fn is_shown(name: &Path) -> bool {
    let is_shim = name.parent().and_then(Path::file_name).is_some_and(|folder| folder == "agent");
    !is_shim && name.extension().is_none_or(|ending| ending != "tmp")
}

fn kind(name: &str) -> &'static str {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending).unwrap_or_default();
    match ending {
        "json" => "json",
        "diff" | "patch" => "diff",
        "md" | "txt" | "log" | "jsonl" | "yaml" | "yml" | "toml" | "csv" | "sh" | "rs" | "ts" | "py" | "html" => "text",
        _ if name.ends_with("stdout") || name.ends_with("stderr") => "text",
        _ => "other",
    }
}

pub(super) async fn one(call: Call) -> Result<Reply, Problem> {
    let run = call.run().await?;
    let name = call.query("name").ok_or_else(|| Problem::unreadable("`name` is missing in the query."))?;
    let Some(file) = inside(&call.state().engine().run_dir(&run), name) else {
        let machines = elsewhere::machines(call.state().engine(), &run).await?;
        return Err(missing(&run, name, machines));
    };
    let mut bytes = Vec::new();
    let open = File::open(file).map_err(|_| missing(&run, name, BTreeSet::new()))?;
    if open.metadata().is_ok_and(|about| about.len() > FILE_BYTES_MAX) {
        return Err(Problem::unfit(format!(
            "the file has more than {FILE_BYTES_MAX} bytes; it is in the folder of the run"
        )));
    }
    open.take(FILE_BYTES_MAX).read_to_end(&mut bytes).map_err(|error| Problem::failing(error.to_string()))?;
    let is_text = std::str::from_utf8(&bytes).is_ok() && !bytes.contains(&0);
    let reply = if is_text {
        Reply::bytes(StatusCode::OK, "text/plain; charset=utf-8", bytes)
    } else {
        Reply::bytes(StatusCode::OK, "application/octet-stream", bytes).with(header::CONTENT_DISPOSITION, "attachment")
    };
    Ok(reply.with(header::CONTENT_SECURITY_POLICY, "sandbox"))
}

/// The error for a missing file. It may be on another machine.
fn missing(run: &RunId, name: &str, machines: BTreeSet<String>) -> Problem {
    let machines: Vec<String> = machines.into_iter().collect();
    let rest =
        if machines.is_empty() { String::new() } else { format!(" here; others are on {}", machines.join(", ")) };
    Problem::missing(format!("There is no file `{name}` in {run}{rest}."))
}

/// The path of a file, if it lies in the folder.
fn inside(root: &Path, name: &str) -> Option<PathBuf> {
    let path = Path::new(name);
    let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    if name.is_empty() || name.contains('\0') || !is_plain || !is_shown(path) {
        return None;
    }
    let real = root.join(path).canonicalize().ok()?;
    (real.starts_with(root.canonicalize().ok()?) && real.is_file()).then_some(real)
}
