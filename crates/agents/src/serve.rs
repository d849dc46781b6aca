//! Serves agents that are not programs, with this binary as the program: `longhaul __agent NAME`.
//!
//! A request comes in as one line, the entries of the transcript go out as lines, and the last line is the ending.
//! SIGTERM stops the turn: running work ends, the ending says so, and the process exits.
//!
//! **Invariant:** keys come only from the environment, and no output line contains one.
#![expect(clippy::result_large_err, reason = "trouble ends a turn: it is handed on once, not in a loop")]

mod acp;
mod ask;
mod lines;
mod model;
mod tools;
mod workspace;

use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

pub(crate) use ask::{Ask, Endpoint, Program, Service};
pub(crate) use lines::Line;
pub use model::{Facts, KnownEndpoint, LimitName, known_endpoints};
pub(crate) use model::{Wire, is_near};

use crate::contract::{AgentTrouble, Ending};
use lines::Lines;

/// The argument that makes the binary an agent; the agent's name follows.
pub const AGENT_COMMAND: &str = "__agent";

/// The exit code of a turn that a signal stopped: the code that a shell uses for SIGTERM.
const STOPPED: u8 = 143;
/// The largest request that is read.
const ASK_BYTES_MAX: u64 = 256 << 20;

/// Runs the agent with that name, from stdin to stdout.
pub fn serve_main(name: &str) -> ExitCode {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return ExitCode::FAILURE;
    };
    let code = runtime.block_on(serve(name, std::io::stdin().lock(), std::io::stdout()));
    // A tool that is still searching files must not delay the exit.
    runtime.shutdown_background();
    ExitCode::from(code)
}

/// Reads one request, carries it out, and returns the exit code: 0 for an answer, 1 for a problem, 143 if it was
/// stopped.
pub async fn serve(name: &str, input: impl BufRead, out: impl Write + Send + 'static) -> u8 {
    let cancel = CancellationToken::new();
    let lines = Arc::new(Lines::new(out, cancel.clone()));
    let listening = tokio::spawn(stop_on_signal(cancel.clone()));
    let ending = match read(name, input) {
        Ok(ask) => answer(&ask, &lines, &cancel).await,
        Err(message) => Ending::failed("bad_request", message),
    };
    listening.abort();
    lines.end(&ending);
    if cancel.is_cancelled() { STOPPED } else { u8::from(ending.trouble.is_error) }
}

async fn answer(ask: &Ask, lines: &Arc<Lines>, cancel: &CancellationToken) -> Ending {
    let (turn, home) = (&ask.turn, &ask.home);
    match &ask.service {
        Service::Model(endpoint) => {
            Box::pin(model::take_turn(model::Job { turn, endpoint, home, lines, cancel })).await
        }
        Service::Acp(program) => Box::pin(acp::take_turn(acp::Job { turn, program, lines, cancel })).await,
    }
}

fn read(name: &str, input: impl BufRead) -> Result<Ask, String> {
    let mut line = String::new();
    input.take(ASK_BYTES_MAX).read_line(&mut line).map_err(|error| format!("cannot read what is asked: {error}"))?;
    serde_json::from_str(&line)
        .map_err(|error| format!("`longhaul {AGENT_COMMAND} {name}` is started by the engine, with a request: {error}"))
}

pub(crate) async fn stop_on_signal(cancel: CancellationToken) {
    let (Ok(mut term), Ok(mut int)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt())) else {
        return;
    };
    tokio::select! {
        _ = term.recv() => {}
        _ = int.recv() => {}
    }
    cancel.cancel();
}

impl Ending {
    /// A turn that failed.
    fn failed(code: &str, message: impl Into<String>) -> Self {
        Self { trouble: AgentTrouble::named(code, message), ..Self::default() }
    }
}

impl AgentTrouble {
    /// A problem with a code and a message.
    pub(crate) fn named(code: &str, message: impl Into<String>) -> Self {
        Self { is_error: true, code: Some(code.to_owned()), message: message.into(), ..Self::default() }
    }

    /// The turn was stopped from outside.
    pub(crate) fn stopped() -> Self {
        Self::named("stopped", "the turn was stopped")
    }
}
