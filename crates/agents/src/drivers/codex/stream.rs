//! Reads the stream of Codex: threads, turns and items, one JSON object per line.
//!
//! Usage counts from the start of the thread. An error has no status and no code, only words; Longhaul reads both from
//! the words.

use indexmap::IndexSet;
use longhaul_core::Json;

use super::super::event::{self, Look};
use super::super::notes::Notes;
use super::super::summary;
use crate::contract::{AgentTrouble, Ending, Exit, Meter, Reader, TranscriptEntry, Turn, TurnSession};

/// The message while it retries.
const RECONNECTING: &str = "Reconnecting...";

/// The error of a tool of a server that nobody approved.
const UNAPPROVED: &str = "requires approval";

/// The reader of a turn.
pub(super) struct Stream {
    notes: Notes,
    before: Meter,
    begun: IndexSet<String>,
}

impl Stream {
    pub(super) fn new(turn: &Turn) -> Self {
        let before = match &turn.session {
            TurnSession::New(_) => Meter::default(),
            TurnSession::Resume { before, .. } => *before,
        };
        Self { notes: Notes::default(), before, begun: IndexSet::new() }
    }

    fn event(&mut self, event: &Json) -> Vec<TranscriptEntry> {
        match event.text("/type") {
            "thread.started" => self.notes.session(event.text("/thread_id"), None).into_iter().collect(),
            "item.started" => self.begin(event.at("/item")),
            "item.completed" => self.complete(event.at("/item")),
            "turn.completed" => self.finished(event.at("/usage")),
            "turn.failed" => self.failed(event.text("/error/message")),
            "error" => self.complaint(event.text("/message")),
            _ => vec![TranscriptEntry::Alive],
        }
    }

    fn begin(&mut self, item: &Json) -> Vec<TranscriptEntry> {
        match call(item) {
            Some(entry) if self.begun.insert(item.text("/id").to_owned()) => vec![entry],
            _ => vec![TranscriptEntry::Alive],
        }
    }

    fn complete(&mut self, item: &Json) -> Vec<TranscriptEntry> {
        match item.text("/type") {
            "agent_message" => self.message(item.text("/text")),
            "reasoning" => item.word("/text").map(|text| TranscriptEntry::Thinking { text }).into_iter().collect(),
            "error" => vec![TranscriptEntry::Notice { text: item.text("/message").to_owned() }],
            _ => self.complete_tool(item),
        }
    }

    fn message(&mut self, text: &str) -> Vec<TranscriptEntry> {
        self.notes.trying_again = None;
        self.notes.ending.text = text.to_owned();
        vec![TranscriptEntry::Text { text: text.to_owned(), delta: false }]
    }

    fn complete_tool(&mut self, item: &Json) -> Vec<TranscriptEntry> {
        let mut entries = self.begin(item);
        if !self.begun.swap_remove(item.text("/id")) {
            return entries;
        }
        entries.retain(|entry| *entry != TranscriptEntry::Alive);
        if item.text("/status") == "declined" {
            entries.push(self.notes.deny(item.text("/type")));
        } else if item.text("/error/message").contains(UNAPPROVED) {
            let tool = format!("{}.{}", item.text("/server"), item.text("/tool"));
            entries.push(self.notes.deny(&tool));
        }
        let text = item.word("/aggregated_output").or_else(|| item.word("/error/message")).unwrap_or_default();
        let ok = !matches!(item.text("/status"), "failed" | "declined");
        entries.push(TranscriptEntry::ToolResult { id: item.text("/id").to_owned(), ok, text });
        entries
    }

    fn finished(&mut self, usage: &Json) -> Vec<TranscriptEntry> {
        let total = Meter {
            input_tokens: usage.count("/input_tokens"),
            cached_tokens: usage.count("/cached_input_tokens"),
            output_tokens: usage.count("/output_tokens"),
            usd: None,
        };
        self.notes.ending.trouble =
            AgentTrouble { question: self.notes.ending.trouble.question.take(), ..AgentTrouble::default() };
        vec![self.notes.used_in_all(total, self.before), self.notes.over()]
    }

    /// The reason comes twice: as an error, and as the failure of the turn.
    fn complaint(&mut self, message: &str) -> Vec<TranscriptEntry> {
        let trouble = read_trouble(message);
        if message.starts_with(RECONNECTING) {
            self.notes.trying_again = Some(trouble);
        } else {
            self.notes.ending.trouble = AgentTrouble { is_error: true, ..trouble };
        }
        vec![TranscriptEntry::Notice { text: message.to_owned() }]
    }

    fn failed(&mut self, message: &str) -> Vec<TranscriptEntry> {
        self.notes.ending.trouble = AgentTrouble { is_error: true, ..read_trouble(message) };
        vec![self.notes.over()]
    }
}

/// The entry for an item that is a tool call.
fn call(item: &Json) -> Option<TranscriptEntry> {
    let (input, summary) = match item.text("/type") {
        "command_execution" => (with(item, &["command"]), summary::line(item.text("/command"))),
        "file_change" => {
            let paths: Vec<&str> = item.items("/changes").iter().map(|change| change.text("/path")).collect();
            (with(item, &["changes"]), summary::line(&paths.join(" ")))
        }
        "mcp_tool_call" => (with(item, &["server", "tool", "arguments"]), summary::line(item.text("/tool"))),
        "web_search" => (with(item, &["query"]), summary::line(item.text("/query"))),
        kind if kind.ends_with("_tool_call") => (with(item, &["tool", "arguments"]), summary::line(item.text("/tool"))),
        _ => return None,
    };
    Some(TranscriptEntry::ToolCall {
        id: item.text("/id").to_owned(),
        name: item.text("/type").to_owned(),
        summary,
        input,
    })
}

fn with(item: &Json, keys: &[&str]) -> Json {
    keys.iter().filter_map(|key| item.get(*key).map(|value| ((*key).to_owned(), value.clone()))).collect()
}

/// The problem in the words of an error: they may be a response body, or mention a status.
fn read_trouble(message: &str) -> AgentTrouble {
    let body = event::read(message).unwrap_or_default();
    AgentTrouble {
        status: number_after(message, "unexpected status ").or_else(|| number_after(message, "last status: ")),
        code: body.word("/error/code").or_else(|| body.word("/error/type")),
        message: message.to_owned(),
        stop: message.rsplit_once("Incomplete response returned, reason: ").map(|(_, reason)| reason.to_owned()),
        ..AgentTrouble::default()
    }
}

fn number_after(text: &str, words: &str) -> Option<u16> {
    let (_, rest) = text.split_once(words)?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

impl Reader for Stream {
    fn line(&mut self, line: &str) -> Vec<TranscriptEntry> {
        match event::read(line) {
            Some(event) => self.event(&event),
            None => self.notes.stray(line),
        }
    }

    fn finish(self: Box<Self>, exit: &Exit) -> Ending {
        self.notes.into_ending(exit)
    }
}
