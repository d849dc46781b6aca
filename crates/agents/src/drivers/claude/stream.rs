//! Reads the stream of Claude Code: one JSON object per line, and a `result` at the end of each answer.
//!
//! `subtype: success` does not mean success: a request that failed for good has `is_error`. A turn with background
//! tasks has several results: the text after the last one counts, and each reports a part of the usage.

use indexmap::IndexSet;
use longhaul_core::Json;

use super::super::event::{self, Look};
use super::super::notes::Notes;
use super::super::summary;
use super::usage::Ledger;
use crate::contract::{AgentTrouble, Ending, Errand, Exit, Meter, Reader, TranscriptEntry, Turn, TurnSession};

/// The tool that asks a person.
const QUESTION_TOOL: &str = "AskUserQuestion";
/// The tool of its own schema check.
const SCHEMA_TOOL: &str = "StructuredOutput";
/// The model name of messages that no model wrote.
const SYNTHETIC: &str = "<synthetic>";
/// The reason of a turn that ended without money.
const OUT_OF_MONEY: &str = "budget_exhausted";
/// Stop reasons that are not a problem.
const ORDINARY: [&str; 3] = ["end_turn", "tool_use", "stop_sequence"];

/// After this many refusals a key counts as invalid; one refusal may come from a login that is being renewed.
const REFUSALS: u64 = 2;

/// The reader of a turn.
pub(super) struct Stream {
    notes: Notes,
    errand: Errand,
    ledger: Ledger,
    /// The usage that was last reported.
    told: Meter,
    /// Whether no background task is running.
    is_alone: bool,
    /// The last input of its own schema check.
    shaped: Option<Json>,
    questions: IndexSet<String>,
    limit_resets_ms: Option<i64>,
    is_hopeless: bool,
}

impl Stream {
    pub(super) fn new(turn: &Turn) -> Self {
        let before = match &turn.session {
            TurnSession::New(_) => Meter::default(),
            TurnSession::Resume { before, .. } => *before,
        };
        Self {
            notes: Notes::default(),
            errand: turn.errand,
            ledger: Ledger::new(before),
            told: Meter::default(),
            is_alone: true,
            shaped: None,
            questions: IndexSet::new(),
            limit_resets_ms: None,
            is_hopeless: false,
        }
    }

    fn event(&mut self, event: &Json) -> Vec<TranscriptEntry> {
        match event.text("/type") {
            "system" => self.system(event),
            "assistant" => self.assistant(event),
            "user" => self.user(event),
            "stream_event" => self.part(event),
            "rate_limit_event" => self.limit(event),
            "result" => self.result(event),
            _ => vec![TranscriptEntry::Alive],
        }
    }

    fn system(&mut self, event: &Json) -> Vec<TranscriptEntry> {
        let entry = match event.text("/subtype") {
            "api_retry" => self.retry(event),
            "permission_denied" => self.notes.deny(event.text("/tool_name")),
            "status" => return self.status(event),
            "background_tasks_changed" => {
                self.is_alone = event.items("/tasks").is_empty();
                background(event)
            }
            // A background task has ended, and the agent gets its result.
            "init" if self.notes.is_answered() => self.notes.goes_on(),
            "compact_boundary" => self.shortened(event),
            "informational" | "model_fallback" | "model_refusal_no_fallback" if !event.text("/content").is_empty() => {
                TranscriptEntry::Notice { text: event.text("/content").to_owned() }
            }
            _ => TranscriptEntry::Alive,
        };
        vec![entry]
    }

    fn retry(&mut self, event: &Json) -> TranscriptEntry {
        let (status, code) = (event.status("/error_status"), event.word("/error"));
        let (attempt, max) = (event.count("/attempt"), event.count("/max_retries"));
        let why = code.as_deref().unwrap_or("error");
        let number = status.map(|status| format!(" {status}")).unwrap_or_default();
        self.is_hopeless = attempt >= REFUSALS && matches!(status, Some(401));
        if self.is_hopeless {
            let message = format!("the key or login is refused ({why}{number})");
            self.notes.trying_again =
                Some(AgentTrouble { status, code, message: message.clone(), ..AgentTrouble::default() });
            return TranscriptEntry::Notice { text: message };
        }
        let text = format!("{why}{number}, trying again ({attempt} of {max})");
        self.notes.trying_again = Some(AgentTrouble { status, code, message: text.clone(), ..AgentTrouble::default() });
        TranscriptEntry::Notice { text }
    }

    fn status(&mut self, event: &Json) -> Vec<TranscriptEntry> {
        let text = match (event.text("/status"), event.text("/compact_result")) {
            ("requesting", _) if self.notes.is_answered() => return vec![self.notes.goes_on()],
            ("compacting", _) => "shortening its context".to_owned(),
            (_, "success") => {
                self.compacted(true);
                return vec![TranscriptEntry::Alive];
            }
            (_, "") => return vec![TranscriptEntry::Alive],
            _ => {
                self.compacted(false);
                format!("its context could not be shortened: {}", event.text("/compact_error"))
            }
        };
        vec![TranscriptEntry::Notice { text }]
    }

