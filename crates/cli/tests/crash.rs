//! Kills the engine at every write of every workflow in `tests/crash`, and at random moments.
//!
//! **Invariant:** whatever the moment, going on leads to the same end; what was recorded as done is not done
//! again; nothing that the dead engine had started is left.

#![cfg(test)]

mod binary;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use binary::{Told, command, told};
use serde_json::Value;
use tempfile::TempDir;

const RUN: &str = "run-1";
const ABORTED: i32 = 128 + 6;
/// Coming back more often than this means that it does not get on.
const RESUMES_MAX: usize = 4;

/// A workflow and a project of its own to run it in.
struct Trial {
    folder: TempDir,
    workflow: String,
}

/// What came of a run.
#[derive(Debug, PartialEq)]
struct End {
    status: Value,
    outputs: Value,
}

impl Trial {
    fn new(workflow: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(".longhaul")).unwrap();
        for name in [format!("{workflow}.yaml"), format!("{workflow}.replies")] {
            let from = fixtures().join(&name);
            if from.exists() {
                std::fs::copy(from, folder.path().join(name)).unwrap();
            }
        }
        Self { folder, workflow: workflow.to_owned() }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn longhaul(&self, args: &[&str], failpoint: Option<&str>) -> Told {
        let mut command = command(self.path(), args);
        command.env("LOG", self.path().join("log"));
        if let Some(point) = failpoint {
            command.env("LONGHAUL_FAILPOINT", point);
        }
        told(command.output().unwrap())
    }

    /// Starts the run, or goes on if it exists.
    fn run(&self, failpoint: Option<&str>) -> Told {
        let file = format!("{}.yaml", self.workflow);
        let mut args = vec!["run", &file, "the task", "--run-id", RUN];
        let replies = self.replies();
        args.extend(replies.iter().flat_map(|replies| ["--script", replies]));
        self.longhaul(&args, failpoint)
    }

    /// Goes on; a run of which nothing was recorded is started again.
    fn resume(&self, failpoint: Option<&str>) -> Told {
        let mut args = vec!["resume", RUN];
        let replies = self.replies();
        args.extend(replies.iter().flat_map(|replies| ["--script", replies]));
        let told = self.longhaul(&args, failpoint);
        if told.stderr.contains("there is no run") { self.run(failpoint) } else { told }
    }

    fn replies(&self) -> Option<String> {
        let replies = format!("{}.replies", self.workflow);
        self.path().join(&replies).exists().then_some(replies)
    }

    /// Goes on to the end, whoever is asked says yes.
    fn finish(&self) {
        for _ in 0..RESUMES_MAX {
            let told = self.resume(None);
            match told.code {
                0 => return,
                3 => assert_eq!(self.longhaul(&["approve", RUN], None).code, 0),
                _ => panic!("{}: {} {}", self.workflow, told.stdout, told.stderr),
            }
        }
        panic!("{} does not come to an end", self.workflow);
    }

