//! What every agent is to Longhaul: a program that is given a turn and tells a stream.
//!
//! A driver says how its program is found, how a turn becomes a command line, and what each line of the stream means. It
//! never starts anything itself: the process is the shim's, and what an ending means is read by [`crate::notice`]
//! from what the driver reports. Agents that are no programs (model endpoints, protocols) are served by this
//! binary as one (`longhaul __agent`), so that all of them outlive the engine and are stopped in the same way.
//!
//! **Invariant:** a driver is a pure reading of its arguments, but for [`Agent::find`], the files that
//! [`Agent::invoke`] leaves in the turn's own folder and in [`Setup::home`], the report that a program was asked to
//! leave in the former, and whether a path that a prompt names is there. Untrusted text reaches the program as argument, variable or stdin.

mod handed;

use std::path::PathBuf;

use indexmap::IndexMap;
use longhaul_core::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One agent.
pub trait Agent: Send + Sync {
    /// What workflows call it.
    fn name(&self) -> &'static str;

    /// What it is, in a line for people.
    fn title(&self) -> &'static str;

    /// What it can do by itself; what it lacks is emulated or refused.
    fn abilities(&self) -> Abilities;

    /// Where it is and which version, without starting more than `program --version`.
    fn find(&self, setup: &Setup) -> Result<Found, Missing>;

    /// The command line of a turn.
    fn invoke(&self, found: &Found, setup: &Setup, turn: &Turn) -> Result<Invocation, Refusal>;

    /// What reads the stream of a turn.
    fn reader(&self, turn: &Turn) -> Box<dyn Reader>;
}

/// What an agent can do by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Abilities {
    /// Continue a session by its id.
    pub resume: bool,
    /// Begin a session under an id of our choice.
    pub choose_session: bool,
    /// Shorten its context when asked.
    pub compact: bool,
    /// Hold its answer to a JSON Schema.
    pub schema: bool,
    /// Stop at an amount of money.
    pub budget: bool,
    /// Look without touching.
    pub read_only: bool,
    /// Be given a list of tools.
    pub tools: bool,
    /// Be told who it is apart from the prompt.
    pub system: bool,
    /// Take pictures.
    pub images: bool,
    /// Say what a turn cost in money.
    pub cost: bool,
}

/// How an agent is called on this machine, from the settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// The program, where it is not the usual one in `PATH`.
    pub program: Option<PathBuf>,
    /// Arguments that come before ours: of ACP agents, what starts them.
    #[serde(default)]
    pub args: Vec<String>,
    /// Where the model is served.
    pub base_url: Option<String>,
    /// The variable of the environment that holds the key.
    pub key_env: Option<String>,
    /// Whether it goes by its own login or by a key.
    #[serde(default)]
    pub auth: Auth,
    /// The model of turns that name none.
    pub model: Option<String>,
    /// Further variables that are handed on.
    #[serde(default)]
    pub keep_env: Vec<String>,
    /// Variables that are set.
    #[serde(default)]
    pub env: IndexMap<String, String>,
    /// Where this engine keeps what agents need from it: configuration, sessions of its own.
    #[serde(default)]
    pub home: PathBuf,
}

/// Who pays.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Auth {
    /// Its own login if there is one, otherwise the key. Decided before the turn, never during it.
    #[default]
    Auto,
    /// Its own login; keys are kept from it.
    Login,
    /// The key.
    Key,
}

/// An agent that is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    /// What is started.
    pub program: PathBuf,
    /// As it says itself.
    pub version: String,
    /// Whether it has a login of its own.
    pub logged_in: bool,
}

/// Why an agent cannot be used, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}; {remedy}")]
pub struct Missing {
    /// What is the matter.
    pub what: String,
    /// What to do.
    pub remedy: String,
}

/// Why a turn cannot be put to an agent, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub String);

/// What is asked of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// What is done.
    pub errand: Errand,
    /// What it is told.
    pub prompt: String,
    /// Who it is.
    pub system: Option<String>,
    /// Which model.
    pub model: Option<String>,
    /// How hard it thinks.
    pub effort: Option<String>,
    /// The conversation.
    pub session: Session,
    /// What the answer must look like.
    pub schema: Option<Json>,
    /// What it may do to the workspace.
    pub permission: Permission,
    /// The tools it may use; all that the permission allows, without a list.
    pub tools: Option<Vec<String>>,
    /// Further folders it may see.
    pub dirs: Vec<PathBuf>,
    /// Money it may spend, where it can watch that itself.
    pub budget_usd: Option<f64>,
    /// The workspace.
    pub cwd: PathBuf,
    /// A folder of this turn alone, for files the program is pointed at.
    pub scratch: PathBuf,
    /// Whether what the workspace says about agents (settings, hooks, servers) may take effect.
    pub trusted: bool,
    /// Whether something else confines it, so that its own questions may be switched off.
    pub sandboxed: bool,
}

/// What a turn is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Errand {
    /// The prompt.
    Work,
    /// Shorten the context of the session; the prompt is not sent.
    Compact,
}

/// The conversation that a turn belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Session {
    /// A new one, under this id where the agent lets us choose.
    New(String),
    /// One that exists.
    Resume {
        /// Its id.
        id: String,
        /// What it had used before this turn, for agents that count from its beginning.
        #[serde(default)]
        before: Meter,
    },
}

