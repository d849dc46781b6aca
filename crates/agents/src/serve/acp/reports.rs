//! Turns the reports of an agent into entries of the transcript.
//!
//! **Invariant:** reports from before the turn are repeated history, and are not passed on.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_client_protocol::v1::schema::{
    ContentBlock, SessionUpdate, ToolCall, ToolCallContent, ToolCallStatus, ToolCallUpdate, ToolKind,
};
use longhaul_core::Json;

use crate::contract::{AgentTrouble, Ending, Meter, TranscriptEntry, Turn, TurnSession};
use crate::serve::lines::Lines;

const RESULT_BYTES_MAX: usize = 30_000;

/// Collects reports.
pub(super) struct Reports {
    lines: Arc<Lines>,
    /// The usage of the session before this turn, if it is not new.
    before: Option<Meter>,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    has_begun: bool,
    ending: Ending,
    thought: String,
    calls: HashMap<String, Call>,
    /// Whether the next text starts a new answer.
    is_fresh: bool,
}

/// The known parts of a tool call.
#[derive(Debug, Clone, Default)]
pub(super) struct Call {
    pub(super) name: String,
    pub(super) kind: ToolKind,
    pub(super) places: Vec<PathBuf>,
    title: String,
    input: Json,
    said: String,
    is_told: bool,
}

impl Reports {
    pub(super) fn new(turn: &Turn, lines: Arc<Lines>) -> Self {
        let before = match &turn.session {
            TurnSession::New(_) => None,
            TurnSession::Resume { before, .. } => Some(*before),
        };
        Self { lines, before, seen: Mutex::default() }
    }

    /// Notes the id of the session.
    pub(super) fn opened(&self, id: &str) {
        self.lock().ending.session = Some(id.to_owned());
    }

    /// Notes that reports are about this turn from now on.
    pub(super) fn begin(&self) {
        self.lock().has_begun = true;
    }

    pub(super) fn update(&self, update: SessionUpdate) {
        let mut seen = self.lock();
        if !seen.has_begun {
            return;
        }
        if !matches!(update, SessionUpdate::AgentThoughtChunk(_)) {
            self.end_thought(&mut seen);
        }
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => self.text(&mut seen, &chunk.content),
            SessionUpdate::AgentThoughtChunk(chunk) => {
                seen.thought.push_str(text_of(&chunk.content));
                self.lines.alive();
            }
            SessionUpdate::ToolCall(call) => self.call(&mut seen, &changes(call)),
            SessionUpdate::ToolCallUpdate(update) => self.call(&mut seen, &update),
            SessionUpdate::UsageUpdate(usage) => {
                if let Some(cost) = usage.cost.filter(|cost| cost.currency.eq_ignore_ascii_case("usd")) {
                    seen.ending.session_total = Some(Meter { usd: Some(cost.amount), ..Meter::default() });
                }
                self.lines.alive();
            }
            SessionUpdate::Notice(notice) => self.lines.notice(notice.title),
            _ => self.lines.alive(),
        }
    }

    /// The known parts of a call for which the agent asks permission.
    pub(super) fn asked(&self, update: &ToolCallUpdate) -> Call {
        let mut seen = self.lock();
        let call = seen.calls.entry(update.tool_call_id.to_string()).or_default();
        call.change(update);
        self.tell(call, update);
        call.clone()
    }

    pub(super) fn denied(&self, name: &str) {
        self.lines.entry(TranscriptEntry::Denied { name: name.to_owned() });
        self.lock().ending.denied.push(name.to_owned());
    }

    /// The usage in the reply. Not every agent counts cached tokens as input.
    pub(super) fn used(&self, usage: &Json) {
        let count = |name: &str| usage.get(name).and_then(Json::as_u64).unwrap_or_default();
        if !usage.is_object() {
            return;
        }
        let (input, output, cached) = (count("inputTokens"), count("outputTokens"), count("cachedReadTokens"));
        let apart = cached + count("cachedWriteTokens");
        let is_apart = count("totalTokens") >= input + output + apart;
        let input_tokens = if is_apart { input + apart } else { input };
        let meter = Meter { input_tokens, cached_tokens: cached, output_tokens: output, usd: None };
        self.lines.entry(TranscriptEntry::Usage { meter });
        self.lock().ending.used = Some(meter);
    }

    pub(super) fn ending(&self, trouble: AgentTrouble) -> Ending {
        let mut seen = self.lock();
        self.end_thought(&mut seen);
        self.lines.end_text();
        let mut ending = std::mem::take(&mut seen.ending);
        let spent = ending.session_total.and_then(|total| total.usd).map(|total| self.of_this_turn(total));
        if let Some(usd) = spent {
            ending.used.get_or_insert_default().usd = Some(usd);
        }
        Ending { trouble, ..ending }
    }

    /// The agent counts money from the start of a session.
    fn of_this_turn(&self, total: f64) -> f64 {
        let before = self.before.and_then(|before| before.usd).unwrap_or_default();
        (total - before).max(0.0)
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        // A panic while it was locked has lost at most one report.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end_thought(&self, seen: &mut Seen) {
        let text = std::mem::take(&mut seen.thought);
        if !text.is_empty() {
            self.lines.entry(TranscriptEntry::Thinking { text });
        }
    }

    fn text(&self, seen: &mut Seen, content: &ContentBlock) {
        if std::mem::take(&mut seen.is_fresh) {
            seen.ending.text.clear();
        }
        let text = text_of(content);
        seen.ending.text.push_str(text);
        self.lines.text(text);
    }

    fn call(&self, seen: &mut Seen, update: &ToolCallUpdate) {
        seen.is_fresh = true;
        let id = update.tool_call_id.to_string();
        let call = seen.calls.entry(id.clone()).or_default();
        call.change(update);
        let status = update.fields.status.unwrap_or_default();
        let is_over = matches!(status, ToolCallStatus::Completed | ToolCallStatus::Failed);
        // Many agents announce a call before they know its input.
        if call.has_input() || status != ToolCallStatus::Pending {
            self.tell(call, update);
        }
        if is_over {
            let ok = status == ToolCallStatus::Completed;
            let text = std::mem::take(&mut call.said);
            self.lines.entry(TranscriptEntry::ToolResult { id, ok, text });
        } else {
            self.lines.alive();
        }
    }

    fn tell(&self, call: &mut Call, update: &ToolCallUpdate) {
        if !std::mem::replace(&mut call.is_told, true) {
            let id = update.tool_call_id.to_string();
            let (name, summary, input) = (call.name.clone(), call.title.clone(), call.input.clone());
            self.lines.entry(TranscriptEntry::ToolCall { id, name, summary, input });
        }
    }
}

