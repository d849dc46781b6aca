//! A project with one agent, a scripted endpoint, and the command beside the test.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use longhaul_testkit::model_server::ModelServer;
use serde_json::Value;
use tempfile::TempDir;

use crate::binary::{Told, command, told};
use crate::real_agents::agent::Agent;

/// The id of the run in every project.
pub(crate) const RUN: &str = "run-1";

/// The key for the endpoint. It is long and unusual, because some agents remove it from all their output.
pub(crate) const KEY: &str = "sk-scripted-f3b1c8a2d90e";

/// A project with one workflow, `w.yaml`.
pub(crate) struct Project {
    folder: TempDir,
    pub(crate) server: ModelServer,
}

impl Project {
    /// A project with these steps, for this agent. The user's settings, not the project's, say how to call it.
    pub(crate) fn new(agent: &Agent, script: &str, steps: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = ModelServer::start(script).unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        std::fs::create_dir(folder.path().join(".longhaul")).unwrap();
        std::fs::create_dir_all(folder.path().join("home/.longhaul")).unwrap();
        std::fs::create_dir_all(folder.path().join("home/tmp")).unwrap();
        write("home/.longhaul/config.toml", &agent.settings(&server));
        write("w.yaml", &format!("name: w\ndefaults: {{agent: {}}}\n{}\n", agent.name, steps.trim()));
        Self { folder, server }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = command(self.folder.path(), args);
        // other tests use only the scripted agent; agents leave files in both folders
        command.env_remove("LONGHAUL_AGENT");
        command.env("HOME", self.path("home")).env("TMPDIR", self.path("home/tmp")).env("SCRIPTED_KEY", KEY);
        command
    }

    /// Another program in place of the command.
    pub(crate) fn program(&self, program: &Path) -> Command {
        let like = self.command(&[]);
        let mut command = Command::new(program);
        command.current_dir(self.folder.path());
        for (name, value) in like.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }

    pub(crate) fn longhaul(&self, args: &[&str]) -> Told {
        told(self.command(args).output().unwrap())
    }

    /// The same, with further variables.
    pub(crate) fn longhaul_with(&self, args: &[&str], env: &[(&str, &str)]) -> Told {
        told(self.command(args).envs(env.iter().copied()).output().unwrap())
    }

    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let told = self.longhaul(args);
        assert_eq!(told.code, 0, "{args:?}: {}{}\n{}", told.stdout, told.stderr, self.account());
        told.stdout
    }

    /// Runs the workflow to its end.
    pub(crate) fn run(&self) {
        self.ok(&["run", "w.yaml", "--run-id", RUN]);
    }

    /// Runs the workflow beside the test.
    pub(crate) fn start(&self) -> Background {
        self.start_with(&["run", "w.yaml", "--run-id", RUN])
    }

    pub(crate) fn start_with(&self, args: &[&str]) -> Background {
        let mut command = self.command(args);
        Background(Some(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()))
    }

    pub(crate) fn events(&self) -> Vec<Value> {
        let told = self.longhaul(&["events", RUN, "--json"]);
        told.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The events of one kind.
    pub(crate) fn all(&self, kind: &str) -> Vec<Value> {
        self.events().into_iter().filter(|event| event["event"] == kind).collect()
    }

    /// Waits until there is a matching event of a kind.
    pub(crate) fn until(&self, kind: &str, fits: impl Fn(&Value) -> bool) -> Value {
        self.patiently(kind, || self.all(kind).into_iter().find(&fits))
    }

    /// An output of the run.
    pub(crate) fn output(&self, name: &str) -> Value {
        let finished = self.all("run_finished").pop().unwrap_or_default();
        finished["outputs"][name].clone()
    }

    /// The classes of the failures, in order.
    pub(crate) fn failures(&self) -> Vec<String> {
        let class = |event: Value| event["error"]["class"].as_str().unwrap_or_default().to_owned();
        self.all("attempt_failed").into_iter().map(class).collect()
    }

    /// The number of requests in turns, without those on the agent's own account.
    pub(crate) fn asked(&self) -> usize {
        self.server.log().iter().filter(|entry| entry.n.is_some()).count()
    }

    /// The processes of this project: commands, agents and everything that these started.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let mark = format!("HOME={}", self.path("home").display());
        let marked = |pid: &u32| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            String::from_utf8_lossy(&environment).split('\0').any(|variable| variable == mark)
        };
        let names = std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names.filter_map(|name| name.parse().ok()).filter(marked).collect()
    }

    /// Kills them all at once, like a power failure.
    pub(crate) fn lose_power(&self) {
        while let pids @ [_, ..] = self.processes().as_slice() {
            let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
            // a process that has ended meanwhile is not a failure
            let _ = Command::new("kill").arg("-9").args(&pids).stderr(Stdio::null()).status().unwrap();
        }
    }

    /// Removes the files that agents keep, in the home folder and in the project.
    pub(crate) fn forget_conversations(&self) {
        for folder in [self.path("home"), crate::binary::state(self.command(&[]))] {
            for entry in std::fs::read_dir(folder).unwrap().filter_map(Result::ok) {
                let is_ours = [".longhaul", ".local", "runs"].iter().any(|name| entry.file_name() == *name);
                if entry.path().is_dir() && !is_ours {
                    std::fs::remove_dir_all(entry.path()).unwrap();
                }
            }
        }
    }

    /// The files of the project that contain a text.
    pub(crate) fn holding(&self, text: &str) -> Vec<String> {
        let told = Command::new("grep").args(["-rlF", text]).arg(self.folder.path()).output().unwrap();
        String::from_utf8_lossy(&told.stdout).lines().map(str::to_owned).collect()
    }

    /// Waits until no process of the project is left.
    pub(crate) fn until_quiet(&self) {
        self.patiently("nobody is left", || self.processes().is_empty().then_some(()));
    }

    /// Waits until a tool has made a file.
    pub(crate) fn until_file(&self, name: &str) {
        self.patiently(name, || self.path(name).exists().then_some(()));
    }

    /// Waits for something that other processes do.
    pub(crate) fn patiently<Found>(&self, what: &str, find: impl Fn() -> Option<Found>) -> Found {
        let patience = Instant::now() + Duration::from_secs(90);
        loop {
            if let Some(found) = find() {
                return found;
            }
            assert!(Instant::now() < patience, "never: {what}\n{}", self.account());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Everything that may explain a failure.
    fn account(&self) -> String {
        let log = self.server.log();
        let asked: Vec<String> = log
            .iter()
            .map(|entry| format!("{} side={} {} {:?}", entry.path, entry.side, entry.step, entry.prompt))
            .collect();
        format!("{}\nasked:\n{}", self.longhaul(&["events", RUN]).stdout, asked.join("\n"))
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        self.lose_power();
    }
}

/// A command that runs beside the test, and ends with it.
pub(crate) struct Background(Option<Child>);

impl Background {
    pub(crate) fn kill(mut self) {
        let mut child = self.0.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    pub(crate) fn end(mut self) -> Told {
        told(self.0.take().unwrap().wait_with_output().unwrap())
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            drop(child.kill());
            drop(child.wait());
        }
    }
}
