//! Engines that die or lose their lease while an agent works under its shim.
//!
//! The agent is a script that speaks as Claude Code does. Each start is a line in a file: whether its conversation is new or
//! continued, and whether an agent of the same run still lived.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use crate::crash::trial::{ABORTED, RUN, Trial, at_once, end, is_sound, until};

const WORKFLOW: &str = r"
name: agents
do:
  - {id: first, prompt: Do it., agent: {backend: claude}, output: {as: first}}
  - {id: second, prompt: Do more., agent: {backend: claude}, output: {as: second}}
";

const AGENT: &str = r#"#!/bin/sh
[ "$1" = --version ] && { echo '2.1.999 (Claude Code)'; exit; }
folder=FOLDER
for word; do
    case "$before" in --session-id) how=new id=$word;; --resume) how=resumed id=$word;; esac
    case "$word" in --session-id=*) how=new id=${word#*=};; --resume=*) how=resumed id=${word#*=};; esac
    before=$word
done
cat > "$folder/prompt"
company=alone
[ -e "$folder/pid" ] && grep -qs "$folder/claude" "/proc/$(cat "$folder/pid")/cmdline" && company=beside
echo $$ > "$folder/pid"
echo "$how $id $company" >> "$folder/starts"
echo '{"type":"system","subtype":"init","session_id":"'$id'","model":"m","tools":[]}'
DOES
until [ -e "$folder/go" ]; do sleep 0.05; done
echo '{"type":"result","subtype":"success","is_error":false,"session_id":"'$id'","result":"done","stop_reason":"end_turn","terminal_reason":"completed","permission_denials":[],"total_cost_usd":0.25}'
"#;

/// A project with the agent in it.
pub(crate) struct Bench(Trial);

impl Bench {
    fn new() -> Self {
        Self::of(WORKFLOW, "")
    }

    /// Another workflow, whose agents do something as soon as their conversation has a name.
    pub(crate) fn of(workflow: &str, does: &str) -> Self {
        let bench = Self(Trial::of("agents", workflow));
        let (program, home) = (bench.file("claude"), bench.file("home/.longhaul"));
        let script = AGENT.replace("DOES", does).replace("FOLDER", &bench.0.path().display().to_string());
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::create_dir_all(&home).unwrap();
        let config = format!("[agents.claude]\nprogram = {program:?}\nauth = \"key\"\nkey_env = \"TEST_KEY\"\n");
        std::fs::write(home.join("config.toml"), config).unwrap();
        bench
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn events(&self) -> Vec<serde_json::Value> {
        self.0.events()
    }

    fn command(&self, args: &[&str], failpoint: Option<&str>) -> Command {
        let mut command = self.0.command(args, failpoint);
        command.env("HOME", self.file("home")).env_remove("LONGHAUL_AGENT").env("TEST_KEY", "k");
        // Where the trial looks for it.
        command.env("XDG_STATE_HOME", self.file("no-such-home/.local/state"));
        command.env("LONGHAUL_LEASE_MS", "1500").stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    pub(crate) fn begin(&self) -> Child {
        self.command(&["run", "agents.yaml", "the task", "--run-id", RUN], None).spawn().unwrap()
    }

    pub(crate) fn code(&self, args: &[&str], failpoint: Option<&str>) -> i32 {
        crate::binary::told(self.command(args, failpoint).output().unwrap()).code
    }

    /// Agents may end.
    pub(crate) fn go(&self) {
        std::fs::write(self.file("go"), "").unwrap();
    }

    pub(crate) fn starts(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.file("starts")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    pub(crate) fn has(&self, kind: &str) -> bool {
        self.0.events().iter().any(|event| event["event"] == kind)
    }

    /// Shims and agents of this project.
    pub(crate) fn alive(&self) -> Vec<u32> {
        let folder = self.0.path().display().to_string();
        let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let ours = processes.filter_map(|entry| {
            let command = std::fs::read(entry.path().join("cmdline")).ok()?;
            let pid = entry.file_name().to_str()?.parse().ok()?;
            String::from_utf8_lossy(&command).contains(&folder).then_some(pid)
        });
        ours.collect()
    }

    /// The run ended well, each result was recorded once, and nobody is left.
    fn ends_well(&self, at: &str) {
        let events = self.0.events();
        is_sound(&events);
        let end = end(&events);
        assert_eq!(end.status, "success", "{at}");
        assert_eq!(end.outputs, serde_json::json!({"first": "done", "second": "done"}), "{at}");
        until("the end of all agents", || self.alive().is_empty());
        assert!(self.starts().iter().all(|start| start.ends_with("alone")), "{at}: {:?}", self.starts());
    }
}

fn signal(name: &str, pid: u32) {
    assert!(Command::new("kill").args([name, &pid.to_string()]).status().unwrap().success());
}

/// One crash at an append. False if there are not so many.
fn crashes_at(point: &str) -> bool {
    let bench = Bench::new();
    bench.go();
    let code = bench.code(&["run", "agents.yaml", "the task", "--run-id", RUN], Some(point));
    if code != ABORTED {
        assert_eq!(code, 0, "{point}");
        return false;
    }
    let known = bench.code(&["resume", RUN], None);
    if known != 0 {
        assert_eq!(bench.code(&["run", "agents.yaml", "the task", "--run-id", RUN], None), 0, "{point}");
    }
    bench.ends_well(point);
    assert_eq!(bench.starts().len(), 2, "{point}: an agent was begun twice: {:?}", bench.starts());
    true
}

#[test]
fn an_agent_outlives_an_engine_that_dies_at_any_write_and_is_not_begun_again() {
    let reached = Mutex::new(0);
    at_once((1..=12).collect(), |number: u32| {
        for side in ["before", "after"] {
            *reached.lock().unwrap() += usize::from(crashes_at(&format!("append:{side}:{number}")));
        }
    });
    assert!(*reached.lock().unwrap() >= 8, "{reached:?}");
}

#[test]
fn what_was_killed_together_with_its_agent_goes_on_in_the_same_conversation() {
    let bench = Bench::new();
    let mut engine = bench.begin();
    until("the conversation", || bench.has("session_seen"));
    // The engine first: it must not see the others die.
    engine.kill().unwrap();
    engine.wait().unwrap();
    for pid in bench.alive() {
        let _gone = Command::new("kill").args(["-9", &pid.to_string()]).stderr(Stdio::null()).status();
    }
    bench.go();
    assert_eq!(bench.code(&["resume", RUN], None), 0);
    bench.ends_well("killed together");
    let starts = bench.starts();
    assert_eq!(starts.len(), 3, "{starts:?}");
    assert_eq!(starts[1], starts[0].replace("new", "resumed"));
}

/// The engine is stopped for longer than its lease. Whoever takes over ends the agent of the sleeper before it begins its own,
/// and the sleeper does nothing any more when it wakes.
#[test]
fn an_engine_that_slept_through_its_lease_loses_its_agent_and_lets_go() {
    let bench = Bench::new();
    let mut sleeper = bench.begin();
    until("the conversation", || bench.has("session_seen"));
    signal("-STOP", sleeper.id());
    let mut next = bench.command(&["worker"], None).spawn().unwrap();
    until("the second start", || bench.starts().len() == 2);
    signal("-CONT", sleeper.id());
    bench.go();
    until("the end of the run", || bench.0.is_over(RUN));
    assert_eq!(sleeper.wait().unwrap().code(), Some(0));
    signal("-INT", next.id());
    assert_eq!(next.wait().unwrap().code(), Some(0));
    bench.ends_well("slept");
    let starts = bench.starts();
    assert_eq!(starts.len(), 3, "{starts:?}");
    assert_eq!(starts[1], starts[0].replace("new", "resumed"));
    let failed: Vec<_> = bench.0.events().into_iter().filter(|event| event["event"] == "attempt_failed").collect();
    assert_eq!(failed.iter().map(|event| event["error"]["class"].clone()).collect::<Vec<_>>(), ["lost"], "{failed:?}");
}