    /// Claude also compacts by itself; the result matters only if compacting is the errand.
    fn compacted(&mut self, shorter: bool) {
        if self.errand == Errand::Compact {
            self.notes.ending.trouble.compacted = Some(shorter);
        }
    }

    fn shortened(&mut self, event: &Json) -> TranscriptEntry {
        self.compacted(true);
        let (from, to) = (event.count("/compact_metadata/pre_tokens"), event.count("/compact_metadata/post_tokens"));
        TranscriptEntry::Notice { text: format!("its context was shortened from {from} to {to} tokens") }
    }

    fn assistant(&mut self, event: &Json) -> Vec<TranscriptEntry> {
        if event.text("/message/model") == SYNTHETIC {
            return self.synthetic(event);
        }
        self.notes.trying_again = None;
        // A message of a subagent is not the agent's own message.
        let own = event.at("/parent_tool_use_id").is_null();
        let mut entries: Vec<TranscriptEntry> =
            event.items("/message/content").iter().filter_map(|block| self.block(block, own)).collect();
        self.ledger.message(event.text("/message/id"), event.at("/message/usage"));
        entries.extend(self.count());
        entries
    }

    /// Only the agent's own messages come in parts.
    fn part(&mut self, event: &Json) -> Vec<TranscriptEntry> {
        if event.at("/parent_tool_use_id").is_null() {
            self.ledger.part(event.at("/event"));
        }
        vec![self.count().unwrap_or(TranscriptEntry::Alive)]
    }

    /// Text that the program writes in the model's name: why a request failed for good, or the result of a command.
    fn synthetic(&mut self, event: &Json) -> Vec<TranscriptEntry> {
        let text = event::said(event.at("/message/content"));
        let (status, code) = (event.status("/api_error_status"), event.word("/error"));
        self.notes.trying_again = Some(AgentTrouble { status, code, message: text.clone(), ..AgentTrouble::default() });
        vec![TranscriptEntry::Notice { text }]
    }

    fn block(&mut self, block: &Json, own: bool) -> Option<TranscriptEntry> {
        match block.text("/type") {
            "text" if own => {
                let text = block.text("/text").to_owned();
                self.notes.ending.text.clone_from(&text);
                Some(TranscriptEntry::Text { text, delta: false })
            }
            "thinking" => block.word("/thinking").map(|text| TranscriptEntry::Thinking { text }),
            "tool_use" => Some(self.call(block)),
            _ => None,
        }
    }

    fn call(&mut self, block: &Json) -> TranscriptEntry {
        let (id, name, input) =
            (block.text("/id").to_owned(), block.text("/name").to_owned(), block.at("/input").clone());
        if name == QUESTION_TOOL {
            self.ask(&id, &input);
        }
        let summary = if name == SCHEMA_TOOL { String::new() } else { summary::of(&input) };
        self.shaped = (name == SCHEMA_TOOL).then(|| input.clone());
        TranscriptEntry::ToolCall { id, name, summary, input }
    }

    fn ask(&mut self, id: &str, input: &Json) {
        let questions: Vec<&str> = input.items("/questions").iter().map(|asked| asked.text("/question")).collect();
        let question = if questions.is_empty() { summary::of(input) } else { questions.join("\n") };
        self.notes.ending.trouble.question = Some(question);
        self.questions.insert(id.to_owned());
    }

    /// The usage, if it grew since the last report.
    fn count(&mut self) -> Option<TranscriptEntry> {
        let used = self.ledger.used();
        (std::mem::replace(&mut self.told, used) != used).then_some(TranscriptEntry::Usage { meter: used })
    }

    fn user(&mut self, event: &Json) -> Vec<TranscriptEntry> {
        let results = event.items("/message/content").iter().filter(|block| block.text("/type") == "tool_result");
        let entries: Vec<TranscriptEntry> = results.map(|block| self.tool_result(block)).collect();
        if entries.is_empty() { vec![TranscriptEntry::Alive] } else { entries }
    }

    fn tool_result(&mut self, block: &Json) -> TranscriptEntry {
        let (id, ok) = (block.text("/tool_use_id").to_owned(), !block.is("/is_error"));
        // An answered question is not open any more.
        if ok && self.questions.swap_remove(&id) {
            self.notes.ending.trouble.question = None;
        }
        if !ok {
            self.shaped = None;
        }
        TranscriptEntry::ToolResult { id, ok, text: event::said(block.at("/content")) }
    }

