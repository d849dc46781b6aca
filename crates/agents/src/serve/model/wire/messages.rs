//! Anthropic's Messages.

use longhaul_core::Json;
use serde_json::json;

use super::super::message::{Answered, Call, Message, Part, Reply, Stop};
use super::{ANSWER, Piece, Reading, Request, Wire, count_at, cut, set, text_at, text_part};
use crate::contract::AgentTrouble;

/// This API requires a limit; this is enough for a long file.
const OUTPUT_TOKENS_MAX: u64 = 16_000;

pub(super) fn body(request: &Request<'_>) -> Json {
    let mut body = json!({
        "model": request.model,
        "max_tokens": request.limit.map_or(OUTPUT_TOKENS_MAX, |(_, tokens)| tokens),
        "stream": true,
        "system": [{"type": "text", "text": request.system, "cache_control": {"type": "ephemeral"}}],
        "messages": messages(request),
    });
    let tools = tools(request);
    set(&mut body, "tool_choice", (!tools.is_empty()).then(|| choice(request)));
    set(&mut body, "tools", (!tools.is_empty()).then_some(tools));
    set(&mut body, "output_config", request.effort.map(|effort| json!({"effort": effort})));
    body
}

fn tools(request: &Request<'_>) -> Vec<Json> {
    let plain =
        |name: &str, about: &str, schema: Json| json!({"name": name, "description": about, "input_schema": schema});
    let mut tools: Vec<Json> = request.tools.iter().map(|tool| plain(tool.name, tool.about, tool.schema())).collect();
    let about = "Give the final answer, once everything is done.";
    tools.extend(request.schema.map(|schema| plain(ANSWER, about, schema.clone())));
    tools
}

fn choice(request: &Request<'_>) -> Json {
    let must_answer = request.schema.is_some() && (request.is_last || request.tools.is_empty());
    if must_answer { json!({"type": "tool", "name": ANSWER}) } else { json!({"type": "auto"}) }
}

/// Roles alternate: tool results and the next user text are one user message.
fn messages(request: &Request<'_>) -> Vec<Json> {
    let mut turns: Vec<(&str, Vec<Json>)> = Vec::new();
    for message in request.messages {
        let (role, blocks) = blocks(request, message);
        match turns.last_mut() {
            Some((before, more)) if *before == role => more.extend(blocks),
            _ if blocks.is_empty() => {}
            _ => turns.push((role, blocks)),
        }
    }
    // The conversation so far is read from the cache next time.
    if let Some(block) = turns.last_mut().and_then(|(_, blocks)| blocks.last_mut()) {
        set(block, "cache_control", Some(json!({"type": "ephemeral"})));
    }
    turns.into_iter().map(|(role, content)| json!({"role": role, "content": content})).collect()
}

fn blocks(request: &Request<'_>, message: &Message) -> (&'static str, Vec<Json>) {
    match message {
        Message::User { text } => ("user", vec![json!({"type": "text", "text": text})]),
        Message::Results { results } => ("user", results.iter().map(result).collect()),
        Message::Assistant { parts } => ("assistant", parts.iter().filter_map(|it| block(request, it)).collect()),
    }
}

fn result(answered: &Answered) -> Json {
    let content = if answered.text.is_empty() { "(nothing)" } else { &answered.text };
    json!({"type": "tool_result", "tool_use_id": answered.id, "content": content, "is_error": !answered.ok})
}

fn block(request: &Request<'_>, part: &Part) -> Option<Json> {
    match part {
        Part::Text { text } => Some(json!({"type": "text", "text": text})),
        Part::Call(call) => Some(json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.input})),
        Part::Kept { by, block } => request.wants(Wire::Messages, by).then(|| block.clone()),
    }
}

pub(super) fn events_of(answer: &Json) -> Vec<Json> {
    let blocks = answer.get("content").and_then(Json::as_array);
    let Some(blocks) = blocks else { return Vec::new() };
    let mut events = vec![json!({"type": "message_start", "message": answer})];
    for block in blocks {
        events.push(json!({"type": "content_block_start", "content_block": block}));
        events.push(json!({"type": "content_block_stop"}));
    }
    let usage = answer.get("usage").cloned().unwrap_or_default();
    events.push(json!({"type": "message_delta", "usage": usage, "delta": {"stop_reason": answer["stop_reason"]}}));
    events.push(json!({"type": "message_stop"}));
    events
}

