//! The agent for testing workflows: it answers from a file, or makes up a value that matches the schema.
//!
//! ```yaml
//! default: {reply: "ok"}             # for prompts nobody names
//! replies:                           # the first that fits answers
//!   - step: plan                     # a step id, or a whole path such as tasks[1]/code; * stands for anything
//!     attempt: 1                     # only this attempt
//!     contains: "parser"             # only if the prompt contains this
//!     reply: {tasks: [{title: a}]}   # text, or a value that is given back as JSON
//!     after: 200ms
//!     says: ["Looking.", "Found it."]   # while it thinks, one after the other
//!     usage: {input_tokens: 1200, output_tokens: 300, usd: 0.01}
//!     writes: {"src/a.txt": "content"}
//!   - {step: review, fail: rate_limit, message: "overloaded", retry_after: 30s}
//!   - {step: fix, sequence: ["first", "second"]}   # one per call, the last one from then on
//! commands:                          # commands that are not executed: what they seem to print, and how they end
//!   - {step: deploy, stdout: "deployed", exit_code: 0}
//! ```
//!
//! **Invariant:** a reply depends only on the script and the turn. The same turn gets the same reply again.

mod file;
mod minimal;
mod pattern;
mod writes;

use indexmap::IndexMap;
use longhaul_core::Json;
use longhaul_core::path::StepPath;
use longhaul_core::plan::ErrorClass;
use pattern::Pattern;
use serde::Deserialize;

/// The replies of the scripted agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    replies: Vec<Entry>,
    default: Option<Answer>,
    commands: Vec<ScriptedCommand>,
    instant: bool,
}

/// The result of a command that is not executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptedCommand {
    step: Pattern,
    attempt: Option<u32>,
    /// The text that it prints.
    pub stdout: String,
    /// The text that it prints to its error output.
    pub stderr: String,
    /// Its exit code.
    pub exit_code: i32,
}

/// One turn of the scripted agent.
#[derive(Debug, Clone, Copy)]
pub struct ScriptedTurn<'a> {
    /// The step instance that asks.
    pub path: &'a StepPath,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The number of calls of this step so far, from 1: chooses from a `sequence`.
    pub call: u32,
    /// The prompt.
    pub prompt: &'a str,
    /// The JSON Schema that the answer must follow.
    pub schema: Option<&'a Json>,
}

/// The reply of the agent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reply {
    /// The answer; empty if it failed.
    pub text: String,
    /// How long the agent pretends to think.
    pub after_ms: u64,
    /// Whether the reply comes at once, without that pause.
    pub instant: bool,
    /// Texts that the agent says meanwhile, spread over that time.
    pub says: Vec<String>,
    /// The usage that it reports.
    pub usage: ScriptedUsage,
    /// Set if the call fails.
    pub failure: Option<ScriptedFailure>,
    /// The files that it writes, by path in the workspace. See [`Reply::write_into`].
    pub writes: IndexMap<String, String>,
}

/// The usage that a call reports.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScriptedUsage {
    /// Tokens of the prompt.
    pub input_tokens: u64,
    /// Tokens of the answer.
    pub output_tokens: u64,
    /// Money, in US dollars.
    pub usd: f64,
}

/// How a call fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptedFailure {
    /// The error class, which decides about retries.
    pub class: ErrorClass,
    /// A message for people.
    pub message: String,
    /// When to try again, if the agent says so.
    pub retry_after_ms: Option<u64>,
}

/// Why a text is not a script.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
pub struct Error {
    /// The line, from 1, if it is known.
    pub line: Option<u64>,
    /// The problem, with a suggestion if there is one.
    pub message: String,
}

#[derive(Debug, Clone, PartialEq)]
struct Entry {
    step: Pattern,
    attempt: Option<u32>,
    contains: Option<String>,
    answer: Answer,
}

#[derive(Debug, Clone, PartialEq)]
struct Answer {
    kind: Kind,
    after_ms: u64,
    says: Vec<String>,
    usage: ScriptedUsage,
    writes: IndexMap<String, String>,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    /// One per call; the last one repeats. There is at least one.
    Texts(Vec<String>),
    Fails(ScriptedFailure),
}

impl Script {
    /// Reads a script. An unknown key is an error.
    pub fn parse(text: &str) -> Result<Self, Error> {
        file::read(text)
    }

    /// Answers any prompt: with a short text or, if there is a schema, with the smallest value that follows it.
    pub fn builtin() -> Self {
        Self { replies: Vec::new(), default: None, commands: Vec::new(), instant: false }
    }

    /// The same replies, without the pauses.
    #[must_use]
    pub fn instant(self) -> Self {
        Self { instant: true, ..self }
    }

    /// The result of a scripted command; `None` if the command must be executed.
    pub fn command(&self, path: &StepPath, attempt: u32) -> Option<&ScriptedCommand> {
        let fits =
            |command: &&ScriptedCommand| command.step.fits(path) && command.attempt.is_none_or(|only| only == attempt);
        self.commands.iter().find(fits)
    }

    /// The reply to a turn.
    pub fn reply(&self, ask: &ScriptedTurn<'_>) -> Reply {
        let named = self.replies.iter().find(|entry| entry.fits(ask)).map(|entry| &entry.answer);
        let reply = match named.or(self.default.as_ref()) {
            Some(answer) => answer.reply(ask),
            None => Reply { text: made_up(ask), ..Reply::default() },
        };
        Reply { instant: self.instant, ..reply }
    }
}

impl Entry {
    fn fits(&self, ask: &ScriptedTurn<'_>) -> bool {
        self.step.fits(ask.path)
            && self.attempt.is_none_or(|attempt| attempt == ask.attempt)
            && self.contains.as_ref().is_none_or(|text| ask.prompt.contains(text))
    }
}

impl Answer {
    fn reply(&self, ask: &ScriptedTurn<'_>) -> Reply {
        let (text, failure) = match &self.kind {
            Kind::Texts(texts) => (nth_or_last(texts, ask.call), None),
            Kind::Fails(failure) => (String::new(), Some(failure.clone())),
        };
        let (says, writes) = (self.says.clone(), self.writes.clone());
        Reply { text, failure, after_ms: self.after_ms, instant: false, says, usage: self.usage, writes }
    }
}

fn nth_or_last(texts: &[String], call: u32) -> String {
    let at = usize::try_from(call.saturating_sub(1)).unwrap_or(usize::MAX);
    texts.get(at).or(texts.last()).cloned().unwrap_or_default()
}

fn made_up(ask: &ScriptedTurn<'_>) -> String {
    match ask.schema {
        Some(schema) => minimal::value(schema).to_string(),
        None => format!("A scripted reply to: {}", start_of(ask.prompt)),
    }
}

/// The first line that is not empty, up to sixty characters.
fn start_of(prompt: &str) -> String {
    let line = prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match line.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}
