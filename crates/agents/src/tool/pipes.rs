//! A server that is a program: started for one call, and ended after it.

use std::process::Stdio;
use std::time::Duration;

use indexmap::IndexMap;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// How long it may take to see that nobody talks to it any more. Whoever owns us ends what is left.
const LEAVE: Duration = Duration::from_secs(2);

/// A server, and our ends of its pipes.
pub(super) struct Started {
    pub(super) process: Child,
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
}

/// Starts it where we are; what it complains about goes where our complaints go.
pub(super) fn start(command: &str, args: &[String], env: &IndexMap<String, String>) -> Result<Started, String> {
    let mut server = Command::new(command);
    server.args(args).envs(env).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut process = server.spawn().map_err(|error| format!("`{command}` cannot be started: {error}"))?;
    match (process.stdin.take(), process.stdout.take()) {
        (Some(stdin), Some(stdout)) => Ok(Started { process, stdin, stdout }),
        _ => Err(format!("`{command}` has no pipes")),
    }
}

/// Waits until it has left; one that does not is killed.
pub(super) async fn leave(mut process: Child) {
    // Dropping it kills it.
    let _ = tokio::time::timeout(LEAVE, process.wait()).await;
}
