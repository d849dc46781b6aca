//! Tests several workers on several machines (processes with names of machines) around one PostgreSQL database.
use crate::binary;
mod carry;
mod fanout;
mod slots;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use longhaul_store::conformance::server;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::binary::Told;

const RUN: &str = "the-run";

/// A project with the same file on every machine, each in its own folder.
struct Fleet {
    store: String,
    machines: Vec<(String, TempDir)>,
    /// Whether they are folders of one machine.
    is_one: bool,
}

impl Fleet {
    /// Checkouts of one project.
    fn of(workflow: &str, settings: &str) -> Self {
        let named = "[fleet]\nproject = \"fleet\"\n";
        let is_told = settings.contains("[fleet]\n");
        let settings = if is_told { settings.replace("[fleet]\n", named) } else { format!("{settings}\n{named}") };
        Self::unnamed(workflow, &settings)
    }

    /// Folders without a project name.
    fn unnamed(workflow: &str, settings: &str) -> Self {
        let machine = |name: &&str| {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("work.yaml"), workflow).unwrap();
            std::fs::create_dir(folder.path().join(".longhaul")).unwrap();
            std::fs::write(folder.path().join(".longhaul/config.toml"), settings).unwrap();
            ((*name).to_owned(), folder)
        };
        let machines = ["alpha", "beta", "gamma"].iter().map(machine).collect();
        Self { store: server::shared().address(), machines, is_one: false }
    }

    fn git(&self, machine: &str, args: &[&str]) {
        let who = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-C"];
        let mut git = Command::new("git");
        git.args(who).arg(self.folder(machine)).args(args).stdout(Stdio::null()).stderr(Stdio::null());
        assert!(git.status().unwrap().success(), "{args:?}");
    }

    fn folder(&self, machine: &str) -> &Path {
        self.machines.iter().find(|(name, _)| name == machine).unwrap().1.path()
    }

    fn command(&self, machine: &str, args: &[&str]) -> Command {
        let mut command = binary::command(self.folder(machine), args);
        command.env("LONGHAUL_STORE", &self.store).env("LONGHAUL_LEASE_MS", "3000");
        if !self.is_one {
            command.env("LONGHAUL_HOST", machine);
        }
        command.env("SEEN", self.folder("gamma").join("seen"));
        command
    }

    fn told(&self, machine: &str, args: &[&str]) -> Told {
        binary::told(self.command(machine, args).output().unwrap())
    }

    /// Starts the run and leaves it to workers.
    fn detach(&self, machine: &str) {
        let told = self.told(machine, &["run", "work.yaml", "--run-id", RUN, "--queue"]);
        assert_eq!(told.code, 0, "{}", told.stderr);
    }

    fn worker(&self, machine: &str, args: &[&str]) -> Worker {
        let mut command = self.command(machine, &[&["worker"], args].concat());
        Worker(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    fn status(&self) -> Value {
        let told = self.told("gamma", &["status", RUN, "--json"]);
        serde_json::from_str(&told.stdout).unwrap_or_else(|_| panic!("{}", told.stderr))
    }

    fn is(&self, status: &str) -> bool {
        self.status()["status"] == status
    }

    /// Whether the run asks a question of a kind.
    fn asks(&self, kind: &str) -> bool {
        self.status()["questions"].as_array().is_some_and(|asked| asked.iter().any(|asked| asked["kind"] == kind))
    }

    fn happened(&self, event: &str) -> usize {
        self.events().iter().filter(|happened| happened["event"] == event).count()
    }

    fn events(&self) -> Vec<Value> {
        let told = self.told("gamma", &["events", RUN, "--json"]);
        told.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The machine of each attempt.
    fn made_on(&self) -> Vec<String> {
        let events = self.events();
        let placed = events.iter().filter(|event| event["host"].is_string() && event["path"].is_string());
        placed.map(|event| format!("{} {}", event["path"].as_str().unwrap(), event["host"].as_str().unwrap())).collect()
    }

    /// The lines that the steps have written.
    fn seen(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder("gamma").join("seen")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

/// A worker, killed at the end of the test.
struct Worker(Child);

impl Worker {
    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }

    /// Stops it and its running work; returns its exit code.
    fn stop(&mut self) -> Option<i32> {
        self.signal(Signal::TERM);
        self.0.wait().unwrap().code()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[track_caller]
fn until(what: &str, holds: impl Fn() -> bool) {
    let since = Instant::now();
    while !holds() {
        assert!(since.elapsed() < Duration::from_secs(120), "{what} did not come");
        std::thread::sleep(Duration::from_millis(50));
    }
}

const LABELS: &str = "
name: work
do:
  - {id: one, run: 'echo one'}
  - {id: two, run: 'echo two', runs_on: gpu, workspace: any}
  - {id: three, run: 'echo three'}
";

#[test]
fn a_step_goes_to_who_has_its_labels_and_the_next_one_back_to_its_files() {
    let fleet = Fleet::of(LABELS, "");
    fleet.detach("gamma");
    let _alpha = fleet.worker("alpha", &[]);
    until("the wait", || fleet.is("waiting"));
    let told = fleet.told("gamma", &["status", RUN]).stdout;
    assert!(
        told.contains("`two` waits for a worker with the label gpu in a checkout of its project; no such"),
        "{told}"
    );
    let _beta = fleet.worker("beta", &["--labels", "gpu,big", "--slots", "2", "--name", "bert"]);
    until("the end", || fleet.is("succeeded"));
    assert_eq!(fleet.made_on(), ["one alpha", "two beta", "three alpha"]);
    let workers: Value = serde_json::from_str(&fleet.told("gamma", &["workers", "--json"]).stdout).unwrap();
    let bert = workers["workers"].as_array().unwrap().iter().find(|worker| worker["name"] == "bert").unwrap();
    assert_eq!((&bert["host"], &bert["slots"], &bert["silent"]), (&"beta".into(), &2.into(), &false.into()));
    assert!(bert["labels"].as_array().unwrap().contains(&"big".into()));
}

/// The step decides whether it may end before it says that it has started: the tests allow it after that.
const LONG: &str = r#"
name: work
do:
  - id: long
    run: |
      test -e "$SEEN.go" && long=0 || long=300
      echo begun $LONGHAUL_HOST >> "$SEEN"
      sleep $long
      echo ended >> "$SEEN"
"#;

/// Whichever worker receives the message, the one that runs the attempt stops.
#[test]
fn a_cancel_told_on_one_machine_stops_the_work_on_another() {
    let fleet = Fleet::of(LONG, "");
    fleet.detach("gamma");
    let _workers = ["alpha", "beta"].map(|machine| fleet.worker(machine, &[]));
    until("the step", || fleet.seen().len() == 1);
    assert_eq!(fleet.told("gamma", &["cancel", RUN]).code, 0);
    until("the end", || fleet.is("cancelled"));
    assert_eq!(fleet.seen().len(), 1);
}

#[test]
fn a_worker_that_is_told_to_stop_hands_back_what_it_does() {
    let fleet = Fleet::of(LONG, "");
    fleet.detach("gamma");
    let mut alpha = fleet.worker("alpha", &[]);
    until("the step", || fleet.seen().len() == 1);
    assert_eq!(alpha.stop(), Some(0));
    assert!(fleet.events().iter().any(|event| event["event"] == "attempt_stopped"));
    assert!(!fleet.told("gamma", &["workers"]).stdout.contains("alpha"));
    std::fs::write(fleet.folder("gamma").join("seen.go"), "").unwrap();
    // The files of the run are there.
    let _beta = fleet.worker("beta", &[]);
    let _again = fleet.worker("alpha", &[]);
    until("the end", || fleet.is("succeeded"));
    assert_eq!(fleet.seen(), ["begun alpha", "begun alpha", "ended"]);
}

/// It slept through its lease, and another worker has its task: when it wakes up, its results are refused.
#[test]
fn a_worker_that_sleeps_through_its_lease_is_not_believed() {
    let zombie = LONG.replace("sleep $long", "sleep $long & wait");
    let fleet = Fleet::of(&zombie, "");
    fleet.detach("gamma");
    let alpha = fleet.worker("alpha", &[]);
    until("the step", || fleet.seen().len() == 1);
    alpha.signal(Signal::STOP);
    std::fs::write(fleet.folder("gamma").join("seen.go"), "").unwrap();
    let _other = fleet.worker("alpha", &["--name", "other"]);
    until("the end", || fleet.is("succeeded"));
    alpha.signal(Signal::CONT);
    let ended = |events: &[Value]| events.iter().filter(|event| event["event"] == "attempt_succeeded").count();
    assert_eq!(ended(&fleet.events()), 1);
    assert_eq!(fleet.seen(), ["begun alpha", "begun alpha", "ended"]);
}

const GATE: &str = "
name: work
do:
  - {id: one, run: 'echo one'}
  - {id: ok, approve: Continue?}
  - {id: two, run: 'echo two'}
";

/// Nothing runs elsewhere unless a person decides so.
#[test]
fn a_run_whose_machine_is_gone_asks_what_to_do() {
    let fleet = Fleet::of(GATE, "[fleet]\nhost_grace = '1s'\n");
    fleet.detach("gamma");
    let mut alpha = fleet.worker("alpha", &[]);
    until("the gate", || fleet.is("waiting"));
    assert_eq!(alpha.stop(), Some(0));
    let _beta = fleet.worker("beta", &[]);
    assert_eq!(fleet.told("gamma", &["approve", RUN]).code, 0);
    until("the question", || fleet.asks("machine"));
    let told = fleet.told("gamma", &["status", RUN]).stdout;
    assert!(told.contains("The machine `alpha` has been silent since"), "{told}");
    let command = format!("longhaul answer {RUN} two wait|abandon|cancel");
    assert!(told.contains(&command), "{told}");
    assert!(told.contains("is not possible: `fleet.sync` was not set when `one` wrote them"), "{told}");
    // No worker has it, and its first attempt has not started.
    let line = told.lines().find(|line| line.contains(" two ")).unwrap();
    assert!(!line.contains("on alpha") && !line.contains("attempt"), "{told}");
    let workers = fleet.told("gamma", &["workers"]).stdout;
    assert!(workers.contains(&format!("a person is asked what to do: longhaul status {RUN}")), "{workers}");
    assert_eq!(fleet.made_on(), ["one alpha"]);
    let refused = fleet.told("gamma", &["approve", RUN]);
    assert!(refused.stderr.contains("it takes: wait, abandon, cancel"), "{}", refused.stderr);
    // Only one step asks, so it need not be named; a worker is there that continues.
    let told = fleet.told("gamma", &["answer", RUN, "leave"]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert!(told.stderr.starts_with("Answered. The run "), "{}", told.stderr);
    until("the end", || fleet.is("succeeded"));
    assert_eq!(fleet.made_on(), ["one alpha", "two beta"]);
    let events = fleet.told("gamma", &["events", RUN]).stdout;
    assert!(events.contains("▸ one on alpha"), "{events}");
    assert!(["on beta", "by beta"].iter().any(|who| events.contains(&format!("▸ two attempt 2 {who}"))), "{events}");
    // On the machine that made it, nothing says that it is elsewhere.
    std::fs::remove_dir_all(binary::state(fleet.command("beta", &[])).join("runs")).unwrap();
    let told = fleet.told("beta", &["logs", RUN, "two"]).stderr;
    assert!(told.contains("`two` left no files in attempt") && !told.contains("it was made on"), "{told}");
}

/// A person who waits may decide otherwise, but need not: the question is withdrawn when the machine comes back.
#[test]
fn a_machine_that_comes_back_goes_on_whatever_was_asked() {
    let fleet = Fleet::of(GATE, "[fleet]\nhost_grace = '1s'\n");
    fleet.detach("gamma");
    let mut alpha = fleet.worker("alpha", &[]);
    until("the gate", || fleet.is("waiting"));
    assert_eq!(alpha.stop(), Some(0));
    let _beta = fleet.worker("beta", &[]);
    assert_eq!(fleet.told("gamma", &["approve", RUN]).code, 0);
    until("the question", || fleet.asks("machine"));
    assert_eq!(fleet.told("gamma", &["answer", RUN, "two", "wait"]).code, 0);
    until("the next question", || fleet.happened("host_missed") == 2 && fleet.asks("machine"));
    let _again = fleet.worker("alpha", &[]);
    until("the end", || fleet.is("succeeded"));
    assert_eq!(fleet.made_on(), ["one alpha", "two alpha"]);
    assert_eq!(fleet.happened("host_seen"), 1);
}

/// A step counts the steps beside it: how many locks exist while it holds one.
const MANY: &str = r#"
name: work
limits: {parallel: 20}
do:
  - for_each: [1, 2, 3, 4, 5, 6, 7, 8]
    parallel: 8
    id: all
    do:
      - id: item
        workspace: any
        run: 'mkdir -p "$SEEN.d/$$"; sleep 0.1; ls "$SEEN.d" | wc -l >> "$SEEN"; rmdir "$SEEN.d/$$"'
"#;

#[test]
fn no_more_is_done_at_once_than_the_fleet_may() {
    let fleet = Fleet::of(MANY, "[fleet]\nmax = 2\n");
    fleet.detach("gamma");
    let _workers = ["alpha", "beta"].map(|machine| fleet.worker(machine, &[]));
    until("the end", || fleet.is("succeeded"));
    let most = fleet.seen().iter().map(|line| line.trim().parse::<u32>().unwrap()).max();
    assert_eq!((fleet.seen().len(), most.unwrap() <= 2), (8, true), "{:?}", fleet.seen());
}

const PROMPTS: &str = "
name: work
limits: {parallel: 20}
do:
  - for_each: [1, 2, 3, 4, 5, 6, 7, 8]
    parallel: 8
    id: all
    do:
      - {id: item, workspace: any, prompt: 'Item {{ item }}'}
";

/// A turn counts from its claim until its end is recorded.
#[test]
fn an_agent_has_no_more_turns_at_once_than_the_fleet_may() {
    let fleet = Fleet::of(PROMPTS, "[fleet.backends.scripted]\nmax = 2\n");
    fleet.detach("gamma");
    let _workers = ["alpha", "beta"].map(|machine| fleet.worker(machine, &[]));
    until("the end", || fleet.is("succeeded"));
    let (mut open, mut most, mut ended) = (0, 0, 0);
    for event in fleet.events() {
        match event["event"].as_str().unwrap() {
            "attempt_started" => assert_eq!(event["queued"], serde_json::json!(["agent:scripted", "project:fleet"])),
            "attempt_claimed" => open += 1,
            "attempt_succeeded" => (open, ended) = (open - 1, ended + 1),
            _ => {}
        }
        most = most.max(open);
    }
    assert!((1..=2).contains(&most), "{most}");
    assert_eq!((open, ended), (0, 8));
}

const FILES: &str = "
name: work
do:
  - {id: one, run: 'echo here > left.txt'}
  - {id: ok, approve: Continue?}
  - {id: two, run: 'cat left.txt'}
";

/// Files in one checkout are not in another one, whatever the name of the machine.
#[test]
fn two_checkouts_of_a_machine_do_not_share_files() {
    let fleet = Fleet { is_one: true, ..Fleet::of(FILES, "") };
    fleet.detach("gamma");
    let mut alpha = fleet.worker("alpha", &[]);
    until("the gate", || fleet.is("waiting"));
    assert_eq!(alpha.stop(), Some(0));
    let _beta = fleet.worker("beta", &[]);
    assert_eq!(fleet.told("beta", &["approve", RUN]).code, 0);
    until("the wait", || fleet.happened("attempt_started") == 2);
    let told = fleet.told("beta", &["status", RUN]).stdout;
    let folder = fleet.folder("alpha").canonicalize().unwrap();
    assert!(told.contains(&format!(":{}`, where the files of the run are", folder.display())), "{told}");
    let _again = fleet.worker("alpha", &[]);
    until("the end", || fleet.is("succeeded"));
    assert!(fleet.folder("alpha").join("left.txt").exists());
}

/// Several projects can share a store; each one's work is done in its own checkouts.
#[test]
fn a_worker_takes_no_work_of_another_project() {
    let fleet = Fleet::unnamed("name: work\ndo:\n  - {id: one, run: 'pwd', workspace: any}\n", "");
    for (machine, name) in [("gamma", "the project"), ("beta", "another one")] {
        fleet.git(machine, &["init", "-q"]);
        fleet.git(machine, &["add", "work.yaml"]);
        fleet.git(machine, &["commit", "-q", "-m", name]);
    }
    fleet.git("alpha", &["init", "-q"]);
    fleet.git("alpha", &["fetch", "-q", fleet.folder("gamma").to_str().unwrap(), "HEAD"]);
    fleet.git("alpha", &["reset", "-q", "--hard", "FETCH_HEAD"]);
    fleet.detach("gamma");
    let _beta = fleet.worker("beta", &[]);
    until("the wait", || fleet.is("waiting"));
    let told = fleet.told("gamma", &["status", RUN]).stdout;
    assert!(told.contains("waits for a worker in a checkout of its project; no such worker is there"), "{told}");
    let _alpha = fleet.worker("alpha", &[]);
    until("the end", || fleet.is("succeeded"));
    assert_eq!(fleet.made_on(), ["one alpha"]);
}

const LEAVES: &str = r#"
name: work
do:
  - {id: any, run: 'touch any.txt', workspace: any}
  - {id: one, run: 'touch one.txt'}
  - {id: ok, approve: Continue?}
  - {id: two, run: 'touch two.txt'}
  - {id: more, run: 'touch more.txt', workspace: any}
"#;

/// Work that starts in a folder of no known project runs in no other folder, whichever workers are there.
#[test]
fn what_is_started_in_a_folder_of_no_known_project_is_done_there() {
    let fleet = Fleet::unnamed(LEAVES, "");
    fleet.git("beta", &["init", "-q"]);
    fleet.git("beta", &["commit", "-q", "--allow-empty", "-m", "another one"]);
    let told = fleet.told("gamma", &["run", "work.yaml", "--run-id", RUN, "--queue"]);
    assert!(told.stderr.contains("this folder has no project name (no git repository is"), "{}", told.stderr);
    let _others = ["alpha", "beta"].map(|machine| fleet.worker(machine, &[]));
    until("the wait", || fleet.is("waiting"));
    let text = fleet.told("beta", &["status", RUN]).stdout;
    assert!(text.contains("`any` waits for a worker on `gamma`, where the files of the run are"), "{text}");
    let gamma = fleet.worker("gamma", &[]);
    until("the gate", || fleet.asks("approval"));
    drop(gamma);
    // A person may give up that folder, but not for a checkout of another project.
    assert_eq!(fleet.told("beta", &["machines", "abandon", RUN]).code, 0);
    assert_eq!(fleet.told("beta", &["approve", RUN]).code, 0);
    until("the end", || fleet.is("succeeded"));
    assert_eq!(fleet.made_on(), ["any gamma", "one gamma", "two alpha", "more alpha"]);
    assert!(!fleet.folder("beta").join("two.txt").exists() && !fleet.folder("beta").join("more.txt").exists());
}

/// Files that become a project while a run waits are still its files.
#[test]
fn a_folder_that_becomes_a_project_goes_on_with_what_was_started_in_it() {
    let fleet = Fleet::unnamed("name: work\ndo:\n  - {id: one, run: 'pwd'}\n", "");
    fleet.detach("gamma");
    fleet.git("gamma", &["init", "-q"]);
    fleet.git("gamma", &["commit", "-q", "--allow-empty", "-m", "now it is one"]);
    let _gamma = fleet.worker("gamma", &[]);
    until("the end", || fleet.is("succeeded"));
    assert_eq!(fleet.made_on(), ["one gamma"]);
}
