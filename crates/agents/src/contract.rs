//! The interface of every agent: a program that gets a turn and prints a stream.
//!
//! A driver says how to find its program, how a turn becomes a command line, and what each line of the stream means. It
//! starts nothing itself: the shim runs the process, and [`crate::notice`] decides from the driver's report what an
//! ending means. For agents that are not programs (model endpoints, protocols), this binary acts as the program
//! (`longhaul __agent`). So all agents outlive the engine and stop in the same way.
//!
//! **Invariant:** a driver only reads its arguments. The exceptions are [`Agent::find`], the files that
//! [`Agent::invoke`] writes into the turn's own folder and into [`AgentSetup::home`], the report that a program writes into
//! the former, and the check whether a path in a prompt exists. Untrusted text reaches the program as an argument, a
//! variable or stdin.

mod handed;

use std::path::PathBuf;

use indexmap::IndexMap;
use longhaul_core::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mcp::McpServer;

/// One agent.
pub trait Agent: Send + Sync {
    /// The name of the agent in workflows.
    fn name(&self) -> &'static str;

    /// A description for people, in one line.
    fn title(&self) -> &'static str;

    /// What the agent can do by itself. Longhaul emulates or refuses the rest.
    fn abilities(&self) -> Abilities;

    /// The place and the version of the agent. It starts at most `program --version`.
    fn find(&self, setup: &AgentSetup) -> Result<InstalledAgent, MissingAgent>;

    /// The command line of a turn.
    fn invoke(&self, found: &InstalledAgent, setup: &AgentSetup, turn: &Turn) -> Result<Invocation, UnsupportedTurn>;

    /// The reader for the stream of a turn.
    fn reader(&self, turn: &Turn) -> Box<dyn Reader>;
}

/// What an agent can do by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Abilities {
    /// Continue a session by its id.
    pub resume: bool,
    /// Start a session under an id that Longhaul chooses.
    pub choose_session: bool,
    /// Shorten its context when asked.
    pub compact: bool,
    /// Make its answer follow a JSON Schema.
    pub schema: bool,
    /// Stop when it has spent an amount of money.
    pub budget: bool,
    /// Work without changing anything.
    pub read_only: bool,
    /// Accept a list of allowed tools.
    pub tools: bool,
    /// Accept MCP servers.
    pub mcp: bool,
    /// Leave the MCP servers of its own settings out.
    pub mcp_only: bool,
    /// Accept a system prompt apart from the prompt.
    pub system: bool,
    /// Accept images.
    pub images: bool,
    /// Report the cost of a turn in money.
    pub cost: bool,
}

/// How to call an agent on this machine, from the settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentSetup {
    /// The program, if it is not the usual one in `PATH`.
    pub program: Option<PathBuf>,
    /// Arguments that come before ours; for ACP agents, the ones that start the agent.
    #[serde(default)]
    pub args: Vec<String>,
    /// The address of the model's server.
    pub base_url: Option<String>,
    /// The environment variable that holds the key.
    pub key_env: Option<String>,
    /// Whether the agent uses its own login or a key.
    #[serde(default)]
    pub auth: AgentAuth,
    /// The model for turns that do not name one.
    pub model: Option<String>,
    /// Further variables that are passed on.
    #[serde(default)]
    pub keep_env: Vec<String>,
    /// Variables that are set for the program.
    #[serde(default)]
    pub env: IndexMap<String, String>,
    /// The folder of this engine for files that agents need: configuration and sessions.
    #[serde(default)]
    pub home: PathBuf,
    /// This program, which agents start as their MCP servers.
    #[serde(default)]
    pub launcher: PathBuf,
}

/// Who pays for a turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentAuth {
    /// Its own login if there is one, otherwise the key. Longhaul decides before the turn, never during it.
    #[default]
    Auto,
    /// Its own login; the agent gets no keys.
    Login,
    /// The key.
    Key,
}

