//! Tests the background engine with real processes: it is started on demand, there is one of it, it outlives terminals
//! and is replaced after a kill, it ends when nothing is left to do, and it leaves stopped runs alone.

mod ends;
mod stopped;

use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::binary::project::{Project, RUN};
use crate::binary::{Told, told};
use crate::crash::agents::Bench;
use crate::crash::trial::until;

const STEPS: &str = r#"
name: steps
do:
  - {id: a, run: 'echo "a $MARK" >> "$LOG"; until test -e go; do sleep 0.05; done'}
  - {id: b, run: 'echo "b $MARK" >> "$LOG"'}
"#;

/// A project whose user has a background engine of its own. It ends with the test.
struct Night(Project);

impl Night {
    fn new(workflow: &str) -> Self {
        Self(Project::new(workflow))
    }

    fn command(&self, args: &[&str]) -> Command {
        self.0.command(args)
    }

    fn go(&self) {
        std::fs::write(self.0.path("go"), "").unwrap();
    }

    fn detach(&self) -> Told {
        self.0.longhaul(&["run", "w.yaml", "--run-id", RUN, "--detach"])
    }

    fn status(&self) -> Value {
        serde_json::from_str(&self.0.longhaul(&["up", "--status", "--json"]).stdout).unwrap()
    }

    fn engine(&self) -> Option<u64> {
        self.status()["engine"]["pid"].as_u64()
    }

    fn stands(&self) -> Value {
        self.0.json(&["status", RUN, "--json"])["standing"].clone()
    }

    fn until_it_is(&self, word: &str) {
        until(word, || self.stands()["is"] == word);
    }
}

impl Drop for Night {
    fn drop(&mut self) {
        let _ = self.0.longhaul(&["up", "--stop"]);
    }
}

fn signal(name: &str, pid: u64) {
    assert!(Command::new("kill").args([name, &pid.to_string()]).status().unwrap().success());
}

fn background(mut command: Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn a_run_is_started_in_the_background_and_says_how_to_watch_and_stop_it() {
    let night = Night::new(STEPS);
    let told = night.detach();
    assert_eq!((told.code, told.stdout.trim()), (0, RUN), "{}", told.stderr);
    for part in ["the background engine has it (process ", "log: ", "longhaul watch run-1", "longhaul stop run-1"] {
        assert!(told.stderr.contains(part), "{part}: {}", told.stderr);
    }
    until("the first step", || night.0.log() == ["a "]);
    assert_eq!(night.stands()["is"], "running");
    night.go();
    night.until_it_is("succeeded");
    let log = night.status()["engine"]["workers"][0]["log"].as_str().unwrap().to_owned();
    assert!(std::fs::read_to_string(log).unwrap().contains("run-1 b: done"));
}

#[test]
fn only_the_user_can_read_what_the_engine_writes() {
    use std::os::unix::fs::MetadataExt;
    let night = Night::new(STEPS);
    night.go();
    assert_eq!(night.detach().code, 0);
    let folder = night.0.path("no-such-home/.local/state/longhaul/background");
    assert_eq!(folder.metadata().unwrap().mode() & 0o777, 0o700);
    for file in std::fs::read_dir(&folder).unwrap() {
        let file = file.unwrap();
        assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600, "{:?}", file.path());
        let text = std::fs::read_to_string(file.path()).unwrap_or_default();
        assert!(!text.contains("LONGHAUL_ORGANISATION") && !text.contains("no-such-home/.longhaul"), "{text}");
    }
    // Other users could have put a socket there.
    std::fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let refused = night.0.longhaul(&["up", "--status"]);
    assert_ne!(refused.code, 0);
    assert!(refused.stderr.contains("other users can write to"), "{}", refused.stderr);
    std::fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
}

#[test]
fn two_that_are_started_at_once_are_one() {
    let night = Night::new(STEPS);
    let starts: Vec<Child> = (0..4).map(|_| background(night.command(&["up", "--json"]))).collect();
    let engines: Vec<Value> = starts
        .into_iter()
        .map(|start| told(start.wait_with_output().unwrap()))
        .map(|told| serde_json::from_str(&told.stdout).unwrap_or_else(|_| panic!("{}", told.stderr)))
        .collect();
    assert!(engines.iter().all(|of| of["engine"]["pid"] == engines[0]["engine"]["pid"]), "{engines:?}");
    assert_eq!(night.status()["engine"]["workers"].as_array().unwrap().len(), 1);
}

#[test]
fn a_killed_engine_is_replaced_and_its_socket_is_in_nobodys_way() {
    let night = Night::new(STEPS);
    assert_eq!(night.detach().code, 0);
    until("the first step", || night.0.log().len() == 1);
    let (engine, worker) = (night.engine().unwrap(), night.status()["engine"]["workers"][0]["pid"].as_u64().unwrap());
    signal("-9", engine);
    signal("-9", worker);
    until("nobody is there", || night.stands()["is"] == "no_engine");
    assert_eq!(night.stands()["command"], "longhaul resume run-1");
    assert_eq!(night.0.longhaul(&["up", "--status"]).code, 1);
    night.go();
    night.0.ok(&["up"]);
    night.until_it_is("succeeded");
    assert_ne!(night.engine(), Some(engine));
}

#[test]
fn a_worker_that_dies_is_started_again() {
    let night = Night::new(STEPS);
    assert_eq!(night.detach().code, 0);
    until("the first step", || night.0.log().len() == 1);
    signal("-9", night.status()["engine"]["workers"][0]["pid"].as_u64().unwrap());
    night.go();
    night.until_it_is("succeeded");
    assert_eq!(night.status()["engine"]["workers"][0]["restarts"], 1);
}

