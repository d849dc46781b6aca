//! A project of its own for one crash, and what must hold afterwards.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::binary::{Told, command, told};

pub(crate) const RUN: &str = "run-1";
pub(crate) const ABORTED: i32 = 128 + 6;
/// Coming back more often than this means that it does not get on.
pub(crate) const RESUMES_MAX: usize = 4;

/// A workflow and a project of its own to run it in.
pub(crate) struct Trial {
    folder: TempDir,
    workflow: String,
    /// Where runs are kept, if not in the project.
    store: Option<String>,
}

/// What came of a run.
#[derive(Debug, PartialEq)]
pub(crate) struct End {
    pub(crate) status: Value,
    pub(crate) outputs: Value,
}

impl Trial {
    pub(crate) fn new(workflow: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(".longhaul")).unwrap();
        for name in [format!("{workflow}.yaml"), format!("{workflow}.replies")] {
            let from = fixtures().join(&name);
            if from.exists() {
                std::fs::copy(from, folder.path().join(name)).unwrap();
            }
        }
        let settings = fixtures().join(format!("{workflow}.toml"));
        if settings.exists() {
            let home = folder.path().join("no-such-home/.longhaul");
            std::fs::create_dir_all(&home).unwrap();
            std::fs::copy(settings, home.join("config.toml")).unwrap();
        }
        Self { folder, workflow: workflow.to_owned(), store: elsewhere() }
    }

    /// A workflow whose runs are kept elsewhere. Whoever shares that place has a checkout of the same project.
    pub(crate) fn kept_in(self, store: &str) -> Self {
        let settings = self.path().join(".longhaul/config.toml");
        if !settings.exists() {
            std::fs::write(settings, "[fleet]\nproject = \"trial\"\n").unwrap();
        }
        Self { store: Some(store.to_owned()), ..self }
    }

    /// A workflow that is written here.
    pub(crate) fn of(workflow: &str, text: &str) -> Self {
        let trial = Self::new(workflow);
        std::fs::write(trial.path().join(format!("{workflow}.yaml")), text).unwrap();
        trial
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn longhaul(&self, args: &[&str], failpoint: Option<&str>) -> Told {
        told(self.command(args, failpoint).output().unwrap())
    }

    pub(crate) fn command(&self, args: &[&str], failpoint: Option<&str>) -> std::process::Command {
        let mut command = command(self.path(), args);
        command.env("LOG", self.path().join("log"));
        command.envs(self.store.iter().map(|store| ("LONGHAUL_STORE", store)));
        command.env("TOOL_SERVER", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tools/server.py"));
        if let Some(point) = failpoint {
            command.env("LONGHAUL_FAILPOINT", point);
        }
        command
    }

    /// A worker beside the test.
    pub(crate) fn worker(&self, failpoint: Option<&str>) -> Worker {
        let mut command = self.command(&["worker"], failpoint);
        Worker(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    /// The status of a run, in a word.
    pub(crate) fn status(&self, run: &str) -> String {
        let told = self.longhaul(&["status", run, "--json"], None);
        let status: Value = serde_json::from_str(&told.stdout).unwrap_or_default();
        status["status"].as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn is_over(&self, run: &str) -> bool {
        ["succeeded", "failed", "cancelled"].contains(&self.status(run).as_str())
    }

    /// Starts the run, or continues if it exists.
    pub(crate) fn run(&self, failpoint: Option<&str>) -> Told {
        let file = format!("{}.yaml", self.workflow);
        let mut args = vec!["run", &file, "the task", "--run-id", RUN];
        let replies = self.replies();
        args.extend(replies.iter().flat_map(|replies| ["--script", replies]));
        self.longhaul(&args, failpoint)
    }

    /// Continues; a run of which nothing was recorded is started again.
    pub(crate) fn resume(&self, failpoint: Option<&str>) -> Told {
        let mut args = vec!["resume", RUN];
        let replies = self.replies();
        args.extend(replies.iter().flat_map(|replies| ["--script", replies]));
        let told = self.longhaul(&args, failpoint);
        if told.stderr.contains("there is no run") { self.run(failpoint) } else { told }
    }

    pub(crate) fn replies(&self) -> Option<String> {
        let replies = format!("{}.replies", self.workflow);
        self.path().join(&replies).exists().then_some(replies)
    }

    /// Continues to the end, whoever is asked says yes.
    pub(crate) fn finish(&self) {
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

    pub(crate) fn events(&self) -> Vec<Value> {
        let told = self.longhaul(&["events", RUN, "--json"], None);
        told.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// How often each line is in the log.
    pub(crate) fn log(&self) -> BTreeMap<String, usize> {
        let text = std::fs::read_to_string(self.path().join("log")).unwrap_or_default();
        text.lines().fold(BTreeMap::new(), |mut counts, line| {
            *counts.entry(line.to_owned()).or_default() += 1;
            counts
        })
    }
}

/// Where runs are kept unless a trial says otherwise. `LONGHAUL_CRASH_STORE=postgres cargo test -p longhaul --test crash` tries everything
/// with databases; what is tried by default is what costs the least.
fn elsewhere() -> Option<String> {
    match std::env::var("LONGHAUL_CRASH_STORE").ok()?.as_str() {
        "postgres" => Some(longhaul_store::conformance::server::shared().address()),
        other => panic!("LONGHAUL_CRASH_STORE is `{other}`; there is `postgres`"),
    }
}

/// A worker that ends with the test.
pub(crate) struct Worker(Child);

impl Worker {
    /// The code it ended with, once it has; 128 and the signal if one ended it.
    pub(crate) fn code(&mut self) -> Option<i32> {
        self.0.try_wait().unwrap().and_then(code)
    }

    /// Stops it as a person would, unless it has ended meanwhile; answers the code it ended with.
    pub(crate) fn stop(mut self) -> Option<i32> {
        // Until it has been waited for, nobody else can have its number.
        if self.code().is_none() {
            let script = format!("kill -INT {}", self.0.id());
            assert!(std::process::Command::new("bash").args(["-c", &script]).status().unwrap().success());
        }
        code(self.0.wait().unwrap())
    }
}

fn code(status: ExitStatus) -> Option<i32> {
    use std::os::unix::process::ExitStatusExt;
    status.code().or(status.signal().map(|signal| 128 + signal))
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Waits for something that other processes bring about.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < patience, "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Does something with every item, some at once.
pub(crate) fn at_once<T: Send>(items: Vec<T>, each: impl Fn(T) + Sync) {
    let queue = std::sync::Mutex::new(items);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let Some(item) = queue.lock().unwrap().pop() else { break };
                    each(item);
                }
            });
        }
    });
}

pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/crash")
}

