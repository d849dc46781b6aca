//! The streams of the real programs: the same acts, in the words of each.

mod claude;
mod codex;
mod copilot;
mod gemini;
mod opencode;

use std::io::Write;

use serde_json::Value;

use crate::call::{Agent, Call};
use crate::scenario::Failure;

/// What speaks for one turn.
pub(crate) struct Voice<'a> {
    pub(crate) turns: u64,
    pub(crate) session: String,
    pub(crate) call: &'a Call,
}

/// How a tool came out: what it said, or why it was not used.
pub(crate) type Outcome<'a> = Result<&'a str, &'a str>;

/// A line on the one stream.
pub(crate) fn say(line: &str) {
    write(&mut std::io::stdout(), line);
}

/// A line on the other.
pub(crate) fn complain(line: &str) {
    write(&mut std::io::stderr(), line);
}

fn write(stream: &mut impl Write, line: &str) {
    // The reader closed the pipe, so the rest is dropped.
    let _ = writeln!(stream, "{line}").and_then(|()| stream.flush());
}

fn event(event: &Value) {
    say(&event.to_string());
}

macro_rules! of_each {
    ($self:ident, $function:ident ( $($argument:expr),* )) => {
        match $self.call.agent {
            Agent::Claude => claude::$function($self, $($argument),*),
            Agent::Codex => codex::$function($self, $($argument),*),
            Agent::Copilot => copilot::$function($self, $($argument),*),
            Agent::Gemini => gemini::$function($self, $($argument),*),
            Agent::Opencode => opencode::$function($self, $($argument),*),
        }
    };
}

impl<'a> Voice<'a> {
    pub(crate) fn new(call: &'a Call, turns: u64) -> Self {
        Self { turns, session: call.session(), call }
    }

    /// What comes before everything else.
    pub(crate) fn begin(&self) {
        of_each!(self, begin());
    }

    /// A shell tool.
    pub(crate) fn tool(&self, command: &str, outcome: Outcome<'_>) {
        of_each!(self, tool(command, outcome));
    }

    /// The answer, and the end.
    pub(crate) fn answer(&self, text: &str) {
        of_each!(self, answer(text));
    }

    /// An answer that follows the schema.
    pub(crate) fn structured(&self, json: &str) {
        match self.call.agent {
            Agent::Claude if self.call.has_schema => claude::structured(self, json),
            _ => self.answer(json),
        }
    }

    /// The end, without an answer; how the program exits.
    pub(crate) fn empty(&self) -> u8 {
        of_each!(self, empty())
    }

    /// The end, with a question that nobody was there to answer. Those that have no tool for it ask in words.
    pub(crate) fn ask(&self, question: &str) {
        match self.call.agent {
            Agent::Claude => claude::ask(self, question),
            Agent::Copilot => copilot::ask(self, question),
            _ => self.answer(question),
        }
    }

    /// The service has refused; how the program exits.
    pub(crate) fn fail(&self, failure: Failure) -> u8 {
        of_each!(self, fail(failure))
    }

    /// The session cannot be used: how the program exits, if it says so in its stream.
    pub(crate) fn refuse(&self, words: &str) -> Option<u8> {
        (self.call.agent == Agent::Claude && self.call.resume.is_some()).then(|| claude::refuse(self, words))
    }
}
