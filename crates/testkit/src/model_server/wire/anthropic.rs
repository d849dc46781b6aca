//! Anthropic Messages.

use serde_json::{Value, json};

use super::{Event, pieces, with};
use crate::model_server::answer::{Answer, Block, Stop};
use crate::model_server::request::Request;

/// Any signature works: only the vendor can check it.
const SIGNATURE: &str = "c2NyaXB0ZWQ=";

pub(super) fn body(request: &Request, answer: &Answer) -> Value {
    let content: Vec<Value> =
        answer.blocks.iter().enumerate().map(|(index, block)| one(answer, index, block)).collect();
    json!({
        "id": format!("msg_{}", answer.id),
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": content,
        "stop_reason": stop(answer.stop),
        "stop_sequence": null,
        "usage": {
            "input_tokens": answer.used.input,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": answer.used.cached,
            "output_tokens": answer.used.output,
        },
    })
}

pub(super) fn events(request: &Request, answer: &Answer) -> Vec<Event> {
    let body = body(request, answer);
    let mut events = vec![start(&body), Event::named("ping", json!({"type": "ping"}))];
    for (index, block) in body["content"].as_array().into_iter().flatten().enumerate() {
        events.extend(told(index, block));
    }
    let delta = json!({"stop_reason": body["stop_reason"], "stop_sequence": null});
    let end = json!({"type": "message_delta", "delta": delta, "usage": body["usage"]});
    events.push(Event::named("message_delta", end));
    events.push(Event::named("message_stop", json!({"type": "message_stop"})));
    events
}

pub(super) fn failing(request: &Request, answer: &Answer, error: &Value) -> Vec<Event> {
    vec![start(&body(request, answer)), Event::named("error", error.clone())]
}

fn start(body: &Value) -> Event {
    let usage = with(&body["usage"], json!({"output_tokens": 1}));
    let message = with(body, json!({"content": [], "stop_reason": null, "usage": usage}));
    Event::named("message_start", json!({"type": "message_start", "message": message}))
}

fn one(answer: &Answer, index: usize, block: &Block) -> Value {
    let call = |name: &str, input: Value| json!({"type": "tool_use", "id": format!("toolu_{}_{index}", answer.id), "name": name, "input": input});
    match block {
        Block::Text(text) => json!({"type": "text", "text": text}),
        Block::Think(text) => json!({"type": "thinking", "thinking": text, "signature": SIGNATURE}),
        Block::Call { name, input, .. } => call(name, json!(input)),
        Block::Raw { name, text, .. } => call(name, json!({"input": text})),
    }
}

fn told(index: usize, block: &Value) -> Vec<Event> {
    let (empty, deltas) = opened(block);
    let started = json!({"type": "content_block_start", "index": index, "content_block": empty});
    let mut events = vec![Event::named("content_block_start", started)];
    for delta in deltas {
        let data = json!({"type": "content_block_delta", "index": index, "delta": delta});
        events.push(Event::named("content_block_delta", data));
    }
    events.push(Event::named("content_block_stop", json!({"type": "content_block_stop", "index": index})));
    events
}

/// A block without its content, and the content.
fn opened(block: &Value) -> (Value, Vec<Value>) {
    let delta = |kind: &str, key: &str, text: &str| -> Vec<Value> {
        pieces(text).into_iter().map(|piece| json!({"type": kind, key: piece})).collect()
    };
    let text = |key: &str| block[key].as_str().unwrap_or_default();
    match block["type"].as_str() {
        Some("text") => (with(block, json!({"text": ""})), delta("text_delta", "text", text("text"))),
        Some("thinking") => {
            let mut deltas = delta("thinking_delta", "thinking", text("thinking"));
            deltas.push(json!({"type": "signature_delta", "signature": SIGNATURE}));
            (with(block, json!({"thinking": "", "signature": ""})), deltas)
        }
        _ => {
            let input = block["input"].to_string();
            (with(block, json!({"input": {}})), delta("input_json_delta", "partial_json", &input))
        }
    }
}

fn stop(stop: Stop) -> &'static str {
    match stop {
        Stop::End => "end_turn",
        Stop::Tool => "tool_use",
        Stop::Length => "max_tokens",
        Stop::Refusal => "refusal",
    }
}
