//! Engines that die, and what their guard makes of it. An engine is this test binary, run again in a role.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use longhaul_agents::process::{self, Ended, Files, Guard, Mark, guard_main, run};
use rustix::process::{Pid, Signal, kill_process};
use tokio_util::sync::CancellationToken;

use crate::process::bench::{Bench, block_on, eventually, runs};

const ROLE: &str = "LONGHAUL_TEST_ROLE";
const FOLDER: &str = "LONGHAUL_TEST_FOLDER";

/// Not a test of its own: what the binary does when it is run in a role.
#[test]
fn role() {
    let Ok(role) = std::env::var(ROLE) else { return };
    match role.split_once(' ').unwrap() {
        ("guard", engine) => guard_main(engine).unwrap(),
        ("engine", engine) => be_an_engine(engine),
        ("leaves-well", engine) => leave_well(engine),
        ("adopts", engine) => adopt(engine),
        ("daemon", engine) => host_a_daemon(engine),
        _ => panic!("no role {role}"),
    }
}

struct Engine {
    child: Child,
    lines: BufReader<ChildStdout>,
    name: String,
    folder: tempfile::TempDir,
}

impl Engine {
    fn start(role: &str) -> Self {
        Self::start_with(role, &[])
    }

    fn start_with(role: &str, env: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let name = Bench::new().mark.attempt.replace('/', "-") + &format!("-{}", std::process::id());
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "process::engine::role", "--nocapture", "--test-threads=1"]);
        command.env(ROLE, format!("{role} {name}")).env(FOLDER, folder.path()).envs(env.iter().copied());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines, name, folder }
    }

    /// The rest of the line on which the engine says `word`.
    fn hears(&mut self, word: &str) -> String {
        loop {
            let mut line = String::new();
            assert!(self.lines.read_line(&mut line).unwrap() > 0, "the engine ended before it said {word}");
            // The test harness has printed something before it on the same line.
            if let Some((_, rest)) = line.split_once(word) {
                return rest.trim().to_owned();
            }
        }
    }

    fn pid_in(&self, name: &str) -> u32 {
        fs::read_to_string(self.folder.path().join(name)).unwrap().trim().parse().unwrap()
    }
}

impl Drop for Engine {
    /// A test that fails leaves no engine behind either.
    fn drop(&mut self) {
        drop(self.child.kill().and_then(|()| self.child.wait()));
    }
}

fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid.try_into().unwrap()).unwrap(), signal).unwrap();
}

fn folder() -> PathBuf {
    std::env::var_os(FOLDER).unwrap().into()
}

fn command(engine: &str, script: &str) -> process::Command {
    let files = Files { stdout: folder().join("stdout"), stderr: folder().join("stderr") };
    let mark = Mark { engine: engine.to_owned(), attempt: "run/step@1".to_owned() };
    let command = process::Command::new("/bin/sh", files, mark).arg("-c").arg(script);
    process::Command { cwd: Some(folder()), ..command }
}

