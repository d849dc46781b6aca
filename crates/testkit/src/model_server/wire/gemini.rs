//! Gemini's generateContent.

use serde_json::{Value, json};

use super::{Event, pieces, with};
use crate::model_server::answer::{Answer, Block, Stop};
use crate::model_server::request::Request;

pub(super) fn body(request: &Request, answer: &Answer) -> Value {
    frame(request, answer, &parts(answer), Some(stop(answer.stop)))
}

pub(super) fn events(request: &Request, answer: &Answer) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    for part in parts(answer) {
        let pieces = match part["text"].as_str() {
            Some(text) => pieces(text).into_iter().map(|piece| with(&part, json!({"text": piece}))).collect(),
            None => vec![part],
        };
        events.extend(pieces.into_iter().map(|piece| Event::plain(&frame(request, answer, &[piece], None))));
    }
    events.push(Event::plain(&frame(request, answer, &[json!({"text": ""})], Some(stop(answer.stop)))));
    events
}

fn frame(request: &Request, answer: &Answer, parts: &[Value], stop: Option<&str>) -> Value {
    let used = answer.used;
    let mut candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
    if let Some(stop) = stop {
        candidate = with(&candidate, json!({"finishReason": stop}));
    }
    json!({
        "candidates": [candidate],
        "modelVersion": request.model,
        "responseId": answer.id,
        "usageMetadata": {
            "promptTokenCount": used.input,
            "cachedContentTokenCount": used.cached,
            "candidatesTokenCount": used.output,
            "totalTokenCount": used.input + used.output,
        },
    })
}

fn parts(answer: &Answer) -> Vec<Value> {
    let call = |index: usize, name: &str, args: Value| {
        let call = json!({"id": format!("call_{}_{index}", answer.id), "name": name, "args": args});
        json!({"functionCall": call, "thoughtSignature": "c2NyaXB0ZWQ="})
    };
    let part = |(index, block): (usize, &Block)| match block {
        Block::Text(text) => json!({"text": text}),
        Block::Think(text) => json!({"text": text, "thought": true}),
        Block::Call { name, input, .. } => call(index, name, json!(input)),
        Block::Raw { name, text, .. } => call(index, name, json!({"input": text})),
    };
    answer.blocks.iter().enumerate().map(part).collect()
}

fn stop(stop: Stop) -> &'static str {
    match stop {
        Stop::End | Stop::Tool => "STOP",
        Stop::Length => "MAX_TOKENS",
        Stop::Refusal => "SAFETY",
    }
}
