//! OpenAI Chat Completions.

use serde_json::{Value, json};

use super::{CREATED, Event, pieces, with};
use crate::model_server::answer::{Answer, Block, Stop};
use crate::model_server::request::Request;

pub(super) fn body(request: &Request, answer: &Answer) -> Value {
    let text: String = answer.blocks.iter().filter_map(said).collect();
    let calls = calls(answer);
    let content = if text.is_empty() { Value::Null } else { json!(text) };
    let mut message = json!({"role": "assistant", "content": content});
    if !calls.is_empty() {
        message = with(&message, json!({"tool_calls": calls}));
    }
    let choice = json!({"index": 0, "message": message, "logprobs": null, "finish_reason": stop(answer.stop)});
    let whole = frame(request, answer, "chat.completion", &json!([choice]));
    with(&whole, json!({"usage": usage(answer)}))
}

pub(super) fn events(request: &Request, answer: &Answer) -> Vec<Event> {
    let chunk = |delta: Value, finish: Option<&str>| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        Event::plain(&frame(request, answer, CHUNK, &json!([choice])))
    };
    let mut events = vec![chunk(json!({"role": "assistant", "content": ""}), None)];
    for (key, text) in answer.blocks.iter().filter_map(spoken) {
        events.extend(pieces(text).into_iter().map(|piece| chunk(json!({key: piece}), None)));
    }
    for delta in calls(answer).iter().enumerate().flat_map(|(index, call)| call_deltas(index, call)) {
        events.push(chunk(json!({"tool_calls": [delta]}), None));
    }
    events.push(chunk(json!({}), Some(stop(answer.stop))));
    if request.body["stream_options"]["include_usage"] == true {
        let last = frame(request, answer, CHUNK, &json!([]));
        events.push(Event::plain(&with(&last, json!({"usage": usage(answer)}))));
    }
    events.push(done());
    events
}

pub(super) fn failing(error: &Value) -> Vec<Event> {
    vec![Event::plain(error), done()]
}

const CHUNK: &str = "chat.completion.chunk";

fn done() -> Event {
    Event { name: None, data: "[DONE]".to_owned() }
}

fn frame(request: &Request, answer: &Answer, object: &str, choices: &Value) -> Value {
    let id = format!("chatcmpl-{}", answer.id);
    json!({"id": id, "object": object, "created": CREATED, "model": request.model, "choices": choices})
}

fn said(block: &Block) -> Option<&str> {
    match block {
        Block::Text(text) => Some(text),
        _ => None,
    }
}

fn spoken(block: &Block) -> Option<(&'static str, &str)> {
    match block {
        Block::Text(text) => Some(("content", text)),
        Block::Think(text) => Some(("reasoning_content", text)),
        Block::Call { .. } | Block::Raw { .. } => None,
    }
}

fn calls(answer: &Answer) -> Vec<Value> {
    let call = |(index, block): (usize, &Block)| {
        let id = format!("call_{}_{index}", answer.id);
        match block {
            Block::Call { name, input, .. } => {
                let function = json!({"name": name, "arguments": json!(input).to_string()});
                Some(json!({"id": id, "type": "function", "function": function}))
            }
            Block::Raw { name, text, .. } => {
                Some(json!({"id": id, "type": "custom", "custom": {"name": name, "input": text}}))
            }
            Block::Text(_) | Block::Think(_) => None,
        }
    };
    answer.blocks.iter().enumerate().filter_map(call).collect()
}

/// The head of a call, then its input in pieces.
fn call_deltas(index: usize, call: &Value) -> Vec<Value> {
    let (kind, field) = if call["type"] == "function" { ("function", "arguments") } else { ("custom", "input") };
    let empty = with(&call[kind], json!({field: ""}));
    let mut deltas = vec![with(call, json!({"index": index, kind: empty}))];
    for piece in pieces(call[kind][field].as_str().unwrap_or_default()) {
        deltas.push(json!({"index": index, kind: {field: piece}}));
    }
    deltas
}

fn usage(answer: &Answer) -> Value {
    let used = answer.used;
    json!({
        "prompt_tokens": used.input,
        "completion_tokens": used.output,
        "total_tokens": used.input + used.output,
        "prompt_tokens_details": {"cached_tokens": used.cached},
    })
}

fn stop(stop: Stop) -> &'static str {
    match stop {
        Stop::End => "stop",
        Stop::Tool => "tool_calls",
        Stop::Length => "length",
        Stop::Refusal => "content_filter",
    }
}
