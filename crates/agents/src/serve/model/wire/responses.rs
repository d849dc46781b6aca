//! OpenAI's Responses. The server stores nothing: every request sends the whole conversation.

use longhaul_core::Json;
use serde_json::json;

use super::super::message::{Call, Message, Part, Reply, Stop};
use super::{Piece, Reading, Request, Wire, chat, cut, is_strict, merged, set, text_at, text_part, used};
use crate::contract::AgentTrouble;

pub(super) fn body(request: &Request<'_>) -> Json {
    let input: Vec<Json> = merged(request.messages).iter().flat_map(|it| rendered(request, it)).collect();
    let mut body = json!({
        "model": request.model,
        "instructions": request.system,
        "input": input,
        "stream": true,
        "store": false,
    });
    let function = |tool: &&'static crate::serve::tools::Tool| json!({"type": "function", "name": tool.name, "description": tool.about, "parameters": tool.schema(), "strict": false});
    let tools: Vec<Json> = request.tools.iter().map(function).collect();
    set(&mut body, "tool_choice", (request.is_last && !tools.is_empty()).then_some("none"));
    set(&mut body, "tools", (!tools.is_empty()).then_some(tools));
    set(&mut body, "text", request.schema.map(format));
    set(&mut body, "reasoning", request.effort.map(|effort| json!({"effort": effort})));
    // Reasoning comes back encrypted, and is sent to the model again with the next request.
    set(&mut body, "include", request.effort.map(|_| json!(["reasoning.encrypted_content"])));
    set(&mut body, "max_output_tokens", request.limit.map(|(_, tokens)| tokens));
    body
}

pub(super) fn events_of(answer: &Json) -> Vec<Json> {
    let items = answer.get("output").and_then(Json::as_array);
    let Some(items) = items else { return Vec::new() };
    let done = |item: &Json| json!({"type": "response.output_item.done", "item": item});
    let over = json!({"type": "response.completed", "response": answer});
    items.iter().map(done).chain([over]).collect()
}

fn format(schema: &Json) -> Json {
    json!({"format": {"type": "json_schema", "name": "answer", "schema": schema, "strict": is_strict(schema)}})
}

fn rendered(request: &Request<'_>, message: &Message) -> Vec<Json> {
    match message {
        Message::User { text } => vec![said("user", "input_text", text)],
        Message::Results { results } => results
            .iter()
            .map(|it| json!({"type": "function_call_output", "call_id": it.id, "output": chat::outcome(it)}))
            .collect(),
        Message::Assistant { parts } => parts.iter().filter_map(|part| item(request, part)).collect(),
    }
}

fn said(role: &str, kind: &str, text: &str) -> Json {
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}

fn item(request: &Request<'_>, part: &Part) -> Option<Json> {
    match part {
        Part::Text { text } => Some(said("assistant", "output_text", text)),
        Part::Call(call) => {
            let arguments = call.input.to_string();
            Some(json!({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments}))
        }
        Part::Kept { by, block } => request.wants(Wire::Responses, by).then(|| block.clone()),
    }
}

/// A reply that is being received.
#[derive(Debug)]
pub(super) struct Answer {
    by: String,
    reply: Reply,
    is_complete: bool,
    /// Whether its reasoning came in pieces.
    has_thought: bool,
}

impl Answer {
    pub(super) fn new(by: String) -> Self {
        Self { by, reply: Reply::default(), is_complete: false, has_thought: false }
    }

    /// Reads a complete item.
    fn item(&mut self, item: &Json, say: &mut dyn FnMut(Piece<'_>)) {
        match item.get("type").and_then(Json::as_str) {
            Some("message") => {
                say(Piece::TextEnd);
                item["content"].as_array().into_iter().flatten().for_each(|content| self.content(content));
            }
            Some("function_call") => {
                let owned = |name: &str| text_at(item, name).unwrap_or_default().to_owned();
                let call = Call::new(owned("/call_id"), owned("/name"), &owned("/arguments"));
                self.reply.parts.push(Part::Call(call));
            }
            Some("reasoning") => self.thoughts(item, say),
            _ => {}
        }
    }

    fn content(&mut self, content: &Json) {
        if let Some(refusal) = text_at(content, "/refusal") {
            self.reply.stop = Stop::Refused(refusal.to_owned());
        }
        self.reply.parts.extend(text_at(content, "/text").and_then(|text| text_part(text.to_owned())));
    }

    /// Keeps encrypted reasoning only: the server knows nothing else of it.
    fn thoughts(&mut self, item: &Json, say: &mut dyn FnMut(Piece<'_>)) {
        let summary = item["summary"].as_array().into_iter().flatten().filter(|_| !self.has_thought);
        summary.filter_map(|it| text_at(it, "/text")).for_each(|text| say(Piece::Thinking(text)));
        self.has_thought = false;
        if text_at(item, "/encrypted_content").is_some() {
            self.reply.parts.push(Part::Kept { by: self.by.clone(), block: item.clone() });
        }
    }

    fn end(&mut self, response: &Json) {
        self.is_complete = true;
        self.reply.model = text_at(response, "/model").map(str::to_owned);
        self.reply.used =
            used(&response["usage"], ["/input_tokens", "/input_tokens_details/cached_tokens", "/output_tokens"]);
        match text_at(response, "/incomplete_details/reason") {
            Some("content_filter") => self.reply.stop = Stop::Refused(String::new()),
            Some(_) => self.reply.stop = Stop::Cut,
            None => {}
        }
    }
}

impl Reading for Answer {
    fn event(&mut self, event: &Json, say: &mut dyn FnMut(Piece<'_>)) -> Result<(), AgentTrouble> {
        match event.get("type").and_then(Json::as_str) {
            Some("response.output_text.delta") => say(Piece::Text(text_at(event, "/delta").unwrap_or_default())),
            Some("response.reasoning_summary_text.delta" | "response.reasoning_text.delta") => {
                self.has_thought = true;
                say(Piece::Thought(text_at(event, "/delta").unwrap_or_default()));
            }
            Some("response.output_item.done") => self.item(&event["item"], say),
            Some("response.completed" | "response.incomplete") => self.end(&event["response"]),
            Some("response.failed") => {
                return Err(super::super::trouble::told(None, &event["response"].to_string()));
            }
            Some("error") => return Err(super::super::trouble::told(None, &event.to_string())),
            _ => say(Piece::Alive),
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Reply, AgentTrouble> {
        if self.is_complete { Ok(self.reply) } else { Err(cut()) }
    }
}
