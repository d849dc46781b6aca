//! A project with one workflow, `w.yaml`, and the command inside it.

use std::path::PathBuf;
use std::sync::Arc;

use longhaul_runtime::{Engine, EngineOptions, System};
use longhaul_store::Sqlite;
use serde_json::Value;
use tempfile::TempDir;

use super::{Told, command, told};

/// The id of the run in every project.
pub(crate) const RUN: &str = "run-1";

/// A project with one workflow, and an empty home.
pub(crate) struct Project(TempDir);

impl Project {
    pub(crate) fn new(workflow: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(".longhaul")).unwrap();
        std::fs::write(folder.path().join("w.yaml"), workflow).unwrap();
        Self(folder)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A file in the state folder of the project, beside the store.
    pub(crate) fn state(&self, name: &str) -> PathBuf {
        super::state(self.command(&[])).join(name)
    }

    /// The user's own settings.
    pub(crate) fn user_settings(&self, text: &str) {
        std::fs::create_dir_all(self.path("no-such-home/.longhaul")).unwrap();
        std::fs::write(self.path("no-such-home/.longhaul/config.toml"), text).unwrap();
    }

    /// The command, not started yet. Its steps find it as `$LONGHAUL`, and files to write to as `$LOG` and `$OUT`.
    pub(crate) fn command(&self, args: &[&str]) -> std::process::Command {
        let mut command = command(self.0.path(), args);
        command.env("LONGHAUL", env!("CARGO_BIN_EXE_longhaul")).env("LONGHAUL_ORGANISATION", self.path("organisation"));
        command.env("LOG", self.path("log")).env("OUT", self.path("out"));
        command
    }

    pub(crate) fn longhaul(&self, args: &[&str]) -> Told {
        told(self.command(args).output().unwrap())
    }

    /// Runs the workflow.
    pub(crate) fn run(&self) -> Told {
        self.longhaul(&["run", "w.yaml", "--run-id", RUN])
    }

    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let told = self.longhaul(args);
        assert_eq!(told.code, 0, "{args:?}: {}{}", told.stdout, told.stderr);
        told.stdout
    }

    pub(crate) fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.ok(args)).unwrap()
    }

    pub(crate) fn events(&self) -> Vec<Value> {
        let told = self.longhaul(&["events", RUN, "--json"]);
        told.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The lines that its steps wrote to `$LOG`.
    pub(crate) fn log(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.path("log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The last event of a kind.
    pub(crate) fn found(&self, event: &str) -> Value {
        let events = self.ok(&["events", RUN, "--json"]);
        let mut events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        events.rfind(|found| found["event"] == event).unwrap_or_default()
    }

    /// A rejected command names the reason, does not exit with 0, and leaves the run as it was.
    pub(crate) fn refuses(&self, args: &[&str], reason: &str) {
        let before = self.events();
        let told = self.longhaul(args);
        assert!([1, 2].contains(&told.code), "{args:?}: {}{}", told.stdout, told.stderr);
        assert!(told.stderr.contains(reason), "{args:?}: {}", told.stderr);
        assert_eq!(self.events(), before, "{args:?}");
    }

    /// Does something to the same store through another interface.
    pub(crate) fn inside<T>(&self, act: impl AsyncFnOnce(Engine) -> T) -> T {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            // The first command makes the folder.
            self.ok(&["runs"]);
            let store = Sqlite::open(self.state("longhaul.db"), Default::default()).unwrap();
            let options = EngineOptions { runs_dir: self.state("runs"), ..EngineOptions::default() };
            act(Engine::new(Arc::new(store), Arc::new(System), options)).await
        })
    }
}
