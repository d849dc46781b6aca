//! A folder to run agents in, which are shell scripts here. Shims and engines are this test binary, started again in a
//! role.

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use longhaul_agents::contract::{Exit, Invocation};
use longhaul_agents::process::{GUARD_COMMAND, guard_main};
use longhaul_agents::shim::{
    Attached, AttemptOutcome, Lines, OutputLine, SHIM_COMMAND, Shim, ShimFound, Spec, environment, shim_main,
};
use rustix::process::{Pid, Signal, kill_process};

const ROLE: &str = "LONGHAUL_TEST_ROLE";
/// No process.
pub(crate) const NONE: [u32; 0] = [];

static COUNT: AtomicU32 = AtomicU32::new(0);

/// Not a test of its own: it runs the binary as a shim. The command is the name of this function, so that the test
/// harness calls it.
#[test]
fn __shim() {
    if let Some(folder) = called_with(SHIM_COMMAND) {
        drop(shim_main(Path::new(&folder)));
    }
}

/// The same for a guard.
#[test]
fn __guard() {
    if let Some(engine) = called_with(GUARD_COMMAND) {
        drop(guard_main(engine.to_str().unwrap()));
    }
}

fn called_with(command: &str) -> Option<OsString> {
    let mut args = std::env::args_os().skip(1);
    args.next().filter(|first| first == command)?;
    args.next()
}

/// Not a test of its own: it runs the binary in a role.
#[test]
fn role() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let (role, folder) = role.split_once(' ').unwrap();
    match role {
        "engine" => crate::shim::engines::read_until_killed(Path::new(folder)),
        "hasty" => crate::shim::engines::start_and_die(Path::new(folder)),
        _ => panic!("no role {role}"),
    }
}

pub(crate) struct Bench {
    folder: tempfile::TempDir,
    attempt: String,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let attempt = format!("run-{}/step@{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        Self { folder: tempfile::tempdir().unwrap(), attempt }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A file of the attempt's own folder.
    pub(crate) fn of_attempt(&self, name: &str) -> PathBuf {
        self.path("attempt").join(name)
    }

    pub(crate) fn shim(&self) -> Shim {
        shim_in(self.folder.path())
    }

    pub(crate) fn spec(&self, text: &str) -> Spec {
        let spec = Spec::new(&script(text), self.folder.path().to_owned(), self.attempt.clone());
        Spec { grace: Duration::from_millis(50), grace_alone: Some(Duration::from_secs(60)), ..spec }
    }

    pub(crate) async fn start(&self, text: &str) -> Attached {
        self.start_spec(&self.spec(text)).await
    }

    pub(crate) async fn start_spec(&self, spec: &Spec) -> Attached {
        self.shim().start(spec, &environment(&script(""), std::env::vars_os()), b"").await.unwrap()
    }

    pub(crate) async fn attached(&self) -> Attached {
        match self.shim().attach().await.unwrap() {
            ShimFound::Attached(attached) => attached,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn ended(&self) -> Exit {
        match self.shim().attach().await.unwrap() {
            ShimFound::Ended(exit) => exit,
            other => panic!("{other:?}"),
        }
    }

    /// Starts an engine that runs `spec`, which it reads from a file.
    pub(crate) fn engine(&self, role: &str, spec: &Spec) -> Engine {
        fs::write(self.path("spec"), serde_json::to_vec(spec).unwrap()).unwrap();
        Engine::start(&format!("{role} {}", self.folder.path().display()))
    }

    /// The processes with the mark of this bench.
    pub(crate) fn left(&self) -> Vec<u32> {
        carrying(&format!("LONGHAUL_ATTEMPT={}", self.attempt))
    }

    /// A process id that a script wrote to a file.
    pub(crate) fn pid_in(&self, name: &str) -> u32 {
        fs::read_to_string(self.path(name)).unwrap().trim().parse().unwrap()
    }

    pub(crate) fn touch(&self, name: &str) {
        fs::write(self.path(name), "").unwrap();
    }
}

impl Drop for Bench {
    /// A failed test leaves nothing behind either.
    fn drop(&mut self) {
        let begun = fs::read_to_string(self.of_attempt("shim.json")).unwrap_or_default();
        let begun: serde_json::Value = serde_json::from_str(&begun).unwrap_or_default();
        let shim = begun["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok());
        let is_shim = |pid: &u32| carrying("LONGHAUL_ENGINE=shim").contains(pid);
        self.left().into_iter().chain(shim.filter(is_shim)).for_each(|pid| signal(pid, Signal::KILL));
    }
}

pub(crate) fn shim_in(folder: &Path) -> Shim {
    Shim::new(std::env::current_exe().unwrap(), &folder.join("attempt")).unwrap()
}

pub(crate) fn script(text: &str) -> Invocation {
    Invocation {
        program: "/bin/sh".into(),
        args: vec!["-c".to_owned(), text.to_owned()],
        env: Vec::new(),
        keep_env: Vec::new(),
        stdin: Vec::new(),
    }
}

/// This test binary as another engine process.
pub(crate) struct Engine {
    pub(crate) child: Child,
    lines: BufReader<ChildStdout>,
}

impl Engine {
    fn start(role: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "shim::bench::role", "--nocapture", "--test-threads=1"]);
        command.env(ROLE, role).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    /// The rest of the next line on which the engine says `word`.
    pub(crate) fn hears(&mut self, word: &str) -> String {
        loop {
            let mut line = String::new();
            assert!(self.lines.read_line(&mut line).unwrap() > 0, "the engine ended before it said {word}");
            // The test harness may have printed something before it on the same line.
            if let Some((_, rest)) = line.split_once(word) {
                return rest.trim().to_owned();
            }
        }
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        drop(self.child.kill().and_then(|()| self.child.wait()));
    }
}

pub(crate) fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").unwrap();
    out.flush().unwrap();
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

pub(crate) async fn exit_of(attached: &Attached) -> Exit {
    match attached.wait().await.unwrap() {
        AttemptOutcome::Ended(exit) => exit,
        AttemptOutcome::Gone => panic!("gone"),
    }
}

/// A normal exit.
pub(crate) fn exited(code: i32) -> Exit {
    Exit { code: Some(code), signal: None, ended: None, stderr: String::new() }
}

pub(crate) async fn rest(mut lines: Lines) -> Vec<OutputLine> {
    let mut all = Vec::new();
    while let Some(line) = lines.next().await.unwrap() {
        all.push(line);
    }
    all
}

pub(crate) fn texts(lines: Vec<OutputLine>) -> Vec<String> {
    lines.into_iter().map(|line| line.text).collect()
}

/// Reads until a line says `word`.
pub(crate) async fn until(lines: &mut Lines, word: &str) -> OutputLine {
    loop {
        let line = lines.next().await.unwrap().unwrap();
        if line.text == word {
            return line;
        }
    }
}

pub(crate) fn signal(pid: u32, signal: Signal) {
    let _may_have_ended = kill_process(Pid::from_raw(pid.try_into().unwrap()).unwrap(), signal);
}

/// Every living process whose environment has the entry.
pub(crate) fn carrying(entry: &str) -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let carries = |pid: &u32| {
        let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environ.split(|byte| *byte == 0).any(|found| found == entry.as_bytes())
    };
    pids.filter(carries).collect()
}

/// Whether a process is running; a zombie is not.
pub(crate) fn runs(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with(['Z', 'X']))
}

/// Waits for something that happens in another process. The limit only matters for a broken test.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let give_up = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < give_up, "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
