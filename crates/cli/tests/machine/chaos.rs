//! Tests faults of the machine that come and go while a run is driven: it ends as it would without them.

use std::os::unix::fs::chown;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::binary::command;

const RUN: &str = "run-1";
/// A user with a limit on processes; root has none.
const SOMEBODY: u32 = 54_321;
/// How long a fault lasts, and the time between two faults.
const SPELL: Duration = Duration::from_millis(500);

const WORK: &str = r#"
name: w
do:
  - {id: first, run: 'sleep 0.2; echo first >> log; seq 1 20000', output: numbers}
  - id: each
    for_each: [1, 2, 3, 4, 5, 6, 7, 8]
    parallel: 2
    do: [{id: one, run: 'sleep 0.2; echo "one {{ item }}" >> log; echo {{ item }}; echo said >&2'}]
  - {id: says, prompt: 'Say something.', output: said}
  - {id: last, run: 'sleep 0.2; echo last >> log; head -c 300000 /dev/zero | tr "\0" y; echo end'}
outputs: {numbers: numbers, said: said}
"#;

/// A project in a folder.
struct Trial {
    folder: PathBuf,
    /// Whether root acts as another user.
    as_somebody: bool,
}

impl Trial {
    fn new(folder: &Path, as_somebody: bool) -> Self {
        std::fs::create_dir_all(folder.join(".longhaul")).unwrap();
        std::fs::create_dir_all(folder.join("no-such-home")).unwrap();
        std::fs::write(folder.join("w.yaml"), WORK).unwrap();
        if as_somebody {
            for path in
                [folder.to_owned(), folder.join(".longhaul"), folder.join("no-such-home"), folder.join("w.yaml")]
            {
                chown(path, Some(SOMEBODY), Some(SOMEBODY)).unwrap();
            }
        }
        Self { folder: folder.to_owned(), as_somebody }
    }

    fn command(&self, args: &[&str]) -> Command {
        let plain = command(&self.folder, args);
        if !self.as_somebody {
            return plain;
        }
        let mut command = somebody(plain.get_program().to_str().unwrap());
        command.args(plain.get_args()).current_dir(&self.folder).stdin(Stdio::null());
        for (name, value) in plain.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }

    /// A running engine: with no resources from the start it would refuse to start.
    fn drive(&self, args: &[&str]) -> Child {
        let mut engine = self.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let is_there = || self.command(&["status", RUN]).output().unwrap().status.success();
        while !is_there() && engine.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(10));
        }
        engine
    }

    fn json(&self, args: &[&str]) -> Value {
        let output = self.command(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// The result of the run: its outputs, the output of each step, and how often each step ran.
    fn end(&self) -> (Value, Vec<String>, Vec<String>) {
        let mut log: Vec<String> =
            std::fs::read_to_string(self.folder.join("log")).unwrap().lines().map(str::to_owned).collect();
        log.sort();
        let last = self.command(&["outputs", RUN, "last"]).output().unwrap().stdout;
        let printed = String::from_utf8(last).unwrap();
        (self.json(&["outputs", RUN]), log, vec![printed])
    }

    /// The failures in the run.
    fn failures(&self) -> Vec<String> {
        let output = self.command(&["events", RUN, "--json"]).output().unwrap().stdout;
        let text = String::from_utf8(output).unwrap();
        text.lines().filter(|line| line.contains(r#""event":"attempt_failed""#)).map(str::to_owned).collect()
    }
}

/// A command of a user who is not root.
fn somebody(program: &str) -> Command {
    let id = SOMEBODY.to_string();
    let mut command = Command::new("setpriv");
    command.args(["--reuid", &id, "--regid", &id, "--clear-groups", program]);
    command
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

/// Switches a fault on and off until the engine ends.
fn with(mut engine: Child, fault: impl Fn(u32, bool)) -> ExitStatus {
    let patience = Instant::now() + Duration::from_secs(120);
    let mut is_on = false;
    loop {
        is_on = !is_on;
        fault(engine.id(), is_on);
        let spell = Instant::now() + SPELL;
        while Instant::now() < spell {
            if let Some(status) = engine.try_wait().unwrap() {
                fault(engine.id(), false);
                return status;
            }
            assert!(Instant::now() < patience, "the run does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Sets a limit of a process, and restores it.
fn limit(as_somebody: bool, name: &'static str, low: &'static str, high: &'static str) -> impl Fn(u32, bool) {
    move |pid, is_on| {
        let mut command = if as_somebody { somebody("prlimit") } else { Command::new("prlimit") };
        let limit = format!("--{name}={}:", if is_on { low } else { high });
        // A process that has just ended has no limits.
        let _set = command.args(["--pid", &pid.to_string(), &limit]).stderr(Stdio::null()).status();
    }
}

/// The result of a run without faults.
fn reference() -> (Value, Vec<String>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let trial = Trial::new(folder.path(), false);
    assert!(trial.drive(&["run", "w.yaml", "--run-id", RUN]).wait().unwrap().success());
    trial.end()
}

fn ends_as_without(trial: &Trial, status: ExitStatus) {
    assert!(status.success(), "{status}: {:?}", trial.failures());
    assert_eq!(trial.failures(), Vec::<String>::new());
    let (end, expected) = (trial.end(), reference());
    assert_eq!(end.0, expected.0);
    assert_eq!(end.1, expected.1);
    assert_eq!(end.2, expected.2);
}

#[test]
fn too_few_files() {
    let folder = tempfile::tempdir().unwrap();
    let trial = Trial::new(folder.path(), false);
    let engine = trial.drive(&["run", "w.yaml", "--run-id", RUN]);
    ends_as_without(&trial, with(engine, limit(false, "nofile", "8", "512")));
}

#[test]
fn too_few_processes() {
    let as_somebody = is_root();
    let works = |mut command: Command| {
        command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|end| end.success())
    };
    if as_somebody
        && !works({
            let mut command = somebody(env!("CARGO_BIN_EXE_longhaul"));
            command.arg("--version");
            command
        })
    {
        println!("skipped: this machine does not let root be somebody else");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let trial = Trial::new(folder.path(), as_somebody);
    let engine = trial.drive(&["run", "w.yaml", "--run-id", RUN]);
    ends_as_without(&trial, with(engine, limit(as_somebody, "nproc", "1", "1000")));
}

/// A program without memory may die of that. The next one continues.
#[test]
fn too_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let trial = Trial::new(folder.path(), false);
    let mut status =
        with(trial.drive(&["run", "w.yaml", "--run-id", RUN]), limit(false, "as", "100000000", "100000000000"));
    let mut ended = 0;
    while status.signal().is_some() && ended < 20 {
        ended += 1;
        status = with(trial.drive(&["resume", RUN]), limit(false, "as", "100000000", "100000000000"));
    }
    if ended == 0 {
        return ends_as_without(&trial, status);
    }
    assert!(status.success(), "{status}");
    assert_eq!(trial.end().0, reference().0);
}

/// A disk that is full from time to time, with the store and all files of the run.
#[test]
fn too_little_room() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk(folder.path().join("disk"));
    std::fs::create_dir(&disk.0).unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=16m", "none"])
        .arg(&disk.0)
        .stderr(Stdio::null())
        .status();
    if !mounted.is_ok_and(|end| end.success()) {
        println!("skipped: this machine does not let us mount a disk");
        return;
    }
    let trial = Trial::new(&disk.0, false);
    // The work needs its own place: if a command cannot write, that is its own failure.
    std::fs::write(folder.path().join("log"), "").unwrap();
    std::os::unix::fs::symlink(folder.path().join("log"), disk.0.join("log")).unwrap();
    let engine = trial.drive(&["run", "w.yaml", "--run-id", RUN]);
    let ballast = disk.0.join("ballast");
    let fault = |_: u32, is_on: bool| {
        if is_on {
            let _full = std::fs::write(&ballast, vec![1; 16 << 20]);
        } else {
            let _made = std::fs::remove_file(&ballast);
        }
    };
    ends_as_without(&trial, with(engine, fault));
}

/// A disk that is removed again.
struct Disk(PathBuf);

impl Drop for Disk {
    fn drop(&mut self) {
        let _gone = Command::new("umount").arg("-l").arg(&self.0).stderr(Stdio::null()).status();
    }
}