    fn events(&self) -> Vec<Value> {
        let told = self.longhaul(&["events", RUN, "--json"], None);
        told.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// How often each line is in the log.
    fn log(&self) -> BTreeMap<String, usize> {
        let text = std::fs::read_to_string(self.path().join("log")).unwrap_or_default();
        text.lines().fold(BTreeMap::new(), |mut counts, line| {
            *counts.entry(line.to_owned()).or_default() += 1;
            counts
        })
    }
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/crash")
}

fn end(events: &[Value]) -> End {
    let last = events.last().unwrap();
    assert_eq!(last["event"], "run_finished", "{last}");
    End { status: last["outcome"].clone(), outputs: last["outputs"].clone() }
}

fn attempt(event: &Value) -> (String, u64) {
    (event["path"].as_str().unwrap().to_owned(), event["attempt"].as_u64().unwrap())
}

/// No result twice, no start after a success, no gap. A rewind makes a step young again.
fn is_sound(events: &[Value]) {
    let mut results = HashSet::new();
    let mut succeeded = HashSet::new();
    for (at, event) in events.iter().enumerate() {
        assert_eq!(event["seq"], at as u64 + 1);
        match event["event"].as_str().unwrap() {
            "rewound" => succeeded.clear(),
            "attempt_started" => assert!(!succeeded.contains(&attempt(event).0), "done again: {event}"),
            "attempt_succeeded" => {
                assert!(results.insert(attempt(event)), "recorded twice: {event}");
                succeeded.insert(attempt(event).0);
            }
            "attempt_failed" => assert!(results.insert(attempt(event)), "recorded twice: {event}"),
            _ => {}
        }
    }
}

/// Attempts that were recorded as lost.
fn lost(events: &[Value]) -> usize {
    events.iter().filter(|event| event["error"]["class"] == "lost").count()
}

/// Commands that engines of this project started.
fn left(folder: &Path) -> Vec<String> {
    alive(folder, |environment| environment.contains("LONGHAUL_ENGINE="))
}

/// Processes of this project: their environment names our log.
fn alive(folder: &Path, is_meant: impl Fn(&str) -> bool) -> Vec<String> {
    let mark = format!("LOG={}", folder.join("log").display());
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let commands = processes.filter_map(|entry| {
        let environment = String::from_utf8_lossy(&std::fs::read(entry.path().join("environ")).ok()?).into_owned();
        let ours = environment.split('\0').any(|variable| variable == mark) && is_meant(&environment);
        let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        ours.then(|| String::from_utf8_lossy(&command).into_owned())
    });
    commands.collect()
}

/// What is left when the guard has done its work, or has had all the time that it may take on a busy machine.
/// The guard itself counts: a process that is just becoming another program can not be seen for a moment.
fn left_by_the_guard(folder: &Path) -> Vec<String> {
    let patience = Instant::now() + Duration::from_secs(30);
    loop {
        let left = alive(folder, |_| true);
        if left.is_empty() || Instant::now() > patience {
            return left;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// One crash: before or after the `number`th append. False if there are not so many.
fn crashes_at(workflow: &str, point: &str, reference: &Reference) -> bool {
    let trial = Trial::new(workflow);
    let told = trial.run(Some(point));
    if told.code != ABORTED {
        assert!([0, 3].contains(&told.code), "{workflow} {point}: {} {}", told.code, told.stderr);
        return false;
    }
    trial.finish();
    ends_as(&trial, reference, &format!("{workflow} {point}"));
    true
}

/// The run has ended as without a crash, and nothing is left of the engine that crashed.
fn ends_as(trial: &Trial, reference: &Reference, at: &str) {
    let events = trial.events();
    is_sound(&events);
    assert_eq!(end(&events), reference.end, "{at}");
    assert!(events.iter().filter(|event| event["event"] == "answered").count() <= 1, "{at}");
    more_only_for_what_was_lost(&trial.log(), &reference.log, lost(&events), at);
    assert_eq!(left(trial.path()), Vec::<String>::new(), "{at}");
}

fn more_only_for_what_was_lost(
    log: &BTreeMap<String, usize>,
    reference: &BTreeMap<String, usize>,
    lost: usize,
    at: &str,
) {
    assert_eq!(log.keys().collect::<Vec<_>>(), reference.keys().collect::<Vec<_>>(), "{at}");
    // What ran in the air may have written its line or not; what counts its own lines may even need fewer.
    let extra: usize = log.iter().map(|(line, count)| count.saturating_sub(reference[line])).sum();
    assert!(extra <= lost, "{at}: {log:?}, {lost} lost");
}

struct Reference {
    end: End,
    log: BTreeMap<String, usize>,
}

fn reference(workflow: &str) -> Reference {
    let trial = Trial::new(workflow);
    trial.finish();
    let events = trial.events();
    is_sound(&events);
    Reference { end: end(&events), log: trial.log() }
}

/// Crashes at every append; answers how many there were.
fn crash_everywhere(workflow: &str) -> usize {
    let reference = reference(workflow);
    assert_eq!(reference.end.status, "success", "{workflow}");
    let mut crashes = 0;
    for number in 1.. {
        let before = crashes_at(workflow, &format!("append:before:{number}"), &reference);
        let after = before && crashes_at(workflow, &format!("append:after:{number}"), &reference);
        crashes += usize::from(before) + usize::from(after);
        if !before {
            break;
        }
    }
    crashes
}

#[test]
fn a_crash_at_any_write_changes_nothing_about_the_end() {
    let mut workflows: Vec<String> = std::fs::read_dir(fixtures())
        .unwrap()
        .filter_map(|entry| Some(entry.unwrap().file_name().to_str()?.strip_suffix(".yaml")?.to_owned()))
        .collect();
    assert!(workflows.len() > 12, "{workflows:?}");
    workflows.sort();
    let (queue, crashes) = (Mutex::new(workflows), Mutex::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let Some(workflow) = queue.lock().unwrap().pop() else { break };
                    let made = crash_everywhere(&workflow);
                    *crashes.lock().unwrap() += made;
                }
            });
        }
    });
    assert!(*crashes.lock().unwrap() > 100);
}

/// The gate is answered by a process that dies, or the process that takes the answer in dies.
#[test]
fn a_crash_around_an_answer_loses_nothing_and_takes_it_once() {
    let reference = reference("gate");
    for side in ["before", "after"] {
        let trial = Trial::new("gate");
        assert_eq!(trial.run(None).code, 3);
        assert_eq!(trial.longhaul(&["approve", RUN], Some(&format!("post:{side}:1"))).code, ABORTED);
        trial.finish();
        ends_as(&trial, &reference, &format!("post {side}"));
    }
    for number in 1.. {
        let mut reached = false;
        for side in ["before", "after"] {
            let trial = Trial::new("gate");
            assert_eq!(trial.run(None).code, 3);
            assert_eq!(trial.longhaul(&["approve", RUN], None).code, 0);
            let point = format!("append:{side}:{number}");
            reached |= trial.resume(Some(&point)).code == ABORTED;
            trial.finish();
            ends_as(&trial, &reference, &point);
        }
        if !reached {
            break;
        }
    }
}

/// Numbers that look random and are the same every time.
struct Seeded(u64);

impl Seeded {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

const STRAYS: &str = r#"
name: strays
steps:
  - {id: a, run: "(setsid sleep 300 & ) ; (sleep 300 &) ; sleep 300"}
  - {id: b, run: "setsid bash -c 'sleep 300 & exec sleep 300' & sleep 300"}
"#;

#[test]
fn a_killed_engine_leaves_no_process_behind() {
    let mut seeded = Seeded(20);
    for round in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(".longhaul")).unwrap();
        std::fs::write(folder.path().join("strays.yaml"), STRAYS).unwrap();
        let mut command = command(folder.path(), &["run", "strays.yaml", "--run-id", RUN]);
        command.env("LOG", folder.path().join("log")).stdout(Stdio::null()).stderr(Stdio::null());
        let mut engine = command.spawn().unwrap();
        // Half of the rounds begin when something runs, whatever else the machine does.
        while round % 2 == 0 && left(folder.path()).is_empty() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(seeded.below(if round % 2 == 0 { 20 } else { 300 })));
        engine.kill().unwrap();
        engine.wait().unwrap();
        assert_eq!(left_by_the_guard(folder.path()), Vec::<String>::new(), "round {round}");
    }
}
