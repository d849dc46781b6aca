//! In the words of Gemini.

use serde_json::{Value, json};

use super::{Outcome, Voice, event};
use crate::scenario::Failure;
use crate::{CACHED_TOKENS, INPUT_TOKENS, OUTPUT_TOKENS};

pub(super) fn begin(voice: &Voice<'_>) {
    event(&json!({"type": "init", "session_id": voice.session, "model": voice.call.model}));
    event(&json!({"type": "message", "role": "user", "content": "…"}));
}

pub(super) fn tool(_: &Voice<'_>, command: &str, outcome: Outcome<'_>) {
    event(
        &json!({"type": "tool_use", "tool_id": "t", "tool_name": "run_shell_command", "parameters": {"command": command}}),
    );
    match outcome {
        Ok(said) => event(&json!({"type": "tool_result", "tool_id": "t", "status": "success", "output": said})),
        Err(_) => {
            let words = "Tool execution for \"Shell\" requires user confirmation, which is not supported in non-interactive mode.";
            let error = json!({"type": "unhandled_exception", "message": words});
            event(&json!({"type": "tool_result", "tool_id": "t", "status": "error", "output": words, "error": error}));
        }
    }
}

/// The answer comes in pieces.
pub(super) fn answer(voice: &Voice<'_>, text: &str) {
    let middle = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
    for piece in [&text[..middle], &text[middle..]] {
        event(&json!({"type": "message", "role": "assistant", "content": piece, "delta": true}));
    }
    result(voice, "success", &Value::Null);
}

fn result(_: &Voice<'_>, status: &str, error: &Value) {
    let stats = json!({"input_tokens": INPUT_TOKENS, "cached": CACHED_TOKENS, "output_tokens": OUTPUT_TOKENS});
    let mut result = json!({"type": "result", "status": status, "stats": stats});
    if !error.is_null() {
        result["error"] = error.clone();
    }
    event(&result);
}

pub(super) fn empty(voice: &Voice<'_>) -> u8 {
    let words = "The model returned an empty response with no text or thoughts. This may be a transient API issue; please try again.";
    event(&json!({"type": "error", "severity": "error", "message": words}));
    result(voice, "error", &Value::Null);
    0
}

/// It exits with what is left of the status in eight bits.
pub(super) fn fail(voice: &Voice<'_>, failure: Failure) -> u8 {
    let (code, words) = match failure {
        Failure::RateLimit => (173, "[API Error: Resource has been exhausted (e.g. check quota). Please retry in 1s.]"),
        Failure::UsageLimit => {
            (173, "[API Error: You have exhausted your daily quota on this model.]\nPlease wait and try again later.")
        }
        Failure::Overload => (
            247,
            r#"[API Error: {"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}]"#,
        ),
        Failure::Overflow => (
            144,
            r#"[API Error: {"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]"#,
        ),
        Failure::BadKey => (
            144,
            r#"[API Error: {"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}]"#,
        ),
        Failure::NoModel => (
            1,
            "[API Error: models/fake is not found for API version v1beta, or is not supported for generateContent.]",
        ),
        Failure::ServerError => (
            244,
            r#"[API Error: {"error":{"code":500,"message":"An internal error has occurred.","status":"INTERNAL"}}]"#,
        ),
    };
    result(voice, "error", &json!({"type": "unknown", "message": words}));
    code
}
