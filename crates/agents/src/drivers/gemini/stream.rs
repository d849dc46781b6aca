//! Reads the stream of Gemini: one JSON object per line, and a `result` with the usage last.
//!
//! The answer comes in pieces; it is the text after the last tool. The exit code is the status of the failed request,
//! as far as it fits into eight bits.

use indexmap::IndexMap;
use longhaul_core::Json;

use super::super::event::{self, Look};
use super::super::notes::Notes;
use super::super::summary;
use crate::contract::{AgentTrouble, Ending, Errand, Exit, Meter, Reader, TranscriptEntry, Turn};

/// The message of a tool that needed a confirmation, when nobody could give it.
const UNCONFIRMED: &str = "requires user confirmation";

/// The reader of a turn.
pub(super) struct Stream {
    notes: Notes,
    errand: Errand,
    running: IndexMap<String, String>,
    after_tool: bool,
}

impl Stream {
    pub(super) fn new(turn: &Turn) -> Self {
        Self { notes: Notes::default(), errand: turn.errand, running: IndexMap::new(), after_tool: false }
    }

    fn event(&mut self, event: &Json) -> Vec<TranscriptEntry> {
        match event.text("/type") {
            "init" => self.notes.session(event.text("/session_id"), event.word("/model")).into_iter().collect(),
            "message" if event.text("/role") == "assistant" => self.message(event),
            "tool_use" => vec![self.call(event)],
            "tool_result" => self.complete(event),
            "error" => self.complaint(event),
            "result" => self.result(event),
            _ => vec![TranscriptEntry::Alive],
        }
    }

    fn message(&mut self, event: &Json) -> Vec<TranscriptEntry> {
        let (text, delta) = (event.text("/content").to_owned(), event.is("/delta"));
        if self.after_tool || !delta {
            self.notes.ending.text.clear();
        }
        self.notes.ending.text.push_str(&text);
        let continues = delta && !std::mem::take(&mut self.after_tool) && self.notes.ending.text.len() > text.len();
        vec![TranscriptEntry::Text { text, delta: continues }]
    }

    fn call(&mut self, event: &Json) -> TranscriptEntry {
        let (id, name) = (event.text("/tool_id").to_owned(), event.text("/tool_name").to_owned());
        let input = event.at("/parameters").clone();
        self.after_tool = true;
        self.running.insert(id.clone(), name.clone());
        TranscriptEntry::ToolCall { id, name, summary: summary::of(&input), input }
    }

    fn complete(&mut self, event: &Json) -> Vec<TranscriptEntry> {
        let (id, ok) = (event.text("/tool_id").to_owned(), event.text("/status") != "error");
        let name = self.running.swap_remove(&id).unwrap_or_default();
        let mut entries = Vec::new();
        // Gemini hides a tool of a server that a rule denies.
        let is_hidden = name.starts_with("mcp_") && event.text("/error/type") == "tool_not_registered";
        let is_denied =
            event.text("/error/type").contains("polic") || event.text("/error/message").contains(UNCONFIRMED);
        if is_hidden || is_denied {
            entries.push(self.notes.deny(&name));
        }
        entries.push(TranscriptEntry::ToolResult { id, ok, text: event.text("/output").to_owned() });
        entries
    }

    fn complaint(&mut self, event: &Json) -> Vec<TranscriptEntry> {
        let text = event.text("/message").to_owned();
        if event.text("/severity") == "error" {
            self.notes.trying_again = Some(AgentTrouble { message: text.clone(), ..AgentTrouble::default() });
        }
        vec![TranscriptEntry::Notice { text }]
    }

    fn result(&mut self, event: &Json) -> Vec<TranscriptEntry> {
        let failed = event.text("/status") == "error";
        if failed {
            self.failed(event.at("/error"));
        }
        self.notes.trying_again = None;
        if self.errand == Errand::Compact {
            // The text after this is the summary.
            self.notes.ending.text.clear();
            self.notes.ending.trouble.compacted = Some(!failed);
        }
        vec![self.notes.used(used(event.at("/stats"))), self.notes.over()]
    }

    /// The message contains the response body, if there was one: `[API Error: {"error": {…}}]`.
    fn failed(&mut self, error: &Json) {
        let message = error.text("/message");
        let body =
            message.find('{').zip(message.rfind('}')).and_then(|(from, to)| event::read(message.get(from..=to)?));
        let body = body.unwrap_or_default();
        let trouble = &mut self.notes.ending.trouble;
        trouble.status = body.status("/error/code");
        let own = error.word("/type").filter(|word| word != "unknown");
        trouble.code = body.word("/error/details/0/reason").or_else(|| body.word("/error/status")).or(own);
        self.notes.fail(message);
        if let Some(last) = self.notes.trying_again.take() {
            self.notes.fail(&last.message);
        }
    }
}

fn used(stats: &Json) -> Meter {
    Meter {
        input_tokens: stats.count("/input_tokens"),
        cached_tokens: stats.count("/cached"),
        output_tokens: stats.count("/output_tokens"),
        usd: None,
    }
}

/// The HTTP status in an exit code: 173 is the low byte of 429.
fn status_of(exit: &Exit) -> Option<u16> {
    let code = exit.code.and_then(|code| u16::try_from(code).ok())?;
    (144..=255).contains(&code).then_some(code + 256)
}

impl Reader for Stream {
    fn line(&mut self, line: &str) -> Vec<TranscriptEntry> {
        match event::read(line) {
            Some(event) => self.event(&event),
            None => self.notes.stray(line),
        }
    }

    fn finish(mut self: Box<Self>, exit: &Exit) -> Ending {
        let trouble = &mut self.notes.ending.trouble;
        if trouble.is_error && trouble.status.is_none() {
            trouble.status = status_of(exit);
        }
        self.notes.into_ending(exit)
    }
}
