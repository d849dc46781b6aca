//! OpenAI's Chat Completions, with the variants of other servers.

use longhaul_core::Json;
use serde_json::json;

use super::super::facts::LimitName;
use super::super::message::{self, Call, Message, Reply, Stop};
use super::{Piece, Reading, Request, cut, is_strict, merged, set, text_at, text_part, used};
use crate::contract::AgentTrouble;

pub(super) fn body(request: &Request<'_>) -> Json {
    let system = json!({"role": "system", "content": request.system});
    let messages: Vec<Json> =
        std::iter::once(system).chain(merged(request.messages).iter().flat_map(rendered)).collect();
    let mut body = json!({
        "model": request.model,
        "stream": true,
        "stream_options": {"include_usage": true},
        "messages": messages,
    });
    let function = |tool: &&'static crate::serve::tools::Tool| json!({"type": "function", "function": {"name": tool.name, "description": tool.about, "parameters": tool.schema()}});
    let tools: Vec<Json> = request.tools.iter().map(function).collect();
    set(&mut body, "tool_choice", (request.is_last && !tools.is_empty()).then_some("none"));
    set(&mut body, "tools", (!tools.is_empty()).then_some(tools));
    set(&mut body, "response_format", request.schema.map(format));
    set(&mut body, "reasoning_effort", request.effort);
    if let Some((name, tokens)) = request.limit {
        let name = if name == LimitName::MaxCompletionTokens { "max_completion_tokens" } else { "max_tokens" };
        set(&mut body, name, Some(tokens));
    }
    body
}

pub(super) fn events_of(answer: &Json) -> Vec<Json> {
    let mut event = answer.clone();
    let message = event.pointer_mut("/choices/0/message").map(Json::take).unwrap_or_default();
    match event.pointer_mut("/choices/0") {
        Some(choice) => choice["delta"] = message,
        None => return Vec::new(),
    }
    vec![event]
}

fn format(schema: &Json) -> Json {
    let schema = json!({"name": "answer", "schema": schema, "strict": is_strict(schema)});
    json!({"type": "json_schema", "json_schema": schema})
}

fn rendered(message: &Message) -> Vec<Json> {
    match message {
        Message::User { text } => vec![json!({"role": "user", "content": text})],
        Message::Results { results } => {
            results.iter().map(|it| json!({"role": "tool", "tool_call_id": it.id, "content": outcome(it)})).collect()
        }
        Message::Assistant { parts } => {
            let text = message::text(parts);
            let calls: Vec<Json> = message::calls(parts).into_iter().map(rendered_call).collect();
            if text.is_empty() && calls.is_empty() {
                return Vec::new();
            }
            let mut said = json!({"role": "assistant", "content": text});
            set(&mut said, "tool_calls", (!calls.is_empty()).then_some(calls));
            vec![said]
        }
    }
}

/// The result of a tool as text: this API has no field for success.
pub(super) fn outcome(answered: &message::Answered) -> String {
    if answered.ok { answered.text.clone() } else { format!("error: {}", answered.text) }
}

fn rendered_call(call: &Call) -> Json {
    let function = json!({"name": call.name, "arguments": call.input.to_string()});
    json!({"id": call.id, "type": "function", "function": function})
}

/// A reply that is being received.
#[derive(Debug, Default)]
pub(super) struct Answer {
    text: String,
    refusal: String,
    calls: Vec<Begun>,
    reply: Reply,
    reason: Option<String>,
}

/// A call that is being received.
#[derive(Debug, Default)]
struct Begun {
    index: u64,
    id: String,
    name: String,
    arguments: String,
}

impl Answer {
    fn delta(&mut self, delta: &Json, say: &mut dyn FnMut(Piece<'_>)) {
        if let Some(piece) = text_at(delta, "/content") {
            self.text.push_str(piece);
            say(Piece::Text(piece));
        }
        if let Some(piece) = text_at(delta, "/reasoning_content").or_else(|| text_at(delta, "/reasoning")) {
            say(Piece::Thought(piece));
        }
        self.refusal.push_str(text_at(delta, "/refusal").unwrap_or_default());
        let calls = delta.get("tool_calls").and_then(Json::as_array);
        calls.into_iter().flatten().enumerate().for_each(|(at, call)| self.call(at, call));
    }

    fn call(&mut self, at: usize, call: &Json) {
        let index = call.get("index").and_then(Json::as_u64).unwrap_or(at as u64);
        let id = text_at(call, "/id");
        // A server that sends no indexes sends whole calls, each with its own id.
        let known =
            self.calls.iter().position(|it| it.index == index && id.is_none_or(|id| it.id.is_empty() || it.id == id));
        let at = known.unwrap_or_else(|| {
            self.calls.push(Begun { index, ..Begun::default() });
            self.calls.len() - 1
        });
        let begun = &mut self.calls[at];
        begun.id = id.map_or_else(|| std::mem::take(&mut begun.id), str::to_owned);
        begun.name.push_str(text_at(call, "/function/name").unwrap_or_default());
        begun.arguments.push_str(text_at(call, "/function/arguments").unwrap_or_default());
        if let Some(whole @ Json::Object(_)) = call.pointer("/function/arguments") {
            begun.arguments = whole.to_string();
        }
    }
}

impl Reading for Answer {
    fn event(&mut self, event: &Json, say: &mut dyn FnMut(Piece<'_>)) -> Result<(), AgentTrouble> {
        if event.get("error").is_some_and(|error| !error.is_null()) {
            return Err(super::super::trouble::told(None, &event.to_string()));
        }
        if self.reply.model.is_none() {
            self.reply.model = text_at(event, "/model").map(str::to_owned);
        }
        if let Some(usage) = event.get("usage").filter(|usage| usage.is_object()) {
            let names = ["/prompt_tokens", "/prompt_tokens_details/cached_tokens", "/completion_tokens"];
            self.reply.used = used(usage, names);
        }
        if let Some(delta) = event.pointer("/choices/0/delta") {
            self.delta(delta, say);
        }
        if let Some(reason) = text_at(event, "/choices/0/finish_reason") {
            self.reason = Some(reason.to_owned());
            say(Piece::TextEnd);
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Reply, AgentTrouble> {
        self.reply.stop = match self.reason.as_deref() {
            None => return Err(cut()),
            Some("content_filter") => Stop::Refused(self.refusal),
            Some(_) if !self.refusal.is_empty() => Stop::Refused(self.refusal),
            Some("length") => Stop::Cut,
            Some(_) => Stop::Done,
        };
        self.reply.parts.extend(text_part(self.text));
        let call = |begun: Begun| message::Part::Call(Call::new(begun.id, begun.name, &begun.arguments));
        self.reply.parts.extend(self.calls.into_iter().map(call));
        Ok(self.reply)
    }
}