    fn limit(&mut self, event: &Json) -> Vec<TranscriptEntry> {
        let (status, kind) = (event.text("/rate_limit_info/status"), event.text("/rate_limit_info/rateLimitType"));
        match status {
            "rejected" => {
                self.limit_resets_ms = event.at("/rate_limit_info/resetsAt").as_i64().map(|s| s.saturating_mul(1000));
                // The agent may end without another message.
                let message = format!("usage limit reached: {kind}");
                let code = Some("rate_limit".to_owned());
                self.notes.trying_again = Some(AgentTrouble { code, message, ..AgentTrouble::default() });
            }
            "allowed" | "" => return vec![TranscriptEntry::Alive],
            _ => {}
        }
        vec![TranscriptEntry::Notice { text: format!("limit {kind}: {status}") }]
    }

    fn result(&mut self, event: &Json) -> Vec<TranscriptEntry> {
        let mut entries = Vec::new();
        for denial in event.items("/permission_denials") {
            let name = denial.text("/tool_name");
            if !self.notes.ending.denied.iter().any(|known| known == name) {
                entries.push(self.notes.deny(name));
            }
        }
        self.answer(event);
        self.notes.ending.session_total = Some(self.ledger.result(event));
        self.told = self.ledger.used();
        entries.extend([self.notes.used(self.told), self.notes.over()]);
        entries
    }

    fn answer(&mut self, event: &Json) {
        let last = self.notes.trying_again.take().unwrap_or_default();
        let ending = &mut self.notes.ending;
        if !event.at("/structured_output").is_null() {
            ending.structured = Some(event.at("/structured_output").clone());
        }
        ending.trouble.stop = event.word("/stop_reason").filter(|stop| !ORDINARY.contains(&stop.as_str()));
        if event.is("/is_error") {
            return if self.is_finished(event) { self.notes.ending.finished = true } else { self.error(event, last) };
        }
        match self.errand {
            Errand::Work => {
                let text = event.word("/result").or_else(|| self.notes.earlier_answer());
                self.notes.ending.text = text.unwrap_or_default();
            }
            Errand::Compact if ending.trouble.compacted == Some(true) => {}
            // The result does not say that compacting failed.
            Errand::Compact => ending.trouble = AgentTrouble { is_error: true, compacted: Some(false), ..last },
        }
    }

    /// Whether the budget ran out with the last word of an answer: the answer is complete and paid for.
    fn is_finished(&mut self, event: &Json) -> bool {
        if event.text("/terminal_reason") != OUT_OF_MONEY || !self.is_alone {
            return false;
        }
        if let Some(shaped) = self.shaped.take() {
            self.notes.ending.structured = Some(shaped);
            return true;
        }
        event.text("/stop_reason") == "end_turn" && !self.notes.ending.text.is_empty()
    }

    fn error(&mut self, event: &Json, last: AgentTrouble) {
        let trouble = &mut self.notes.ending.trouble;
        trouble.status = event.status("/api_error_status").or(last.status);
        trouble.code = code(event, last.code);
        let errors: Vec<&str> = event.items("/errors").iter().filter_map(Json::as_str).collect();
        self.notes.fail(event.text("/result"));
        self.notes.fail(&errors.join("\n"));
    }
}

/// The background tasks, by their names for people.
fn background(event: &Json) -> TranscriptEntry {
    let name = |task: &Json| task.word("/description").or_else(|| task.word("/task_id")).unwrap_or_default();
    TranscriptEntry::Background { tasks: event.items("/tasks").iter().map(name).collect() }
}

/// The most specific code: why the loop ended, what failed, the mark of the last message, or the service's own code.
fn code(event: &Json, marked: Option<String>) -> Option<String> {
    let limit = event.word("/subtype").filter(|word| word.starts_with("error_max"));
    let reason = event.word("/terminal_reason").filter(|word| word != "api_error" && word != "completed");
    let exact = event.word("/api_error");
    let telling = marked.clone().filter(|word| word != "unknown" && word != "server_error");
    let service = event.word("/api_error_type").or(marked).or_else(|| event.word("/subtype"));
    limit.or(reason).or(exact).or(telling).or(service)
}

impl Reader for Stream {
    fn line(&mut self, line: &str) -> Vec<TranscriptEntry> {
        let Some(event) = event::read(line) else {
            return self.notes.stray(line);
        };
        let model = event.word("/model").filter(|_| event.text("/subtype") == "init");
        let mut entries: Vec<TranscriptEntry> =
            self.notes.session(event.text("/session_id"), model).into_iter().collect();
        entries.extend(self.event(&event));
        entries
    }

    fn is_hopeless(&self) -> bool {
        self.is_hopeless
    }

    fn finish(mut self: Box<Self>, exit: &Exit) -> Ending {
        if self.ledger.is_open() {
            self.notes.used(self.ledger.used());
            self.notes.ending.at_least = true;
        }
        let resets_at_ms = self.limit_resets_ms;
        let mut ending = self.notes.into_ending(exit);
        ending.trouble.resets_at_ms = resets_at_ms;
        ending
    }
}
