//! Reads tool calls that a model wrote as text. Small models do that when a server does not know their format.

use longhaul_core::Json;

use super::message::Call;

/// The marks before and after a call, as several families of models write them.
const MARKS: [(&str, &str); 3] =
    [("<tool_call>", "</tool_call>"), ("[TOOL_CALLS]", ""), ("<|python_tag|>", "<|eom_id|>")];
const CALLS_MAX: usize = 20;

/// What a text without real calls contains.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Written {
    /// No call.
    Nothing,
    /// Calls, and the text before them.
    Calls(Vec<Call>, String),
    /// Something that was meant to be a call and cannot be read.
    Unreadable,
}

/// Reads the calls in a text. `is_tool` says whether there is a tool with a name.
pub(super) fn calls(text: &str, is_tool: impl Fn(&str) -> bool) -> Written {
    let Some((open, close, at)) = MARKS.iter().find_map(|(open, close)| Some((*open, *close, text.find(open)?))) else {
        // A whole answer that is nothing but a call of an existing tool.
        let whole = serde_json::from_str::<Json>(unfenced(text)).ok();
        let call = whole.as_ref().and_then(call).filter(|call| is_tool(&call.name));
        return call.map_or(Written::Nothing, |call| Written::Calls(vec![call], String::new()));
    };
    let pieces = text[at..].split(open).skip(1).take(CALLS_MAX);
    let bodies =
        pieces.map(|piece| piece.split_once(close).filter(|_| !close.is_empty()).map_or(piece, |(body, _)| body));
    let read: Option<Vec<Vec<Call>>> = bodies.map(body).collect();
    match read.map(|read| read.concat()) {
        Some(calls) if !calls.is_empty() => Written::Calls(calls, text[..at].trim().to_owned()),
        _ => Written::Unreadable,
    }
}

/// One call, or a list of calls.
fn body(text: &str) -> Option<Vec<Call>> {
    match serde_json::from_str(text.trim()).ok()? {
        Json::Array(items) => items.iter().map(call).collect(),
        value => call(&value).map(|call| vec![call]),
    }
}

fn call(value: &Json) -> Option<Call> {
    let members = value.as_object()?;
    let name = members.get("name")?.as_str()?.to_owned();
    let input = ["arguments", "parameters", "input"].iter().find_map(|key| members.get(*key))?;
    let input = input.as_str().map_or_else(|| input.to_string(), str::to_owned);
    Some(Call::new(String::new(), name, &input)).filter(|call| call.broken.is_none())
}

fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let inside =
        text.strip_prefix("```json").or_else(|| text.strip_prefix("```")).and_then(|it| it.strip_suffix("```"));
    inside.unwrap_or(text).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        match calls(text, |name| name == "read_file") {
            Written::Nothing => "nothing".to_owned(),
            Written::Unreadable => "unreadable".to_owned(),
            Written::Calls(calls, before) => {
                let calls: Vec<String> = calls.iter().map(|call| format!("{}{}", call.name, call.input)).collect();
                format!("{before}|{}", calls.join(";"))
            }
        }
    }

    #[test]
    fn calls_are_read_as_models_write_them() {
        let one = r#"{"name": "read_file", "arguments": {"path": "a"}}"#;
        assert_eq!(said(&format!("I look.\n<tool_call>\n{one}\n</tool_call>")), r#"I look.|read_file{"path":"a"}"#);
        assert_eq!(said(&format!("<tool_call>{one}")), r#"|read_file{"path":"a"}"#);
        assert_eq!(
            said(&format!("<tool_call>{one}</tool_call><tool_call>{one}</tool_call>")).matches("read_file").count(),
            2
        );
        assert_eq!(said(&format!("[TOOL_CALLS][{one}]")), r#"|read_file{"path":"a"}"#);
        assert_eq!(said(r#"<|python_tag|>{"name":"x","parameters":"{\"b\":1}"}<|eom_id|>"#), r#"|x{"b":1}"#);
        assert_eq!(said(&format!("```json\n{one}\n```")), r#"|read_file{"path":"a"}"#);
    }

    #[test]
    fn other_texts_are_not_calls() {
        assert_eq!(said("Hello."), "nothing");
        assert_eq!(said(r#"{"name": "pear", "arguments": {}}"#), "nothing");
        assert_eq!(said(r#"{"name": "read_file"}"#), "nothing");
        assert_eq!(said("<tool_call>read the file</tool_call>"), "unreadable");
        assert_eq!(said("<tool_call>"), "unreadable");
    }
}