/// An installed agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InstalledAgent {
    /// The program to start.
    pub program: PathBuf,
    /// The version that the program reports.
    pub version: String,
    /// Whether it has a login of its own.
    pub logged_in: bool,
}

/// Why an agent cannot be used, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}; {remedy}")]
pub struct MissingAgent {
    /// The problem.
    pub what: String,
    /// What the user can do.
    pub remedy: String,
}

/// Why an agent cannot do a turn, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnsupportedTurn(pub String);

/// The request to an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// The purpose of the turn.
    pub errand: Errand,
    /// The prompt.
    pub prompt: String,
    /// The system prompt.
    pub system: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The reasoning effort.
    pub effort: Option<String>,
    /// The conversation that the turn belongs to.
    pub session: TurnSession,
    /// The JSON Schema of the answer.
    pub schema: Option<Json>,
    /// What it may do to the workspace.
    pub permission: Permission,
    /// The tools that the agent may use; without a list, all that the permission allows.
    pub tools: Option<Vec<String>>,
    /// The MCP servers that the agent may use.
    #[serde(default)]
    pub mcp: Vec<McpServer>,
    /// Whether the MCP servers of the agent's own settings are left out.
    #[serde(default)]
    pub mcp_only: bool,
    /// Further folders that the agent may see.
    pub dirs: Vec<PathBuf>,
    /// The most money that it may spend, if the agent can check that itself.
    pub budget_usd: Option<f64>,
    /// The working directory.
    pub cwd: PathBuf,
    /// A folder for this turn only, for files that the program reads.
    pub scratch: PathBuf,
    /// Whether the agent settings of the workspace (settings, hooks, servers) may take effect.
    pub trusted: bool,
    /// Whether something else confines the agent, so that its own questions can be switched off.
    pub sandboxed: bool,
}

/// The purpose of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Errand {
    /// Do what the prompt says.
    Work,
    /// Shorten the context of the session; the prompt is not sent.
    Compact,
}

/// The conversation that a turn belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnSession {
    /// A new one, under this id if the agent accepts one.
    New(String),
    /// An existing one.
    Resume {
        /// The id of the session.
        id: String,
        /// What the session had used before this turn, for agents that count from its start.
        #[serde(default)]
        before: Meter,
    },
}

/// What an agent may do to the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Permission {
    /// Read only.
    ReadOnly,
    /// Read, edit, and run commands inside the workspace.
    Edit,
    /// Anything.
    Full,
}

/// A turn as a command line. The shim adds its marking variables and runs it in [`Turn::cwd`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// The program to start.
    pub program: PathBuf,
    /// The arguments, passed byte for byte.
    pub args: Vec<String>,
    /// Variables that are set for the program.
    pub env: Vec<(String, String)>,
    /// Variables that are passed on from our environment, beside the common ones; `*` ends a prefix, and `NEW=OLD`
    /// passes `OLD` on under the name `NEW`. See [`Invocation::environment`].
    pub keep_env: Vec<String>,
    /// The bytes on its standard input.
    pub stdin: Vec<u8>,
}

/// Reads the stream of one turn.
pub trait Reader: Send {
    /// The entries that a line of output means. A line without meaning gives none.
    fn line(&mut self, line: &str) -> Vec<TranscriptEntry>;

    /// Whether the program keeps retrying something that only a person can fix. Its output so far says why.
    fn is_hopeless(&self) -> bool {
        false
    }

    /// The result when the program has ended.
    fn finish(self: Box<Self>, exit: &Exit) -> Ending;
}

