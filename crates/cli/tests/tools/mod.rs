//! Steps of the kind `tool` as people meet them: servers over pipes and HTTP, functions of Python, and the engine itself.
//!
//! `scripts/install-mcp-clients` fetches the official library for Python, with which one of the servers is made; without it that
//! test is skipped, and says so.

mod builtin;
mod python;
mod servers;
mod trust;

use crate::binary::project::{Project, RUN};
use serde_json::Value;

/// A project whose user has the server of this folder, as `hand`.
fn project(workflow: &str) -> Project {
    let project = Project::new(workflow);
    project.user_settings(&format!("[mcp.servers.hand]\n{}", by_hand()));
    project
}

/// The settings of the server of this folder.
fn by_hand() -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tools/server.py");
    format!("command = 'python3'\nargs = ['{script}']\n")
}

impl Project {
    /// What the run returned as `said`.
    fn said(&self) -> Value {
        let told = self.run();
        assert_eq!(told.code, 0, "{}{}", told.stdout, told.stderr);
        self.found("run_finished")["outputs"]["said"].clone()
    }

    /// Why the step failed: class and message.
    fn failed(&self) -> (String, String) {
        self.went_wrong(1)
    }

    /// Why its only step cannot be done as things are: a person is asked.
    fn asked(&self) -> String {
        self.went_wrong(3).1
    }

    fn went_wrong(&self, code: i32) -> (String, String) {
        let told = self.run();
        assert_eq!(told.code, code, "{}{}", told.stdout, told.stderr);
        let error = self.found("attempt_failed")["error"].clone();
        let text = |key: &str| error[key].as_str().unwrap_or_default().to_owned();
        (text("class"), text("message"))
    }

    fn stderr_of(&self, step: &str) -> String {
        std::fs::read_to_string(self.state(&format!("runs/{RUN}/steps/{step}/@1/stderr"))).unwrap_or_default()
    }
}

/// A workflow of one call, whose output is what the run returns.
fn one(call: &str) -> String {
    format!("do:\n  - {{id: it, {call}, output: said}}\noutputs: {{said: said}}\n")
}
