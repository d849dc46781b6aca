//! OpenAI Responses.

use serde_json::{Value, json};

use super::{CREATED, Event, pieces, with};
use crate::model_server::answer::{Answer, Block, Stop};
use crate::model_server::request::Request;

pub(super) fn body(request: &Request, answer: &Answer) -> Value {
    let incomplete = match answer.stop {
        Stop::Length => Some("max_output_tokens"),
        Stop::Refusal => Some("content_filter"),
        Stop::End | Stop::Tool => None,
    };
    let output: Vec<Value> =
        answer.blocks.iter().enumerate().map(|(index, block)| item(answer, index, block)).collect();
    json!({
        "id": format!("resp_{}", answer.id),
        "object": "response",
        "created_at": CREATED,
        "status": if incomplete.is_some() { "incomplete" } else { "completed" },
        "error": null,
        "incomplete_details": incomplete.map(|reason| json!({"reason": reason})),
        "model": request.model,
        "output": output,
        "parallel_tool_calls": true,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": answer.used.input,
            "input_tokens_details": {"cached_tokens": answer.used.cached},
            "output_tokens": answer.used.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": answer.used.input + answer.used.output,
        },
    })
}

pub(super) fn events(request: &Request, answer: &Answer) -> Vec<Event> {
    let body = body(request, answer);
    let mut stream = Stream::opened(&body);
    stream.tell("response.in_progress", json!({"response": opening(&body)}));
    for (index, item) in body["output"].as_array().into_iter().flatten().enumerate() {
        stream.item(index, item);
    }
    let last = if body["status"] == "completed" { "response.completed" } else { "response.incomplete" };
    stream.tell(last, json!({"response": body}));
    stream.0
}

pub(super) fn failing(request: &Request, answer: &Answer, error: &Value) -> Vec<Event> {
    let body = body(request, answer);
    let mut stream = Stream::opened(&body);
    let told = &error["error"];
    let code = [&told["code"], &told["type"]].into_iter().find(|code| code.is_string());
    let error = json!({"code": code, "message": told["message"]});
    stream.tell(
        "response.failed",
        json!({"response": with(&opening(&body), json!({"status": "failed", "error": error}))}),
    );
    stream.0
}

fn opening(body: &Value) -> Value {
    with(body, json!({"status": "in_progress", "output": [], "usage": null}))
}

fn item(answer: &Answer, index: usize, block: &Block) -> Value {
    let id = format!("{}_{index}", answer.id);
    let call = |name: &str, namespace: &Option<String>, more: Value| {
        let call =
            json!({"id": format!("fc_{id}"), "call_id": format!("call_{id}"), "name": name, "status": "completed"});
        let namespace = namespace.as_ref().map_or_else(|| json!({}), |namespace| json!({"namespace": namespace}));
        with(&with(&call, more), namespace)
    };
    match block {
        Block::Text(text) => {
            let part = json!({"type": "output_text", "text": text, "annotations": []});
            json!({"type": "message", "id": format!("msg_{id}"), "status": "completed", "role": "assistant", "content": [part]})
        }
        Block::Think(text) => {
            let summary = json!([{"type": "summary_text", "text": text}]);
            json!({"type": "reasoning", "id": format!("rs_{id}"), "summary": summary, "encrypted_content": null})
        }
        Block::Call { name, input, namespace } => {
            call(name, namespace, json!({"type": "function_call", "arguments": json!(input).to_string()}))
        }
        Block::Raw { name, text, namespace } => {
            call(name, namespace, json!({"type": "custom_tool_call", "input": text}))
        }
    }
}

/// Events, numbered in order.
struct Stream(Vec<Event>);

impl Stream {
    fn opened(body: &Value) -> Self {
        let mut stream = Self(Vec::new());
        stream.tell("response.created", json!({"response": opening(body)}));
        stream
    }

    fn tell(&mut self, name: &'static str, data: Value) {
        let number = self.0.len();
        self.0.push(Event::named(name, with(&json!({"type": name, "sequence_number": number}), data)));
    }

    fn item(&mut self, index: usize, item: &Value) {
        let at = json!({"item_id": item["id"], "output_index": index});
        match item["type"].as_str() {
            Some("message") => self.message(&at, index, item),
            Some("reasoning") => self.reasoning(&at, index, item),
            Some("custom_tool_call") => self.call(&at, index, item, &RAW),
            _ => self.call(&at, index, item, &CALL),
        }
        self.tell("response.output_item.done", json!({"output_index": index, "item": item}));
    }

    fn added(&mut self, index: usize, item: &Value, empty: Value) {
        self.tell("response.output_item.added", json!({"output_index": index, "item": with(item, empty)}));
    }

    fn message(&mut self, at: &Value, index: usize, item: &Value) {
        let part = &item["content"][0];
        let at = with(at, json!({"content_index": 0}));
        self.added(index, item, json!({"status": "in_progress", "content": []}));
        self.tell("response.content_part.added", with(&at, json!({"part": with(part, json!({"text": ""}))})));
        for piece in pieces(part["text"].as_str().unwrap_or_default()) {
            self.tell("response.output_text.delta", with(&at, json!({"delta": piece})));
        }
        self.tell("response.output_text.done", with(&at, json!({"text": part["text"]})));
        self.tell("response.content_part.done", with(&at, json!({"part": part})));
    }

    fn reasoning(&mut self, at: &Value, index: usize, item: &Value) {
        let part = &item["summary"][0];
        let at = with(at, json!({"summary_index": 0}));
        self.added(index, item, json!({"summary": []}));
        self.tell("response.reasoning_summary_part.added", with(&at, json!({"part": with(part, json!({"text": ""}))})));
        for piece in pieces(part["text"].as_str().unwrap_or_default()) {
            self.tell("response.reasoning_summary_text.delta", with(&at, json!({"delta": piece})));
        }
        self.tell("response.reasoning_summary_text.done", with(&at, json!({"text": part["text"]})));
        self.tell("response.reasoning_summary_part.done", with(&at, json!({"part": part})));
    }

    fn call(&mut self, at: &Value, index: usize, item: &Value, words: &Words) {
        let input = item[words.field].as_str().unwrap_or_default();
        self.added(index, item, json!({"status": "in_progress", words.field: ""}));
        for piece in pieces(input) {
            self.tell(words.delta, with(at, json!({"delta": piece})));
        }
        self.tell(words.done, with(at, json!({words.field: input})));
    }
}

/// The names that differ between the two kinds of calls.
struct Words {
    field: &'static str,
    delta: &'static str,
    done: &'static str,
}

const CALL: Words = Words {
    field: "arguments",
    delta: "response.function_call_arguments.delta",
    done: "response.function_call_arguments.done",
};

const RAW: Words = Words {
    field: "input",
    delta: "response.custom_tool_call_input.delta",
    done: "response.custom_tool_call_input.done",
};
