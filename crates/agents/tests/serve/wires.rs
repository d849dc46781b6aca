//! The same answers and the same requests, in the form of each API.

use longhaul_core::Json;
use serde_json::json;

use crate::serve::endpoint::Answer;

/// The API of the endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    Messages,
    Chat,
    Responses,
}

pub(crate) const WIRES: [Wire; 3] = [Wire::Messages, Wire::Chat, Wire::Responses];

/// A part of an answer.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    Text(&'static str),
    /// Id, tool, input.
    Call(&'static str, &'static str, Json),
}

/// Why the model stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Done,
    Cut,
    Refused,
}

impl Wire {
    pub(crate) fn agent(self) -> &'static str {
        if self == Self::Messages { "anthropic" } else { "openai" }
    }

    /// The arguments in the settings.
    pub(crate) fn args(self) -> Vec<String> {
        let args: &[&str] = if self == Self::Responses { &["--wire", "responses"] } else { &[] };
        args.iter().map(|arg| (*arg).to_owned()).collect()
    }

    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Messages => "/v1/messages",
            Self::Chat => "/v1/chat/completions",
            Self::Responses => "/v1/responses",
        }
    }

    pub(crate) fn says(self, text: &'static str) -> Answer {
        self.answers(&[Part::Text(text)], Stop::Done)
    }

    pub(crate) fn calls(self, id: &'static str, tool: &'static str, input: Json) -> Answer {
        self.answers(&[Part::Call(id, tool, input)], Stop::Done)
    }

    pub(crate) fn answers(self, parts: &[Part], stop: Stop) -> Answer {
        Answer::Stream(self.stream(parts, stop))
    }

    /// An answer that uses 10 tokens, 4 of them cached, and writes 5.
    pub(crate) fn stream(self, parts: &[Part], stop: Stop) -> String {
        let events = match self {
            Self::Messages => messages(parts, stop),
            Self::Chat => chat(parts, stop),
            Self::Responses => responses(parts, stop),
        };
        let done = if self == Self::Chat { "data: [DONE]\n\n" } else { "" };
        events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>() + done
    }

    /// The conversation in a request, as lines.
    pub(crate) fn told(self, body: &Json) -> String {
        let items = if self == Self::Responses { &body["input"] } else { &body["messages"] };
        let lines = items.as_array().unwrap().iter().flat_map(|item| match self {
            Self::Messages => told_messages(item),
            Self::Chat => told_chat(item),
            Self::Responses => told_responses(item),
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn tools(self, body: &Json) -> Vec<String> {
        let tools = body["tools"].as_array().cloned().unwrap_or_default();
        let name =
            |tool: &Json| if self == Self::Chat { tool["function"]["name"].clone() } else { tool["name"].clone() };
        tools.iter().map(|tool| name(tool).as_str().unwrap().to_owned()).collect()
    }
}

/// Both halves of a text, because nothing ever arrives in one piece.
fn halves(text: &str) -> [&str; 2] {
    text.split_at(text.floor_char_boundary(text.len() / 2)).into()
}

fn messages(parts: &[Part], stop: Stop) -> Vec<Json> {
    let usage = json!({"input_tokens": 6, "cache_read_input_tokens": 4, "output_tokens": 1});
    let mut events =
        vec![json!({"type": "message_start", "message": {"model": "m-1", "usage": usage}}), json!({"type": "ping"})];
    for (index, part) in parts.iter().enumerate() {
        let (block, text, kind, name) = match part {
            Part::Text(text) => (json!({"type": "text", "text": ""}), (*text).to_owned(), "text_delta", "text"),
            Part::Call(id, tool, input) => {
                let block = json!({"type": "tool_use", "id": id, "name": tool, "input": {}});
                (block, input.to_string(), "input_json_delta", "partial_json")
            }
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        for half in halves(&text) {
            events.push(json!({"type": "content_block_delta", "index": index, "delta": {"type": kind, name: half}}));
        }
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let has_calls = parts.iter().any(|part| matches!(part, Part::Call(..)));
    let reason = match stop {
        Stop::Done => {
            if has_calls {
                "tool_use"
            } else {
                "end_turn"
            }
        }
        Stop::Cut => "max_tokens",
        Stop::Refused => "refusal",
    };
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 5}}));
    events.push(json!({"type": "message_stop"}));
    events
}