fn start_guard(engine: &str) -> Guard {
    let program = folder().join("guard");
    let binary = std::env::current_exe().unwrap();
    let call = format!("{ROLE}=\"guard $2\" exec '{}' --exact process::engine::role --nocapture", binary.display());
    fs::write(&program, format!("#!/bin/sh\n[ \"$1\" = __guard ] && {call}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    Guard::start(&program, engine).unwrap()
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").unwrap();
    out.flush().unwrap();
}

/// One child of each sort: plain, in another session and orphaned, and without a mark below a marked one.
const BROOD: &str = "
    there() { until [ -f $1 ]; do sleep 0.01; done; }
    sh -c 'echo $$ > a; mv a plain; exec sleep 3600' &
    (setsid sh -c 'trap \"\" TERM HUP; echo $$ > b; mv b orphan; while :; do sleep 1; done' &)
    (setsid sh -c 'env -i sh -c \"echo \\$\\$ > c; mv c unmarked; exec sleep 3600\"; true' &)
    there plain; there orphan; there unmarked; echo ready; sleep 3600";

fn be_an_engine(engine: &str) {
    let guard = start_guard(engine);
    let on_output = |_: process::Chunk<'_>| say(&format!("ready {}", guard.pid()));
    drop(block_on(run(command(engine, BROOD), CancellationToken::new(), on_output)));
}

fn all_gone(engine: &Engine, guard: u32) {
    for name in ["plain", "orphan", "unmarked"] {
        let pid = engine.pid_in(name);
        eventually(name, || !runs(pid));
    }
    eventually("no mark", || marked(&engine.name).is_empty());
    eventually("no guard", || !runs(guard));
}

fn marked(engine: &str) -> Vec<u32> {
    let entry = format!("LONGHAUL_ENGINE={engine}");
    crate::process::bench::carrying(&entry, &entry)
}

#[test]
fn the_guard_clears_up_after_an_engine_that_was_killed() {
    let mut engine = Engine::start("engine");
    let guard = engine.hears("ready").parse().unwrap();
    assert!(!marked(&engine.name).is_empty());
    engine.child.kill().unwrap();
    engine.child.wait().unwrap();
    all_gone(&engine, guard);
}

#[test]
fn a_guard_does_not_end_before_its_engine_does() {
    let mut engine = Engine::start("engine");
    let guard = engine.hears("ready").parse().unwrap();
    // The wrapper has become the guard only once the guard holds the signals back.
    eventually("the guard holds signals", || catches_term(guard));
    [Signal::TERM, Signal::INT, Signal::HUP].into_iter().for_each(|one| signal(guard, one));
    assert!(!marked(&engine.name).is_empty());
    engine.child.kill().unwrap();
    engine.child.wait().unwrap();
    all_gone(&engine, guard);
}

fn catches_term(pid: u32) -> bool {
    let status = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).map(str::trim).unwrap_or("0");
    u64::from_str_radix(caught, 16).unwrap() & (1 << (Signal::TERM.as_raw() - 1)) != 0
}

/// Ends as it should, while something that carries its name continues: that is not the guard's affair then.
fn leave_well(engine: &str) {
    let guard = start_guard(engine);
    let mut bystander = Command::new("sleep").arg("3600").env("LONGHAUL_ENGINE", engine).spawn().unwrap();
    let pid = guard.pid();
    drop(guard);
    assert!(!runs(pid), "the guard is gone when it was let go");
    say(&format!("left {}", runs(bystander.id())));
    bystander.kill().unwrap();
    bystander.wait().unwrap();
}

#[test]
fn the_guard_of_an_engine_that_ends_well_just_goes() {
    let mut engine = Engine::start("leaves-well");
    assert_eq!(engine.hears("left"), "true");
    assert!(engine.child.wait().unwrap().success());
}

/// Leftovers that shed everything, in an engine that does nothing else; and no dead children stay.
fn adopt(engine: &str) {
    let guard = start_guard(engine);
    let mut own = Command::new("sh").args(["-c", "read line"]).stdin(Stdio::piped()).spawn().unwrap();
    let shed = "(env -i setsid /bin/sh -c 'echo $$ > a; mv a shed; exec /bin/sleep 3600' &)
        (setsid true &) ; (setsid sh -c 'exit 7' &) ; until [ -f shed ]; do sleep 0.01; done";
    for _ in 0..5 {
        drop(fs::remove_file(folder().join("shed")));
        let output = block_on(run(command(engine, shed), CancellationToken::new(), |_| {})).unwrap();
        assert_eq!((output.ended, output.survivors), (Ended::Exited(0), vec![]));
        let pid: u32 = fs::read_to_string(folder().join("shed")).unwrap().trim().parse().unwrap();
        assert!(!Path::new("/proc").join(pid.to_string()).exists(), "neither running nor dead");
    }
    let expected = [guard.pid(), own.id()];
    let mut left = children();
    left.retain(|pid| !expected.contains(pid));
    say(&format!("left {left:?} {}", runs(own.id()) && runs(guard.pid())));
    drop(own.stdin.take());
    assert!(own.wait().unwrap().code().is_some(), "nobody took our own child from us");
}

fn children() -> Vec<u32> {
    let own = std::process::id().to_string();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let parent = |pid: &u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let rest = stat.rsplit(')').next().unwrap_or_default().to_owned();
        rest.split_ascii_whitespace().nth(1).map(str::to_owned)
    };
    pids.filter(|pid| parent(pid).as_ref() == Some(&own)).collect()
}

