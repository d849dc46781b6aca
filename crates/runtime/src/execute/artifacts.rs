//! Files about a run, for people and scripts. Never read back: the journal is the truth.
//!
//! `<dir>/<run>/run.json`, `context.json`, and for each attempt
//! `<dir>/<run>/steps/<path>/@<attempt>/{prompt.md,output.json,stdout,stderr}`. The path of an instance holds its item, round
//! and visit, so nothing overwrites anything. What has nothing to tell is not made: no folder for an attempt that left
//! nothing, no file for a stream on which nothing came. Making files is what costs most about a small step.

use std::io;
use std::path::{Path, PathBuf};

use longhaul_agents::private;
use longhaul_core::Json;
use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_core::state::State;
use serde::Serialize;
use serde_json::json;

/// Where the files of runs are.
#[derive(Debug, Clone)]
pub(crate) struct Artifacts {
    root: PathBuf,
}

impl Artifacts {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Where results are that may be used again: beside the runs, which come and go.
    pub(crate) fn cache(&self) -> PathBuf {
        self.home().join("cache")
    }

    /// The engine's own folder.
    pub(crate) fn home(&self) -> &Path {
        self.root.parent().unwrap_or(&self.root)
    }

    pub(crate) fn run(&self, run: &RunId) -> PathBuf {
        self.root.join(run.as_str())
    }

    /// Where the files of a run are made again that were on another machine; of several times, each has its own.
    pub(crate) fn carried(&self, run: &RunId, left_at: u64) -> PathBuf {
        self.run(run).join("carried").join(left_at.to_string())
    }

    /// The folder of an attempt, made.
    pub(crate) fn attempt(&self, run: &RunId, path: &StepPath, attempt: u32) -> io::Result<PathBuf> {
        let folder = self.attempt_dir(run, path, attempt);
        private::create_dir_all(&folder)?;
        Ok(folder)
    }

    /// Where the folder of an attempt is, or would be.
    pub(crate) fn attempt_dir(&self, run: &RunId, path: &StepPath, attempt: u32) -> PathBuf {
        let mut folder = self.run(run).join("steps");
        folder.extend(path.to_string().split('/'));
        folder.push(format!("@{attempt}"));
        folder
    }

    /// The folder that an agent's shim has in the folder of its attempt.
    pub(crate) const AGENT: &'static str = "agent";

    /// Whether an agent was started for an attempt, under a shim that outlives its engine.
    pub(crate) fn has_agent(&self, run: &RunId, path: &StepPath, attempt: u32) -> bool {
        self.attempt_dir(run, path, attempt).join(Self::AGENT).join("spec.json").is_file()
    }

    /// Writes what a run is and how it stands, and the names that it has set. For people: what cannot be written is not.
    pub(crate) fn write_run(&self, run: &RunId, state: &State) {
        let started = state.started.as_ref();
        let finished = state.finished.as_ref();
        let about = json!({
            "run": run, "workflow": started.map(|started| &started.workflow), "status": state.status_word(),
            "task": started.map(|started| &started.task), "inputs": started.map(|started| &started.inputs),
            "started_at": state.started_at, "ended_at": finished.map(|finished| finished.at),
            "message": finished.and_then(|finished| finished.message.as_ref()),
            "outputs": finished.map(|finished| &finished.outputs), "usage": state.usage,
        });
        let _ = self.write_json(run, "run.json", &about);
        let names = state.top_names();
        if !names.is_empty() || self.run(run).join("context.json").exists() {
            let _ = self.write_json(run, "context.json", &names);
        }
    }

    /// Writes what an attempt came to, if that is anything. For people: the journal has it anyway.
    pub(crate) fn write_output(folder: &Path, output: &Json) {
        let nothing = output.is_null() || output.as_str() == Some("");
        if !nothing && private::create_dir_all(folder).is_ok() {
            let _ = private::replace(&folder.join("output.json"), output.to_string().as_bytes());
        }
    }

    /// Writes a file of a run as JSON, whole or not at all.
    pub(crate) fn write_json(&self, run: &RunId, name: &str, value: &impl Serialize) -> io::Result<()> {
        let folder = self.run(run);
        private::create_dir_all(&folder)?;
        private::replace(&folder.join(name), &serde_json::to_vec_pretty(value).map_err(io::Error::other)?)
    }
}
