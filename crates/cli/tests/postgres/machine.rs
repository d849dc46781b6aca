//! A machine: a folder and a name, with the shared database.

use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::crash::trial::Trial;
use crate::serve::site::{Client, Server};

/// Short, so that a test does not wait for a minute.
pub(crate) const LEASE_MS: &str = "3000";

/// A machine.
pub(crate) struct Machine {
    pub(crate) name: &'static str,
    pub(crate) trial: Trial,
}

impl Machine {
    /// A machine whose checkout has one workflow, `work`.
    pub(crate) fn new(name: &'static str, text: &str, store: &str) -> Self {
        Self::with(name, &[("work", text)], store)
    }

    /// A machine whose checkout has several workflows.
    pub(crate) fn with(name: &'static str, workflows: &[(&str, &str)], store: &str) -> Self {
        let trial = Trial::new("none").kept_in(store);
        let folder = trial.path().join(".longhaul/workflows");
        std::fs::create_dir_all(&folder).unwrap();
        for (workflow, text) in workflows {
            std::fs::write(folder.join(format!("{workflow}.yaml")), text).unwrap();
        }
        Self { name, trial }
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.trial.command(args, None);
        command.env("LONGHAUL_HOST", self.name).env("LONGHAUL_LEASE_MS", LEASE_MS);
        command
    }

    /// A server, on its own port.
    pub(crate) fn serve(&self, args: &[&str]) -> Node {
        let server = Server::of(self.command(&[&["serve", "--json", "--listen", "127.0.0.1:0"], args].concat()));
        Node { client: server.client(&self.token()), _server: server }
    }

    /// A token for its server.
    pub(crate) fn token(&self) -> String {
        self.trial.longhaul(&["serve", "token", "--role", "operator"], None).stdout.trim().to_owned()
    }

    pub(crate) fn worker(&self) -> Process {
        Process(self.command(&["worker"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }
}

/// A server and a client of it.
pub(crate) struct Node {
    _server: Server,
    pub(crate) client: Client,
}

impl Node {
    /// Starts a run of `work` under a key.
    pub(crate) fn start(&self, key: &str) -> String {
        let made = self.client.make("/api/v1/runs", key, &json!({"workflow": "work"}));
        assert_eq!(made.status, 201, "{}", made.body);
        made.json()["run"].as_str().unwrap().to_owned()
    }

    pub(crate) fn run(&self, run: &str) -> Value {
        self.client.json(&format!("/api/v1/runs/{run}"))
    }

    /// Sends a message that the run must accept.
    pub(crate) fn tell(&self, run: &str, what: &str, body: &Value) {
        let told = self.client.post(&format!("/api/v1/runs/{run}/{what}"), body);
        assert_eq!(told.status, 200, "{what}: {}", told.body);
    }
}

/// A process that ends with the test.
pub(crate) struct Process(pub(crate) Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