pub(crate) fn end(events: &[Value]) -> End {
    let last = events.last().unwrap();
    assert_eq!(last["event"], "run_finished", "{last}");
    End { status: last["outcome"].clone(), outputs: last["outputs"].clone() }
}

pub(crate) fn attempt(event: &Value) -> (String, u64) {
    (event["path"].as_str().unwrap().to_owned(), event["attempt"].as_u64().unwrap())
}

/// No result twice, no start after a success, no gap. A rewind makes a step young again.
pub(crate) fn is_sound(events: &[Value]) {
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
pub(crate) fn lost(events: &[Value]) -> usize {
    events.iter().filter(|event| event["error"]["class"] == "lost").count()
}

/// Commands that engines of this project started.
pub(crate) fn left(folder: &Path) -> Vec<String> {
    alive(folder, |environment| environment.contains("LONGHAUL_ENGINE="))
}

/// Processes of this project: their environment names our log.
pub(crate) fn alive(folder: &Path, is_meant: impl Fn(&str) -> bool) -> Vec<String> {
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
/// The guard itself counts: a process that is just becoming another program cannot be seen for a moment.
pub(crate) fn left_by_the_guard(folder: &Path) -> Vec<String> {
    let patience = Instant::now() + Duration::from_secs(30);
    loop {
        let left = alive(folder, |_| true);
        if left.is_empty() || Instant::now() > patience {
            return left;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The run has ended as without a crash, and nothing is left of the engine that crashed.
pub(crate) fn ends_as(trial: &Trial, reference: &Reference, at: &str) {
    let events = trial.events();
    is_sound(&events);
    assert_eq!(end(&events), reference.end, "{at}");
    assert!(events.iter().filter(|event| event["event"] == "answered").count() <= 1, "{at}");
    more_only_for_what_was_lost(&trial.log(), &reference.log, lost(&events), at);
    assert_eq!(left(trial.path()), Vec::<String>::new(), "{at}");
}

pub(crate) fn more_only_for_what_was_lost(
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

pub(crate) struct Reference {
    pub(crate) end: End,
    pub(crate) log: BTreeMap<String, usize>,
}

pub(crate) fn reference(workflow: &str) -> Reference {
    let trial = Trial::new(workflow);
    trial.finish();
    let events = trial.events();
    is_sound(&events);
    Reference { end: end(&events), log: trial.log() }
}
