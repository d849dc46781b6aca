//! Tools of other programs: one call of one tool of one server, made by this binary as a program: `longhaul __tool NAME`.
//!
//! What is asked comes in as one line, what came of it goes out as one, and what the server complains about goes where our
//! complaints go. SIGTERM takes the call back: the server is told, then it is ended, and the process leaves.
//!
//! **Invariant:** a call is one process and what it starts. Whoever owns that process ends the call by ending it, and knows that
//! nothing of it is left.

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

use crate::serve::stop_on_signal;

/// What the binary is called with to call a tool; the tool's name follows.
pub const TOOL_COMMAND: &str = "__tool";

/// Arguments are long, but not endless.
const ASK_BYTES_MAX: u64 = 64 << 20;

/// Where tools are: a program that is started for the call, or an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Server {
    /// It speaks the Model Context Protocol over its pipes.
    Program {
        /// A path, or a name that is looked up in `PATH`.
        command: String,
        /// Handed over byte for byte; no shell sees them.
        #[serde(default)]
        args: Vec<String>,
        /// Variables beside the inherited ones.
        #[serde(default)]
        env: IndexMap<String, String>,
    },
    /// It speaks it over HTTP.
    Address {
        /// Where it is.
        url: String,
        /// What goes with every request.
        #[serde(default)]
        headers: IndexMap<String, String>,
    },
}

/// A call that is asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    /// Whose tool it is.
    pub server: Server,
    /// What the server calls it.
    pub tool: String,
    /// What it is called with.
    pub arguments: Map<String, Json>,
    /// How long all of it may take, in milliseconds.
    #[serde(default)]
    pub timeout_ms: Option<u64>,
}

/// What came of a call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// What the tool said: its data, or its text.
    #[serde(default)]
    pub output: Json,
    /// Why it came to nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

impl Answer {
    fn failed(class: ErrorClass, message: impl Into<String>) -> Self {
        Self { output: Json::Null, failure: Some(Failure::new(class, message)) }
    }
}

/// Makes the call that stdin asks for, and says on stdout what came of it.
pub fn tool_main(name: &str) -> ExitCode {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return ExitCode::FAILURE;
    };
    let answer = runtime.block_on(answer(name, std::io::stdin().lock()));
    runtime.shutdown_background();
    let said = serde_json::to_string(&answer).is_ok_and(|line| writeln!(std::io::stdout(), "{line}").is_ok());
    if said { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn answer(name: &str, input: impl BufRead) -> Answer {
    let ask = match read(name, input) {
        Ok(ask) => ask,
        Err(message) => return Answer::failed(ErrorClass::Failed, message),
    };
    let cancel = CancellationToken::new();
    let listening = tokio::spawn(stop_on_signal(cancel.clone()));
    let answer = Box::pin(client::made(ask, cancel)).await;
    listening.abort();
    answer
}

fn read(name: &str, input: impl BufRead) -> Result<Ask, String> {
    let mut line = String::new();
    input.take(ASK_BYTES_MAX).read_line(&mut line).map_err(|error| format!("cannot read what is asked: {error}"))?;
    serde_json::from_str(&line)
        .map_err(|error| format!("`longhaul {TOOL_COMMAND} {name}` is started by the engine, with a call: {error}"))
}
