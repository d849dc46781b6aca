//! The process of an agent: its pipes, and its end.
//!
//! Whatever it leaves behind beyond its own group is found by whoever owns us.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{ChildStdin, ChildStdout, Command};

use crate::serve::ask::Program;

/// How long it may take to see that nobody talks to it any more.
const LEAVE: Duration = Duration::from_secs(5);
/// How long it may take after being asked to end.
const GRACE: Duration = Duration::from_secs(1);

pub(super) struct Child {
    process: tokio::process::Child,
}

/// Our ends of its pipes.
pub(super) struct Pipes {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
}

impl Child {
    /// Starts it in a group of its own; what it complains about goes where our complaints go.
    pub(super) fn spawn(program: &Program, cwd: &Path) -> Result<(Self, Pipes), String> {
        let name = program.program.display();
        let mut command = Command::new(&program.program);
        command.args(&program.args).current_dir(cwd).process_group(0).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().map_err(|error| format!("`{name}` cannot be started: {error}"))?;
        match (process.stdin.take(), process.stdout.take()) {
            (Some(stdin), Some(stdout)) => Ok((Self { process }, Pipes { stdin, stdout })),
            _ => Err(format!("`{name}` has no pipes")),
        }
    }

    /// Waits for its end, then asks for it, then brings it about. One that was stopped is asked at once.
    pub(super) async fn end(&mut self, is_stopped: bool) {
        let patience = if is_stopped { Duration::ZERO } else { LEAVE };
        let steps = [(None, patience), (Some(Signal::TERM), GRACE), (Some(Signal::KILL), GRACE)];
        for (signal, patience) in steps {
            if let Some(signal) = signal {
                self.signal(signal);
            }
            if tokio::time::timeout(patience, self.process.wait()).await.is_ok() {
                return;
            }
        }
    }

    /// Until it is waited for, its id is its own.
    fn signal(&self, signal: Signal) {
        let pid = self.process.id().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        if let Some(pid) = pid {
            // A group that is gone has ended.
            let _ = kill_process_group(pid, signal);
        }
    }
}
