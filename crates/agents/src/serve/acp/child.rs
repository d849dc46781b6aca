//! Starts and ends the process of an agent.
//!
//! Our owner ends processes that the agent leaves outside its own group.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{ChildStdin, ChildStdout, Command};

use crate::serve::ask::Program;

/// How long the agent may take to exit after its pipes are closed.
const LEAVE: Duration = Duration::from_secs(5);
/// How long it may take to exit after SIGTERM.
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
    /// Starts it in its own process group; its error output goes to ours.
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

    /// Waits for the exit, then asks for it, then kills. A stopped agent is asked at once.
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

    /// The id stays valid until the process is reaped.
    fn signal(&self, signal: Signal) {
        let pid = self.process.id().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        if let Some(pid) = pid {
            // If the group is gone, it has ended.
            let _ = kill_process_group(pid, signal);
        }
    }
}