fn chat(parts: &[Part], stop: Stop) -> Vec<Json> {
    let chunk = |delta: Json| json!({"model": "m-1", "choices": [{"index": 0, "delta": delta}]});
    let mut events = vec![chunk(json!({"role": "assistant", "content": ""}))];
    let mut index = 0;
    for part in parts {
        match part {
            Part::Text(text) => events.extend(halves(text).map(|half| chunk(json!({"content": half})))),
            Part::Call(id, tool, input) => {
                let input = input.to_string();
                let [one, other] = halves(&input);
                let call =
                    json!({"index": index, "id": id, "type": "function", "function": {"name": tool, "arguments": one}});
                events.push(chunk(json!({"tool_calls": [call]})));
                events.push(chunk(json!({"tool_calls": [{"index": index, "function": {"arguments": other}}]})));
                index += 1;
            }
        }
    }
    let reason = match stop {
        Stop::Done => {
            if index > 0 {
                "tool_calls"
            } else {
                "stop"
            }
        }
        Stop::Cut => "length",
        Stop::Refused => "content_filter",
    };
    events.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}));
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 4}});
    events.push(json!({"choices": [], "usage": usage}));
    events
}

fn responses(parts: &[Part], stop: Stop) -> Vec<Json> {
    let mut events = vec![json!({"type": "response.created"})];
    for part in parts {
        let item = match part {
            Part::Text(text) => {
                events.extend(halves(text).map(|half| json!({"type": "response.output_text.delta", "delta": half})));
                json!({"type": "message", "content": [{"type": "output_text", "text": text}]})
            }
            Part::Call(id, tool, input) => {
                json!({"type": "function_call", "call_id": id, "name": tool, "arguments": input.to_string()})
            }
        };
        events.push(json!({"type": "response.output_item.done", "item": item}));
    }
    let usage = json!({"input_tokens": 10, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 4}});
    let (kind, reason) = match stop {
        Stop::Done => ("response.completed", None),
        Stop::Cut => ("response.incomplete", Some(json!({"reason": "max_output_tokens"}))),
        Stop::Refused => ("response.incomplete", Some(json!({"reason": "content_filter"}))),
    };
    events.push(json!({"type": kind, "response": {"model": "m-1", "usage": usage, "incomplete_details": reason}}));
    events
}

fn told_messages(item: &Json) -> Vec<String> {
    let role = item["role"].as_str().unwrap();
    let told = |block: &Json| match block["type"].as_str().unwrap() {
        "text" => format!("{role}: {}", block["text"].as_str().unwrap()),
        "tool_use" => {
            format!("call {}: {} {}", block["id"].as_str().unwrap(), block["name"].as_str().unwrap(), block["input"])
        }
        _ => {
            let word = if block["is_error"] == true { "error: " } else { "" };
            format!("result {}: {word}{}", block["tool_use_id"].as_str().unwrap(), block["content"].as_str().unwrap())
        }
    };
    item["content"].as_array().unwrap().iter().map(told).collect()
}

fn told_chat(item: &Json) -> Vec<String> {
    let text = item["content"].as_str().unwrap_or_default();
    let role = item["role"].as_str().unwrap();
    let mut lines = match role {
        "system" => Vec::new(),
        "tool" => vec![format!("result {}: {text}", item["tool_call_id"].as_str().unwrap())],
        _ if text.is_empty() => Vec::new(),
        _ => vec![format!("{role}: {text}")],
    };
    for call in item["tool_calls"].as_array().into_iter().flatten() {
        let function = &call["function"];
        let (name, input) = (function["name"].as_str().unwrap(), function["arguments"].as_str().unwrap());
        lines.push(format!("call {}: {name} {input}", call["id"].as_str().unwrap()));
    }
    lines
}

fn told_responses(item: &Json) -> Vec<String> {
    let text = |name: &str| item[name].as_str().unwrap();
    vec![match text("type") {
        "message" => format!("{}: {}", text("role"), item["content"][0]["text"].as_str().unwrap()),
        "function_call" => format!("call {}: {} {}", text("call_id"), text("name"), text("arguments")),
        _ => format!("result {}: {}", text("call_id"), text("output")),
    }]
}
