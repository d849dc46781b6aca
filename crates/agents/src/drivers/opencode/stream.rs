//! Reads the stream of opencode: parts of messages, one JSON object per line. There is no last event: the turn ends
//! with the process.
//!
//! Each step reports its usage; a subagent, which has its own session, does not. The answer is the text of the last
//! step.

use longhaul_core::Json;

use super::super::event::{self, Look};
use super::super::notes::{Notes, sum};
use super::super::summary;
use crate::contract::{Ending, Exit, Meter, Reader, TranscriptEntry};

/// The errors of a tool that was denied, by a person or by a rule.
const REFUSED: [&str; 3] = ["rejected permission", "specified a rule which prevents", "tried to call unavailable tool"];

/// The reader of a turn.
#[derive(Default)]
pub(super) struct Stream {
    notes: Notes,
    so_far: Meter,
}

impl Stream {
    fn event(&mut self, event: &Json) -> Vec<TranscriptEntry> {
        let part = event.at("/part");
        match event.text("/type") {
            "step_start" => {
                self.notes.ending.text.clear();
                vec![TranscriptEntry::Alive]
            }
            "text" => self.text(part),
            "reasoning" => part.word("/text").map(|text| TranscriptEntry::Thinking { text }).into_iter().collect(),
            "tool_use" => self.tool(part),
            "step_finish" => self.step(part),
            "error" => self.failed(event.at("/error")),
            _ => vec![TranscriptEntry::Alive],
        }
    }

    fn text(&mut self, part: &Json) -> Vec<TranscriptEntry> {
        let text = part.text("/text").to_owned();
        self.notes.ending.text.push_str(&text);
        vec![TranscriptEntry::Text { text, delta: false }]
    }

    /// A tool appears in the stream when it has ended.
    fn tool(&mut self, part: &Json) -> Vec<TranscriptEntry> {
        let (id, name) = (part.text("/callID").to_owned(), part.text("/tool").to_owned());
        let (input, error) = (part.at("/state/input").clone(), part.text("/state/error"));
        let ok = part.text("/state/status") == "completed";
        self.notes.ending.at_least |= !part.text("/state/metadata/parentSessionId").is_empty();
        let text = if ok { part.text("/state/output") } else { error }.to_owned();
        // opencode turns a call of a hidden tool into a call of `invalid`.
        let hidden = part.word("/state/input/tool").filter(|_| name == "invalid");
        let is_denied = hidden.is_some() || REFUSED.iter().any(|words| error.contains(words));
        let denied = is_denied.then(|| self.notes.deny(hidden.as_deref().unwrap_or(&name)));
        let call = TranscriptEntry::ToolCall { id: id.clone(), name, summary: summary::of(&input), input };
        [Some(call), denied, Some(TranscriptEntry::ToolResult { id, ok, text })].into_iter().flatten().collect()
    }

    fn step(&mut self, part: &Json) -> Vec<TranscriptEntry> {
        self.so_far = sum(self.so_far, used(part));
        let usage = self.notes.used(self.so_far);
        let reason = part.text("/reason");
        if reason == "tool-calls" {
            return vec![usage];
        }
        self.notes.ending.trouble.stop = Some(reason).filter(|reason| *reason != "stop").map(str::to_owned);
        vec![usage, self.notes.over()]
    }

    fn failed(&mut self, error: &Json) -> Vec<TranscriptEntry> {
        let body = event::read(error.text("/data/responseBody")).unwrap_or_default();
        let own = error.word("/name");
        let general = own.as_deref().is_none_or(|name| name == "APIError");
        let service = body.word("/error/code").or_else(|| body.word("/error/type"));
        let trouble = &mut self.notes.ending.trouble;
        trouble.status = error.status("/data/statusCode");
        trouble.code = if general { service.or(own) } else { own };
        trouble.retry_after_ms = pause(error.at("/data/responseHeaders"));
        self.notes.fail(error.text("/data/message"));
        vec![TranscriptEntry::Notice { text: error.text("/data/message").to_owned() }]
    }
}

/// The pause that the service asked for, if it is a number of seconds.
fn pause(headers: &Json) -> Option<u64> {
    let seconds: f64 = headers.text("/retry-after").trim().parse().ok()?;
    // The cast of a float that is too large gives the largest number.
    (seconds.is_finite() && seconds >= 0.0).then_some((seconds * 1000.0) as u64)
}

/// The input count of opencode leaves out tokens that were read from or written to the cache. A model with an unknown
/// price costs nothing.
fn used(part: &Json) -> Meter {
    let cached = part.count("/tokens/cache/read");
    let input = part.count("/tokens/input").saturating_add(cached).saturating_add(part.count("/tokens/cache/write"));
    Meter {
        input_tokens: input,
        cached_tokens: cached,
        output_tokens: part.count("/tokens/output").saturating_add(part.count("/tokens/reasoning")),
        usd: part.at("/cost").as_f64().filter(|usd| *usd > 0.0),
    }
}

impl Reader for Stream {
    fn line(&mut self, line: &str) -> Vec<TranscriptEntry> {
        let Some(event) = event::read(line) else {
            return self.notes.stray(line);
        };
        let mut entries: Vec<TranscriptEntry> =
            self.notes.session(event.text("/sessionID"), None).into_iter().collect();
        entries.extend(self.event(&event));
        entries
    }

    fn finish(self: Box<Self>, exit: &Exit) -> Ending {
        self.notes.into_ending(exit)
    }
}