/// What an agent may do to the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Permission {
    /// Look.
    ReadOnly,
    /// Look, edit, run commands inside the workspace.
    Edit,
    /// Anything.
    Full,
}

/// A turn as a command line. The shim adds its marks and runs it in [`Turn::cwd`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// What is started.
    pub program: PathBuf,
    /// Byte for byte.
    pub args: Vec<String>,
    /// Variables that are set.
    pub env: Vec<(String, String)>,
    /// Variables that are handed on from our environment, beside the common ones; `*` ends a prefix, and `NEW=OLD`
    /// hands on `OLD` under the name `NEW`. See [`Invocation::environment`].
    pub keep_env: Vec<String>,
    /// What it reads.
    pub stdin: Vec<u8>,
}

/// Reads the stream of one turn.
pub trait Reader: Send {
    /// What a line of its output says. Lines that mean nothing say nothing.
    fn line(&mut self, line: &str) -> Vec<Entry>;

    /// Whether the program tries again and again what only a person can fix. What it has said by then says why.
    fn is_hopeless(&self) -> bool {
        false
    }

    /// What is left when the program has ended.
    fn finish(self: Box<Self>, exit: &Exit) -> Ending;
}

/// One entry of a transcript: the same shape for every agent, stored and shown as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Entry {
    /// The session has an id. Stored before anything else happens.
    Session {
        /// The id.
        id: String,
        /// The model, as the agent names it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// The agent says something.
    Text {
        /// What.
        text: String,
        /// Whether it continues the text before.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        delta: bool,
    },
    /// The agent thinks aloud.
    Thinking {
        /// What.
        text: String,
    },
    /// A tool is called.
    ToolCall {
        /// Which call.
        id: String,
        /// Which tool.
        name: String,
        /// With what, in a line.
        summary: String,
        /// With what.
        #[serde(default, skip_serializing_if = "Json::is_null")]
        input: Json,
    },
    /// A tool has answered.
    ToolResult {
        /// Which call.
        id: String,
        /// Whether it went well.
        ok: bool,
        /// What it said.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
    },
    /// A tool was not allowed.
    Denied {
        /// Which.
        name: String,
    },
    /// The agent tries something again by itself, shortens its context, or warns.
    Notice {
        /// What it says.
        text: String,
    },
    /// What was used so far in this turn.
    Usage {
        /// How much.
        meter: Meter,
    },
    /// What runs in the background now, by what it is called. An answer that is given meanwhile need not be the last.
    Background {
        /// All of it; none if it is over.
        tasks: Vec<String>,
    },
    /// The agent works again after an answer: that was not its last.
    GoesOn,
    /// Nothing but a sign of life.
    Alive,
    /// The answer is complete; what comes after it is clearing up, unless something runs in the background.
    Result,
}

/// What was used.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Meter {
    /// Tokens read, cached ones too.
    #[serde(default)]
    pub input_tokens: u64,
    /// Of those, from a cache.
    #[serde(default)]
    pub cached_tokens: u64,
    /// Tokens written.
    #[serde(default)]
    pub output_tokens: u64,
    /// Money, where the agent says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
}

/// How the program ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// Its code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether we ended it, or asked it to stop, and why.
    pub ended: Option<Stopped>,
    /// The end of what it complained about.
    pub stderr: String,
}

/// Why we ended a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// Its step took too long.
    Timeout,
    /// It was asked for.
    Cancelled,
    /// It showed no sign of life. One that obeyed when it was asked to stop has its code as well.
    Hung,
    /// Nobody came back for it.
    Abandoned,
    /// It had answered and would not go.
    AfterResult,
    /// It tried again what only a person can fix.
    Hopeless,
}

/// What a driver makes of a turn that is over. What it means is not its business.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Ending {
    /// The answer.
    pub text: String,
    /// The answer as the agent's own schema check left it.
    pub structured: Option<Json>,
    /// The session, if one was seen.
    pub session: Option<String>,
    /// What this turn used; `None` if it is not known.
    pub used: Option<Meter>,
    /// Whether the turn ended before all of that was told: it used at least this much.
    pub at_least: bool,
    /// What the session has used since its beginning, where the agent counts like that.
    pub session_total: Option<Meter>,
    /// Tools that were not allowed.
    pub denied: Vec<String>,
    /// Whether the answer is complete although the program ends as if it was not: its money was used up with the last word.
    pub finished: bool,
    /// What went wrong, as the agent tells it.
    pub trouble: Trouble,
}

/// What went wrong, as the agent tells it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Trouble {
    /// Whether the agent itself calls it an error.
    pub is_error: bool,
    /// The status of the request that failed.
    pub status: Option<u16>,
    /// The agent's own word for it.
    pub code: Option<String>,
    /// In words; several lines if there were several.
    pub message: String,
    /// Why the model stopped: `max_tokens`, `refusal`, …
    pub stop: Option<String>,
    /// When a limit ends, as a moment in milliseconds since 1970, where the stream carries one.
    pub resets_at_ms: Option<i64>,
    /// A pause that the other side asked for.
    pub retry_after_ms: Option<u64>,
    /// Whether it ended by asking a person something.
    pub question: Option<String>,
    /// Of [`Errand::Compact`]: whether the context is shorter now.
    pub compacted: Option<bool>,
}