impl Call {
    fn change(&mut self, update: &ToolCallUpdate) {
        let fields = &update.fields;
        self.kind = fields.kind.unwrap_or(self.kind);
        if let Some(title) = &fields.title {
            self.title.clone_from(title);
        }
        if let Some(name) = fields.name.clone() {
            self.name = name;
        } else if self.name.is_empty() || self.name == kind_name(ToolKind::Other) {
            self.name = kind_name(self.kind);
        }
        if let Some(input) = &fields.raw_input {
            self.input.clone_from(input);
        }
        if let Some(places) = &fields.locations {
            self.places = places.iter().map(|place| place.path.clone()).collect();
        }
        if let Some(content) = &fields.content {
            self.said = said(content);
        } else if let Some(Json::String(output)) = &fields.raw_output {
            self.said = cut(output.clone());
        }
    }

    pub(super) fn title(&self) -> &str {
        &self.title
    }

    fn has_input(&self) -> bool {
        self.input.as_object().is_some_and(|members| !members.is_empty())
    }
}

/// A new call as its first change.
fn changes(call: ToolCall) -> ToolCallUpdate {
    call.into()
}

fn kind_name(kind: ToolKind) -> String {
    let name = serde_json::to_value(kind).ok();
    name.and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

fn said(content: &[ToolCallContent]) -> String {
    let pieces = content.iter().map(|piece| match piece {
        ToolCallContent::Content(content) => text_of(&content.content).to_owned(),
        ToolCallContent::Diff(diff) => format!("`{}` is changed", diff.path.display()),
        _ => String::new(),
    });
    cut(pieces.filter(|piece| !piece.is_empty()).collect::<Vec<_>>().join("\n"))
}

fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(RESULT_BYTES_MAX));
    text
}

fn text_of(content: &ContentBlock) -> &str {
    match content {
        ContentBlock::Text(text) => &text.text,
        _ => "",
    }
}
