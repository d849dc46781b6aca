//! The engine's side of a tool call: it asks the process to cancel the call before it ends everything.

use std::time::Duration;

use rustix::process::Signal;
use tokio_util::sync::CancellationToken;

use crate::process::{self, Chunk, Command, Error, ProcessOutput, table};

/// How long the cancellation of a call may take.
const TAKE_BACK: Duration = Duration::from_secs(3);

/// Runs `longhaul __tool` to its end. If the call is cancelled, only that process is asked first, so that it can tell
/// the server; after a while everything is ended as usual.
pub async fn call(
    command: Command,
    cancel: CancellationToken,
    mut on_output: impl FnMut(Chunk<'_>) + Send,
) -> Result<ProcessOutput, Error> {
    let Some(started) = process::start_patiently(&command, &cancel, &mut on_output).await? else {
        return Ok(ProcessOutput::unstarted());
    };
    let pid = started.pid();
    let ended = CancellationToken::new();
    let taking_back = async {
        cancel.cancelled().await;
        // A process that has ended needs no signal.
        if let Some(process) = table::read(pid) {
            table::signal(&process, Signal::TERM);
        }
        tokio::time::sleep(TAKE_BACK).await;
        ended.cancel();
        std::future::pending().await
    };
    tokio::select! {
        output = Box::pin(started.finish(ended.clone(), on_output)) => output,
        never = taking_back => never,
    }
}
