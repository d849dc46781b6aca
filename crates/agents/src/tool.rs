//! Calls one tool of one MCP server, in a process of its own: `longhaul __tool NAME`.
//!
//! The request comes in as one line, and the result goes out as one line. The error output of the server goes to our
//! own. SIGTERM cancels the call: we tell the server, end it, and exit.
//!
//! **Invariant:** a call is one process and what it starts. The owner of that process ends the call by ending the
//! process, and then nothing of it is left.

mod call;
mod client;
mod pipes;

use std::io::{BufRead, Write};
use std::process::ExitCode;

use indexmap::IndexMap;
use longhaul_core::Json;
use longhaul_core::event::Failure;
use longhaul_core::plan::ErrorClass;
use serde::{Deserialize, Serialize};
use serde_json::Map;
use tokio_util::sync::CancellationToken;

pub use call::call;
pub(crate) use client::headers_of;

use crate::serve::stop_on_signal;

/// The argument that makes the binary call a tool; the tool's name follows.
pub const TOOL_COMMAND: &str = "__tool";

/// The largest request that is read.
const ASK_BYTES_MAX: u64 = 64 << 20;

/// How to reach a server: a program that is started for the call, or an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ToolTransport {
    /// A program that speaks the Model Context Protocol over its pipes.
    Program {
        /// A path, or a name that is looked up in `PATH`.
        command: String,
        /// The arguments, passed byte for byte; no shell sees them.
        #[serde(default)]
        args: Vec<String>,
        /// Variables beside the inherited ones.
        #[serde(default)]
        env: IndexMap<String, String>,
    },
    /// An address that speaks the protocol over HTTP.
    Address {
        /// The URL of the server.
        url: String,
        /// The headers of every request.
        #[serde(default)]
        headers: IndexMap<String, String>,
    },
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The server of the tool.
    pub server: ToolTransport,
    /// The name of the tool on the server.
    pub tool: String,
    /// The arguments of the call.
    pub arguments: Map<String, Json>,
    /// How long the whole call may take, in milliseconds.
    #[serde(default)]
    pub timeout_ms: Option<u64>,
}

/// The result of a call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolAnswer {
    /// The result of the tool: its data, or its text.
    #[serde(default)]
    pub output: Json,
    /// Why the call failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// Whether the server could not be reached. Its error output usually says why.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unreached: bool,
}

impl ToolAnswer {
    fn failed(class: ErrorClass, message: impl Into<String>) -> Self {
        Self { failure: Some(Failure::new(class, message)), ..Self::default() }
    }
}

/// Makes the call that stdin describes, and prints the result to stdout.
pub fn tool_main(name: &str) -> ExitCode {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return ExitCode::FAILURE;
    };
    let answer = runtime.block_on(answer(name, std::io::stdin().lock()));
    runtime.shutdown_background();
    let said = serde_json::to_string(&answer).is_ok_and(|line| writeln!(std::io::stdout(), "{line}").is_ok());
    if said { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn answer(name: &str, input: impl BufRead) -> ToolAnswer {
    let ask = match read(name, input) {
        Ok(ask) => ask,
        Err(message) => return ToolAnswer::failed(ErrorClass::Failed, message),
    };
    let cancel = CancellationToken::new();
    let listening = tokio::spawn(stop_on_signal(cancel.clone()));
    let answer = Box::pin(client::made(ask, cancel)).await;
    listening.abort();
    answer
}

fn read(name: &str, input: impl BufRead) -> Result<ToolCall, String> {
    let mut line = String::new();
    input.take(ASK_BYTES_MAX).read_line(&mut line).map_err(|error| format!("cannot read what is asked: {error}"))?;
    serde_json::from_str(&line)
        .map_err(|error| format!("`longhaul {TOOL_COMMAND} {name}` is started by the engine, with a call: {error}"))
}
