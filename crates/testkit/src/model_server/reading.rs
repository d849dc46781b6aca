//! Reads the bodies of the four APIs into one shape.
//!
//! **Invariant:** no field is required: a missing field, or one of another type, is empty.

use serde_json::Value;

use super::api::Api;
use super::request::{Message, Request, Role, Tool};

/// Fills a request from its body.
pub(super) fn read(request: &mut Request, body: &Value) {
    match request.api {
        Api::Anthropic => anthropic(request, body),
        Api::Responses => responses(request, body),
        Api::Chat => chat(request, body),
        Api::Gemini => gemini(request, body),
    }
}

fn anthropic(request: &mut Request, body: &Value) {
    request.system = text_of(&body["system"]);
    request.max_tokens = body["max_tokens"].as_u64().unwrap_or_default();
    for message in list(&body["messages"]) {
        let blocks = match &message["content"] {
            Value::Array(blocks) => blocks.clone(),
            content => vec![content.clone()],
        };
        for block in blocks.iter().filter(|block| block["type"] == "tool_result") {
            request.tool_result = text_of(&block["content"]);
        }
        let is_text = |block: &&Value| block.is_string() || block["type"] == "text";
        let texts: Vec<String> = blocks.iter().filter(is_text).map(text_of).collect();
        request.say(&message["role"], texts.join("\n"));
    }
    for tool in list(&body["tools"]) {
        request.offer(&tool["name"], &tool["input_schema"]);
    }
}

fn responses(request: &mut Request, body: &Value) {
    request.system = text_of(&body["instructions"]);
    request.max_tokens = body["max_output_tokens"].as_u64().unwrap_or_default();
    if let Some(prompt) = body["input"].as_str() {
        request.say(&Value::from("user"), prompt.to_owned());
    }
    for item in list(&body["input"]) {
        match item["type"].as_str().unwrap_or("message") {
            "function_call_output" | "custom_tool_call_output" => request.tool(text_of(&item["output"])),
            // newer clients offer some of their tools inside of the conversation
            "additional_tools" => openai_tools(request, &item["tools"], None),
            "message" => request.say(&item["role"], text_of(&item["content"])),
            _ => {}
        }
    }
    openai_tools(request, &body["tools"], None);
}

fn chat(request: &mut Request, body: &Value) {
    let limits = [&body["max_completion_tokens"], &body["max_tokens"]];
    request.max_tokens = limits.iter().find_map(|limit| limit.as_u64()).unwrap_or_default();
    for message in list(&body["messages"]) {
        let text = text_of(&message["content"]);
        match message["role"].as_str() {
            Some("tool") => request.tool(text),
            _ => request.say(&message["role"], text),
        }
    }
    openai_tools(request, &body["tools"], None);
}

fn openai_tools(request: &mut Request, tools: &Value, namespace: Option<&str>) {
    for tool in list(tools) {
        let kind = tool["type"].as_str().unwrap_or("function");
        if kind == "namespace" {
            openai_tools(request, &tool["tools"], tool["name"].as_str());
            continue;
        }
        let inner = [&tool["function"], &tool["custom"]].into_iter().find(|inner| inner.is_object()).unwrap_or(tool);
        request.tools.push(Tool {
            name: inner["name"].as_str().unwrap_or(kind).to_owned(),
            freeform: kind == "custom",
            schema: inner["parameters"].clone(),
            namespace: namespace.map(str::to_owned),
        });
    }
}

fn gemini(request: &mut Request, body: &Value) {
    let name = request.path.rsplit('/').next().unwrap_or_default();
    let (model, method) = name.split_once(':').unwrap_or((name, ""));
    (request.model, request.stream) = (model.to_owned(), method == "streamGenerateContent");
    let system = [&body["systemInstruction"], &body["system_instruction"]];
    request.system = system.into_iter().find(|system| !system.is_null()).map_or_else(String::new, text_of);
    for message in list(&body["contents"]) {
        let parts = list(&message["parts"]);
        for answer in parts.iter().map(|part| &part["functionResponse"]).filter(|answer| answer.is_object()) {
            request.tool_result = text_of(&answer["response"]);
        }
        let said = parts.iter().filter(|part| part["thought"] != true).filter_map(|part| part["text"].as_str());
        request.say(&message["role"], said.collect::<Vec<_>>().join("\n"));
    }
    for tool in list(&body["tools"]).iter().flat_map(|group| list(&group["functionDeclarations"])) {
        let schema = [&tool["parametersJsonSchema"], &tool["parameters"]].into_iter().find(|schema| schema.is_object());
        request.offer(&tool["name"], schema.unwrap_or(&Value::Null));
    }
}

impl Request {
    fn say(&mut self, role: &Value, text: String) {
        let role = match role.as_str().unwrap_or("user") {
            "system" | "developer" => {
                self.system.push('\n');
                self.system.push_str(&text);
                return;
            }
            "assistant" | "model" => Role::Assistant,
            _ => Role::User,
        };
        self.messages.push(Message { role, text });
    }

    fn tool(&mut self, result: String) {
        self.tool_result = result;
        self.messages.push(Message { role: Role::Tool, text: String::new() });
    }

    fn offer(&mut self, name: &Value, schema: &Value) {
        let name = name.as_str().unwrap_or_default().to_owned();
        self.tools.push(Tool { name, freeform: false, schema: schema.clone(), namespace: None });
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The text of a value that may be a text, a list of parts, or a part.
fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().map(text_of).filter(|text| !text.is_empty());
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Object(part) => {
            let words = ["text", "content", "output", "response", "parts"].iter().find_map(|key| part.get(*key));
            words.map_or_else(|| value.to_string(), text_of)
        }
        other => other.to_string(),
    }
}
