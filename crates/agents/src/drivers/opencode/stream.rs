//! What opencode says: parts of messages, one JSON object a line. Nothing comes last: the end of the process is the end.
//!
//! Each step says what it used; a helper, which has a session of its own, does not. The answer is what was said in the last step.

use longhaul_core::Json;

use super::super::event::{self, Look};
use super::super::notes::{Notes, sum};
use super::super::summary;
use crate::contract::{Ending, Exit, Meter, Reader, TranscriptEntry};

/// What a tool ends with that was not allowed, by nobody or by a rule.
const REFUSED: [&str; 2] = ["rejected permission", "specified a rule which prevents"];

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

    /// A tool is told about when it has ended.
    fn tool(&mut self, part: &Json) -> Vec<TranscriptEntry> {
        let (id, name) = (part.text("/callID").to_owned(), part.text("/tool").to_owned());
        let (input, error) = (part.at("/state/input").clone(), part.text("/state/error"));
        let ok = part.text("/state/status") == "completed";
        self.notes.ending.at_least |= !part.text("/state/metadata/parentSessionId").is_empty();
        let text = if ok { part.text("/state/output") } else { error }.to_owned();
        let denied = REFUSED.iter().any(|words| error.contains(words)).then(|| self.notes.deny(&name));
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

/// The pause that the service asked for: a number of seconds, or nothing we go by.
fn pause(headers: &Json) -> Option<u64> {
    let seconds: f64 = headers.text("/retry-after").trim().parse().ok()?;
    // A float that is negative, huge or none becomes 0 or the largest number.
    (seconds.is_finite() && seconds >= 0.0).then_some((seconds * 1000.0) as u64)
}

/// Its input leaves out what came from the cache or went there, and a model whose price it does not know costs nothing.
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