#[test]
fn an_orphan_that_shed_session_and_environment_is_found_and_the_dead_are_buried() {
    let mut engine = Engine::start("adopts");
    assert_eq!(engine.hears("left"), "[] true");
    assert!(engine.child.wait().unwrap().success());
}

/// A daemon as they are written, twice forked, in a session of its own and without an environment; and one that it starts later.
const DAEMON: &str = "
    (env -i setsid /bin/sh -c '/bin/sh -c \"echo \\$\\$ > a; mv a daemon; until [ -f go ]; do /bin/sleep 0.01; done; \
        (/usr/bin/setsid /bin/sh -c \\\"echo \\\\\\$\\\\\\$ > b; mv b later; exec /bin/sleep 3600\\\" &) ; exec /bin/sleep 3600\" & exit 0' &)
    until [ -f daemon ]; do sleep 0.01; done; echo ready; sleep 3600";

fn host_a_daemon(engine: &str) {
    let guard = start_guard(engine);
    say("there ");
    let on_output = |_: process::Chunk<'_>| say(&format!("ready {}", guard.pid()));
    drop(block_on(run(command(engine, DAEMON), CancellationToken::new(), on_output)));
}

/// Whether the guard has put the daemon into a group of its own.
fn is_grouped(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/cgroup")).is_ok_and(|text| text.contains("/longhaul-"))
}

fn a_daemon_ends_with_its_engine(engine: &mut Engine, has_groups: bool) {
    let guard: u32 = engine.hears("ready").parse().unwrap();
    let daemon = engine.pid_in("daemon");
    if has_groups {
        eventually("it is in a group", || is_grouped(daemon));
    } else {
        // Longer than the guard lets pass between two looks; what is looked for is not how fast it is.
        std::thread::sleep(std::time::Duration::from_millis(400));
    }
    fs::write(engine.folder.path().join("go"), "").unwrap();
    eventually("the daemon has started another", || engine.folder.path().join("later").exists());
    let later = engine.pid_in("later");
    if !has_groups {
        std::thread::sleep(std::time::Duration::from_millis(400));
    }
    engine.child.kill().unwrap();
    engine.child.wait().unwrap();
    for (name, pid) in [("daemon", daemon), ("later", later), ("guard", guard)] {
        eventually(&format!("no {name}"), || !runs(pid));
    }
}

#[test]
fn a_daemon_without_an_environment_ends_with_its_engine_where_there_are_no_groups() {
    let mut engine = Engine::start_with("daemon", &[("LONGHAUL_NO_GROUPS", "1")]);
    a_daemon_ends_with_its_engine(&mut engine, false);
}

#[test]
fn a_daemon_without_an_environment_ends_with_its_engine_where_there_are_groups() {
    let group = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let mut engine = Engine::start("daemon");
    let pid = engine.child.id();
    engine.hears("there");
    let has_groups = group.contains(" - cgroup2 ")
        && (0..500).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            find_group(pid)
        });
    if !has_groups {
        println!("skipped: this machine lets us make no groups");
        return;
    }
    a_daemon_ends_with_its_engine(&mut engine, true);
    eventually("no group", || !find_group(pid));
}

fn find_group(pid: u32) -> bool {
    let found = Command::new("find").args(["/sys/fs/cgroup", "-name", &format!("longhaul-{pid}-*")]).output().unwrap();
    !found.stdout.is_empty()
}