/// A reply that is being received.
#[derive(Debug)]
pub(super) struct Answer {
    by: String,
    reply: Reply,
    /// The open block, as it started, and its text so far.
    open: Option<(Json, String)>,
    is_complete: bool,
}

impl Answer {
    pub(super) fn new(by: String) -> Self {
        Self { by, reply: Reply::default(), open: None, is_complete: false }
    }

    fn delta(&mut self, delta: &Json, say: &mut dyn FnMut(Piece<'_>)) {
        let Some((block, text)) = &mut self.open else { return };
        match delta.get("type").and_then(Json::as_str) {
            Some("text_delta") => {
                let piece = text_at(delta, "/text").unwrap_or_default();
                text.push_str(piece);
                say(Piece::Text(piece));
            }
            Some("input_json_delta") => text.push_str(text_at(delta, "/partial_json").unwrap_or_default()),
            Some("thinking_delta") => {
                let piece = text_at(delta, "/thinking").unwrap_or_default();
                text.push_str(piece);
                say(Piece::Thought(piece));
            }
            Some("signature_delta") => set(block, "signature", text_at(delta, "/signature")),
            _ => {}
        }
    }

    fn close(&mut self, say: &mut dyn FnMut(Piece<'_>)) {
        let Some((mut block, text)) = self.open.take() else { return };
        let owned = |name: &str| text_at(&block, name).unwrap_or_default().to_owned();
        match block.get("type").and_then(Json::as_str) {
            Some("text") => {
                say(Piece::TextEnd);
                self.reply.parts.extend(text_part(owned("/text") + &text));
            }
            Some("tool_use") => {
                // Some servers send the whole input with the start of the block.
                let input = if text.is_empty() { block["input"].to_string() } else { text };
                self.reply.parts.push(Part::Call(Call::new(owned("/id"), owned("/name"), &input)));
            }
            Some("thinking") => {
                let text = owned("/thinking") + &text;
                set(&mut block, "thinking", Some(text));
                self.keep(block);
            }
            Some(_) => self.keep(block),
            None => {}
        }
    }

    fn keep(&mut self, block: Json) {
        self.reply.parts.push(Part::Kept { by: self.by.clone(), block });
    }

    /// The numbers at the end count from the start, and not every server repeats all of them.
    fn count(&mut self, usage: &Json) {
        let cached = count_at(usage, "/cache_read_input_tokens");
        let input = count_at(usage, "/input_tokens") + count_at(usage, "/cache_creation_input_tokens") + cached;
        let used = &mut self.reply.used;
        used.input_tokens = used.input_tokens.max(input);
        used.cached_tokens = used.cached_tokens.max(cached);
        used.output_tokens = used.output_tokens.max(count_at(usage, "/output_tokens"));
    }
}

impl Reading for Answer {
    fn event(&mut self, event: &Json, say: &mut dyn FnMut(Piece<'_>)) -> Result<(), AgentTrouble> {
        match event.get("type").and_then(Json::as_str) {
            Some("message_start") => {
                self.reply.model = text_at(event, "/message/model").map(str::to_owned);
                self.count(&event["message"]["usage"]);
            }
            Some("content_block_start") => self.open = Some((event["content_block"].clone(), String::new())),
            Some("content_block_delta") => self.delta(&event["delta"], say),
            Some("content_block_stop") => self.close(say),
            Some("message_delta") => {
                self.count(&event["usage"]);
                if let Some(reason) = text_at(event, "/delta/stop_reason") {
                    self.reply.stop = stop(reason);
                }
            }
            Some("message_stop") => self.is_complete = true,
            Some("error") => return Err(super::super::trouble::told(None, &event.to_string())),
            _ => say(Piece::Alive),
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Reply, AgentTrouble> {
        if self.is_complete { Ok(self.reply) } else { Err(cut()) }
    }
}

fn stop(reason: &str) -> Stop {
    match reason {
        "max_tokens" => Stop::Cut,
        "refusal" => Stop::Refused(String::new()),
        "model_context_window_exceeded" => Stop::Full,
        "pause_turn" => Stop::Paused,
        _ => Stop::Done,
    }
}