#[test]
fn an_engine_with_nothing_to_do_ends_and_one_with_a_question_stays() {
    let night = Night::new("name: gate\ndo: [{id: ok, approve: 'Go?'}]\n");
    night.0.ok(&["run", "w.yaml", "--run-id", RUN, "--queue"]);
    night.0.ok(&["up", "--idle", "1"]);
    night.until_it_is("needs_you");
    assert_eq!(night.stands()["text"], "Go?");
    // Longer than an engine without a run stays.
    std::thread::sleep(std::time::Duration::from_secs(12));
    assert!(night.engine().is_some());
    night.0.ok(&["approve", RUN]);
    night.until_it_is("succeeded");
    until("its end", || night.engine().is_none());
}

#[test]
fn one_engine_serves_several_projects_each_with_its_own_environment() {
    let (one, two) = (Night::new(STEPS), Night::new(STEPS));
    let home = one.0.path("state");
    let start = |night: &Night, mark: &str| {
        let mut command = night.command(&["run", "w.yaml", "--run-id", RUN, "--detach"]);
        let told = told(command.env("XDG_STATE_HOME", &home).env("MARK", mark).output().unwrap());
        assert_eq!(told.code, 0, "{}", told.stderr);
        night.go();
    };
    start(&one, "eins");
    start(&two, "zwei");
    until("both", || one.0.log() == ["a eins", "b eins"] && two.0.log() == ["a zwei", "b zwei"]);
    let mut status = one.command(&["up", "--status", "--json"]);
    let status = told(status.env("XDG_STATE_HOME", &home).output().unwrap());
    let status: Value = serde_json::from_str(&status.stdout).unwrap();
    assert_eq!(status["engine"]["workers"].as_array().unwrap().len(), 2);
    ended(&one, &home);
}

fn ended(night: &Night, home: &Path) {
    assert!(night.command(&["up", "--stop"]).env("XDG_STATE_HOME", home).output().unwrap().status.success());
}

#[test]
fn a_later_environment_replaces_the_earlier_one_and_no_step_is_lost() {
    let night = Night::new(STEPS);
    let told_to = |mark: &str, run: &str| {
        let mut command = night.command(&["run", "w.yaml", "--run-id", run, "--detach"]);
        assert!(command.env("MARK", mark).output().unwrap().status.success());
    };
    told_to("old", RUN);
    until("the first step", || night.0.log() == ["a old"]);
    told_to("new", "run-2");
    // The new worker does not wait for the command of the old one.
    until("the second run", || night.0.log() == ["a old", "a new"]);
    assert_eq!(night.status()["engine"]["workers"][0]["is_renewed"], true);
    night.go();
    until("both runs", || night.0.log().len() == 4);
    let mut log = night.0.log();
    log.sort();
    assert_eq!(log, ["a new", "a old", "b new", "b new"]);
    let events = night.0.events();
    assert!(!events.iter().any(|event| event["event"] == "attempt_stopped" || event["event"] == "attempt_failed"));
}

/// The kernel sends the same signal when a terminal goes away.
#[test]
fn a_closed_terminal_hands_the_run_over_and_the_turn_of_its_agent_is_paid_once() {
    let bench = Bench::of(
        "name: agents\ndo:\n  - {id: first, prompt: Do it., agent: {backend: claude}}\n  - {id: second, prompt: Do more., agent: {backend: claude}}\n",
        "",
    );
    let mut run = bench.begin();
    until("the first turn", || bench.starts().len() == 1 && bench.has("session_seen"));
    signal("-HUP", run.id().into());
    assert!(run.wait().unwrap().success());
    until("the agent is adopted", || bench.has("attempt_adopted"));
    bench.go();
    until("the end", || bench.has("run_finished"));
    assert_eq!(bench.starts().len(), 2, "{:?}", bench.starts());
    assert!(!bench.has("attempt_stopped") && !bench.has("attempt_failed"));
    assert_eq!(bench.code(&["up", "--stop"], None), 0);
}

#[test]
fn a_closed_terminal_waits_for_a_command_and_leaves_the_rest_to_the_engine() {
    let night = Night::new(STEPS);
    let mut run = background(night.command(&["run", "w.yaml", "--run-id", RUN]));
    until("the first step", || night.0.log().len() == 1);
    // The kernel sends it, and the shell too.
    signal("-HUP", run.id().into());
    signal("-HUP", run.id().into());
    // The engine listens before it is asked.
    until("a worker", || !night.status()["engine"]["workers"][0].is_null());
    signal("-HUP", run.id().into());
    assert!(run.try_wait().unwrap().is_none(), "its command is running");
    night.go();
    assert!(run.wait().unwrap().success());
    night.until_it_is("succeeded");
    assert_eq!(night.0.log(), ["a ", "b "], "the command ran once");
    let events = night.0.events();
    assert!(!events.iter().any(|event| event["event"] == "attempt_stopped"));
    let log = std::fs::read_to_string(night.status()["engine"]["log"].as_str().unwrap()).unwrap();
    assert!(log.contains("run-1 is handed over"), "{log}");
}

#[test]
fn a_step_of_a_run_starts_no_background_engine() {
    let inner = "name: inner\ndo: [{id: x, run: 'true'}]\n";
    let night = Night::new(
        "name: outer\ndo: [{id: call, run: '\"$LONGHAUL\" run inner.yaml --detach; \"$LONGHAUL\" up; true'}]\n",
    );
    std::fs::write(night.0.path("inner.yaml"), inner).unwrap();
    let told = night.0.run();
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert_eq!(night.engine(), None);
    assert_eq!(night.0.json(&["runs", "--json"]).as_array().unwrap().len(), 2, "the inner run is recorded");
}