/// One entry of a transcript: the same shape for every agent, stored and shown unchanged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TranscriptEntry {
    /// The session has an id. Stored before anything else.
    Session {
        /// The id of the session.
        id: String,
        /// The model, as the agent names it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// The agent says something.
    Text {
        /// The text.
        text: String,
        /// Whether the text continues the previous one.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        delta: bool,
    },
    /// The agent shows its reasoning.
    Thinking {
        /// The text.
        text: String,
    },
    /// A tool is called.
    ToolCall {
        /// The id of the call.
        id: String,
        /// The name of the tool.
        name: String,
        /// The input, summarised in one line.
        summary: String,
        /// The input.
        #[serde(default, skip_serializing_if = "Json::is_null")]
        input: Json,
    },
    /// A tool has answered.
    ToolResult {
        /// The id of the call.
        id: String,
        /// Whether the call succeeded.
        ok: bool,
        /// The text of the result.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
    },
    /// A tool was denied.
    Denied {
        /// The name of the tool.
        name: String,
    },
    /// The agent retries something by itself, shortens its context, or warns.
    Notice {
        /// The message.
        text: String,
    },
    /// The usage of this turn so far.
    Usage {
        /// The amounts.
        meter: Meter,
    },
    /// The tasks that run in the background now, by name. An answer that the agent gives meanwhile may not be its last.
    Background {
        /// All running tasks; empty if none is left.
        tasks: Vec<String>,
    },
    /// The agent continues after an answer, so that answer was not its last.
    GoesOn,
    /// Only a sign of life.
    Alive,
    /// The answer is complete. Only cleanup follows, unless something runs in the background.
    Result,
}

/// An amount of tokens and money.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Meter {
    /// Tokens read, including cached ones.
    #[serde(default)]
    pub input_tokens: u64,
    /// The part of those that came from a cache.
    #[serde(default)]
    pub cached_tokens: u64,
    /// Tokens written.
    #[serde(default)]
    pub output_tokens: u64,
    /// Money, if the agent reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
}

/// How the program ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Why we ended it or asked it to stop, if we did.
    pub ended: Option<Stopped>,
    /// The end of its error output.
    pub stderr: String,
}

/// Why Longhaul ended a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// Its step took too long.
    Timeout,
    /// The run or the step was cancelled.
    Cancelled,
    /// It showed no sign of life. If it stopped when asked, it also has an exit code.
    Hung,
    /// No engine attached to it again in time.
    Abandoned,
    /// It had answered but did not exit.
    AfterResult,
    /// It kept retrying something that only a person can fix.
    Hopeless,
}

/// A driver's report about a finished turn. Other code decides what it means.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Ending {
    /// The answer.
    pub text: String,
    /// The answer as the agent's own schema check returned it.
    pub structured: Option<Json>,
    /// The session, if one was seen.
    pub session: Option<String>,
    /// The usage of this turn; `None` if it is unknown.
    pub used: Option<Meter>,
    /// Whether the turn ended before the agent reported all of its usage: it used at least this much.
    pub at_least: bool,
    /// The usage of the session since its start, if the agent counts like that.
    pub session_total: Option<Meter>,
    /// Tools that were denied.
    pub denied: Vec<String>,
    /// Whether the answer is complete although the program reports a failure: the budget ran out with the last word.
    pub finished: bool,
    /// The problem, as the agent reports it.
    pub trouble: AgentTrouble,
}

/// A problem, as the agent reports it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentTrouble {
    /// Whether the agent itself reports an error.
    pub is_error: bool,
    /// The HTTP status of the failed request.
    pub status: Option<u16>,
    /// The agent's own code for the problem.
    pub code: Option<String>,
    /// The message; several lines if there were several.
    pub message: String,
    /// Why the model stopped: `max_tokens`, `refusal`, …
    pub stop: Option<String>,
    /// When a limit ends, in milliseconds since 1970, if the stream says so.
    pub resets_at_ms: Option<i64>,
    /// The pause that the server asked for.
    pub retry_after_ms: Option<u64>,
    /// The question to a person with which the turn ended.
    pub question: Option<String>,
    /// For [`Errand::Compact`]: whether the context is shorter now.
    pub compacted: Option<bool>,
}
