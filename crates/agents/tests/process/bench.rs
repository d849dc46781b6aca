//! A folder to run shell scripts in, and an independent check of their leftovers.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use longhaul_agents::process::{Chunk, Command, Error, Files, Mark, ProcessOutput, run};
use tokio_util::sync::CancellationToken;

/// No process.
pub(crate) const NONE: [u32; 0] = [];

static COUNT: AtomicU32 = AtomicU32::new(0);

pub(crate) struct Bench {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) mark: Mark,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let engine = format!("engine-{}", std::process::id());
        let attempt = format!("run/step@{}", COUNT.fetch_add(1, Ordering::Relaxed));
        Self { folder: tempfile::tempdir().unwrap(), mark: Mark { engine, attempt } }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn command(&self, program: impl Into<OsString>) -> Command {
        let files = Files { stdout: self.path("stdout"), stderr: self.path("stderr") };
        Command { cwd: Some(self.folder.path().to_owned()), ..Command::new(program, files, self.mark.clone()) }
    }

    /// Scripts can wait for a file with `until [ -f name ]; do sleep 0.01; done`.
    pub(crate) fn script(&self, text: &str) -> Command {
        self.command("/bin/sh").arg("-c").arg(text)
    }

    pub(crate) fn stdout_file(&self) -> Vec<u8> {
        fs::read(self.path("stdout")).unwrap()
    }

    /// The processes with the mark of this bench.
    pub(crate) fn left(&self) -> Vec<u32> {
        carrying(&format!("LONGHAUL_ATTEMPT={}", self.mark.attempt), &format!("LONGHAUL_ENGINE={}", self.mark.engine))
    }

    /// A process id that a script wrote to a file.
    pub(crate) fn pid_in(&self, name: &str) -> u32 {
        fs::read_to_string(self.path(name)).unwrap().trim().parse().unwrap()
    }
}

/// Runs to the end.
pub(crate) fn finish(command: Command) -> Result<ProcessOutput, Error> {
    block_on(run(command, CancellationToken::new(), |_| {}))
}

/// Runs until `word` has been printed, then cancels.
pub(crate) fn cancel_at(word: &str, command: Command) -> ProcessOutput {
    let cancel = CancellationToken::new();
    let mut seen = Vec::new();
    let on_output = |chunk: Chunk<'_>| {
        if let Chunk::Stdout(bytes) = chunk {
            seen.extend_from_slice(bytes);
        }
        if String::from_utf8_lossy(&seen).contains(word) {
            cancel.cancel();
        }
    };
    block_on(run(command, cancel.clone(), on_output)).unwrap()
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// Every living process whose environment has both entries.
pub(crate) fn carrying(one: &str, other: &str) -> Vec<u32> {
    let has = |environ: &[u8], entry: &str| environ.split(|byte| *byte == 0).any(|found| found == entry.as_bytes());
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let carries = |pid: &u32| {
        let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        has(&environ, one) && has(&environ, other)
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
