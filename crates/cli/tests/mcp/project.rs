//! A project with workflows, and servers of it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::binary::{Told, command, longhaul, state};
use crate::mcp::wire::Pipes;

/// Three steps side by side, then one that needs them all.
pub(crate) const THREE: &str = "
name: three
description: Three things and then one
steps:
  - {id: a, prompt: do a, output: x}
  - {id: b, depends_on: [], prompt: do b, output: y}
  - {id: c, depends_on: [], prompt: do c, output: z}
  - {id: d, depends_on: [a, b, c], prompt: '{{ x }}{{ y }}{{ z }} for {{ task }}', output: all}
";

/// A plan that a person reviews, a command, and a step that needs both.
pub(crate) const RELAY: &str = "
name: relay
description: Plan, count, build
do:
  - {id: plan, prompt: 'Plan {{ task }}', output: plan, review: Is the plan good?}
  - {id: count, run: printf 7, output: lines}
  - {id: build, prompt: 'Build {{ plan }} in {{ lines }} lines', output: built}
";

/// Only steps that the engine does by itself.
pub(crate) const COMMANDS: &str = "
name: commands
description: Two commands
inputs: {word: {type: string, description: What is said}}
do:
  - {id: one, run: 'printf \"$WORD\"', env: {WORD: '{{ inputs.word }}'}, output: first}
  - {id: two, run: printf two, output: second}
outputs: {said: '{{ first }} {{ second }}'}
";

/// A project.
pub(crate) struct Project {
    folder: TempDir,
}

impl Project {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workflows = folder.path().join(".longhaul/workflows");
        std::fs::create_dir_all(&workflows).unwrap();
        for (name, text) in [("three", THREE), ("relay", RELAY), ("commands", COMMANDS)] {
            std::fs::write(workflows.join(format!("{name}.yaml")), text).unwrap();
        }
        Self { folder }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn state(&self) -> PathBuf {
        state(command(self.path(), &[]))
    }

    pub(crate) fn longhaul(&self, args: &[&str]) -> Told {
        longhaul(self.path(), args)
    }

    /// A server over pipes, not started yet.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let args: Vec<&str> = ["mcp"].into_iter().chain(args.iter().copied()).collect();
        command(self.path(), &args)
    }

    /// A client of a server over pipes.
    pub(crate) fn pipes(&self, client: &str) -> Pipes {
        Pipes::open(self.command(&[]), client)
    }

    /// A server over HTTP.
    pub(crate) fn web(&self, args: &[&str]) -> Web {
        let args: Vec<&str> = ["--http", "127.0.0.1:0"].into_iter().chain(args.iter().copied()).collect();
        Web::start(self.command(&args))
    }

    pub(crate) fn token(&self) -> String {
        std::fs::read_to_string(self.state().join("mcp/token")).unwrap()
    }
}

/// A server over HTTP.
pub(crate) struct Web {
    child: Child,
    pub(crate) url: String,
    /// The lines that it printed before it was ready.
    pub(crate) said: Vec<String>,
}

impl Web {
    fn start(mut command: Command) -> Self {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut web = Self { child, url: String::new(), said: Vec::new() };
        let mut lines = BufReader::new(web.child.stderr.take().unwrap()).lines();
        while web.url.is_empty() {
            let line = lines.next().unwrap_or_else(|| panic!("it ended: {:?}", web.said)).unwrap();
            match line.strip_prefix("serving at ") {
                Some(url) => web.url = url.to_owned(),
                None => web.said.push(line),
            }
        }
        // Reads on, so that later output does not block the server.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        web
    }

    pub(crate) fn address(&self) -> &str {
        self.url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap()
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
