//! Reads the stream of Copilot: events with `data`, one JSON object per line, `result` last.
//!
//! The session's id comes only with the `result`, but Longhaul chose it at the start. The usage is in a file beside the
//! stream, and counts from the start of the session.

use std::path::PathBuf;

use indexmap::IndexMap;
use longhaul_core::Json;

use super::super::event::{self, Look};
use super::super::notes::{Notes, sum};
use super::super::summary;
use crate::contract::{AgentTrouble, Ending, Errand, Exit, Meter, Reader, TranscriptEntry, Turn, TurnSession};

/// The tool that asks a person.
const QUESTION_TOOL: &str = "ask_user";
/// The code of a tool that was denied.
const DENIED: &str = "denied";

/// The reader of a turn.
pub(super) struct Stream {
    notes: Notes,
    errand: Errand,
    session: String,
    before: Meter,
    usage_file: PathBuf,
    running: IndexMap<String, String>,
}

impl Stream {
    pub(super) fn new(turn: &Turn, usage_file: PathBuf) -> Self {
        let (session, before) = match &turn.session {
            TurnSession::New(id) => (id.clone(), Meter::default()),
            TurnSession::Resume { id, before } => (id.clone(), *before),
        };
        Self { notes: Notes::default(), errand: turn.errand, session, before, usage_file, running: IndexMap::new() }
    }

    fn event(&mut self, event: &Json) -> Vec<TranscriptEntry> {
        let data = event.at("/data");
        match event.text("/type") {
            "assistant.message" => self.message(data),
            "assistant.reasoning" => {
                data.word("/content").map(|text| TranscriptEntry::Thinking { text }).into_iter().collect()
            }
            "tool.execution_start" => vec![self.call(data)],
            "tool.execution_complete" => self.complete(data),
            "model.call_failure" => self.call_failed(data),
            "assistant.turn_retry" => {
                vec![TranscriptEntry::Notice { text: format!("{}, trying again", data.text("/reason")) }]
            }
            "session.warning" => vec![TranscriptEntry::Notice { text: data.text("/message").to_owned() }],
            "session.error" => self.failed(data),
            "abort" => self.aborted(data),
            "result" => self.result(event),
            _ => vec![TranscriptEntry::Alive],
        }
    }

    fn message(&mut self, data: &Json) -> Vec<TranscriptEntry> {
        self.notes.trying_again = None;
        let Some(text) = data.word("/content") else {
            return vec![TranscriptEntry::Alive];
        };
        self.notes.ending.text.clone_from(&text);
        vec![TranscriptEntry::Text { text, delta: false }]
    }

    fn call(&mut self, data: &Json) -> TranscriptEntry {
        let (id, name) = (data.text("/toolCallId").to_owned(), data.text("/toolName").to_owned());
        let input = data.at("/arguments").clone();
        if name == QUESTION_TOOL {
            self.notes.ending.trouble.question = Some(summary::of(&input));
        }
        self.running.insert(id.clone(), name.clone());
        TranscriptEntry::ToolCall { id, name, summary: summary::of(&input), input }
    }

    fn complete(&mut self, data: &Json) -> Vec<TranscriptEntry> {
        let (id, ok) = (data.text("/toolCallId").to_owned(), data.is("/success"));
        let name = self.running.swap_remove(&id).unwrap_or_default();
        if ok && name == QUESTION_TOOL {
            self.notes.ending.trouble.question = None;
        }
        let mut entries = Vec::new();
        if data.text("/error/code") == DENIED {
            entries.push(self.notes.deny(&name));
        }
        let text = data.word("/result/content").or_else(|| data.word("/error/message")).unwrap_or_default();
        entries.push(TranscriptEntry::ToolResult { id, ok, text });
        entries
    }

    fn call_failed(&mut self, data: &Json) -> Vec<TranscriptEntry> {
        let message = event::read(data.text("/errorMessage")).and_then(|body| body.word("/message"));
        self.notes.trying_again = Some(AgentTrouble {
            status: data.status("/statusCode"),
            code: data.word("/errorCode").or_else(|| data.word("/errorType")),
            message: message.unwrap_or_else(|| data.text("/errorMessage").to_owned()),
            ..AgentTrouble::default()
        });
        vec![TranscriptEntry::Alive]
    }

    /// Copilot's own code for most errors is `query`; the service's code, from the last request, is more specific.
    fn failed(&mut self, data: &Json) -> Vec<TranscriptEntry> {
        let last = self.notes.trying_again.take().unwrap_or_default();
        let own = data.word("/errorType");
        let general = own.as_deref().is_none_or(|word| word == "query");
        let trouble = &mut self.notes.ending.trouble;
        trouble.status = data.status("/statusCode").or(last.status);
        trouble.code = if general { last.code.or(own) } else { own };
        self.notes.fail(data.text("/message"));
        vec![TranscriptEntry::Notice { text: data.text("/message").to_owned() }]
    }

    /// Whatever ended it, the error that it was retrying says more.
    fn aborted(&mut self, data: &Json) -> Vec<TranscriptEntry> {
        let last = self.notes.trying_again.take().unwrap_or_default();
        let trouble = &mut self.notes.ending.trouble;
        trouble.status = last.status;
        trouble.code = last.code.or_else(|| Some("abort".to_owned()));
        self.notes.fail(&last.message);
        self.notes.fail(data.text("/reason"));
        vec![TranscriptEntry::Notice { text: format!("aborted: {}", data.text("/reason")) }]
    }

    fn result(&mut self, event: &Json) -> Vec<TranscriptEntry> {
        self.notes.trying_again = None;
        let ended_well = event.count("/exitCode") == 0;
        let trouble = &mut self.notes.ending.trouble;
        trouble.is_error |= !ended_well;
        // Copilot reports nothing about compacting except success.
        trouble.compacted = (self.errand == Errand::Compact).then_some(ended_well && !trouble.is_error);
        let session = event.text("/sessionId").to_owned();
        let mut entries: Vec<TranscriptEntry> = self.notes.session(&session, None).into_iter().collect();
        entries.push(self.notes.over());
        entries
    }

    fn total(&self) -> Option<Meter> {
        let report: Json = serde_json::from_slice(&std::fs::read(&self.usage_file).ok()?).ok()?;
        let models = report.at("/modelMetrics").as_object()?;
        Some(models.values().map(of_model).fold(Meter::default(), sum))
    }
}

/// Its input count includes cached tokens.
fn of_model(model: &Json) -> Meter {
    Meter {
        input_tokens: model.count("/usage/inputTokens"),
        cached_tokens: model.count("/usage/cacheReadTokens"),
        output_tokens: model.count("/usage/outputTokens"),
        usd: None,
    }
}

impl Reader for Stream {
    fn line(&mut self, line: &str) -> Vec<TranscriptEntry> {
        let Some(event) = event::read(line) else {
            return self.notes.stray(line);
        };
        let model = event.word("/data/model").filter(|_| event.text("/type") == "session.tools_updated");
        let session = self.session.clone();
        let mut entries: Vec<TranscriptEntry> = self.notes.session(&session, model).into_iter().collect();
        entries.extend(self.event(&event));
        entries
    }

    fn finish(mut self: Box<Self>, exit: &Exit) -> Ending {
        if let Some(total) = self.total() {
            self.notes.used_in_all(total, self.before);
        }
        self.notes.into_ending(exit)
    }
}
