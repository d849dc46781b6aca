//! In the words of opencode.

use serde_json::{Value, json};

use super::{Outcome, Voice, event};
use crate::scenario::Failure;
use crate::{CACHED_TOKENS, INPUT_TOKENS, OUTPUT_TOKENS};

fn say(voice: &Voice<'_>, kind: &str, part: &Value) {
    event(&json!({"type": kind, "sessionID": voice.session, "part": part}));
}

pub(super) fn begin(voice: &Voice<'_>) {
    say(voice, "step_start", &json!({"type": "step-start"}));
}

pub(super) fn tool(voice: &Voice<'_>, command: &str, outcome: Outcome<'_>) {
    let input = json!({"command": command});
    let state = match outcome {
        Ok(said) => json!({"status": "completed", "input": input, "output": said}),
        Err(_) => {
            json!({"status": "error", "input": input, "error": "The user rejected permission to use this specific tool call."})
        }
    };
    say(voice, "tool_use", &json!({"tool": "bash", "callID": "c", "state": state}));
    let tokens = json!({"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}});
    say(voice, "step_finish", &json!({"reason": "tool-calls", "tokens": tokens, "cost": 0}));
    begin(voice);
}

pub(super) fn answer(voice: &Voice<'_>, text: &str) {
    say(voice, "text", &json!({"type": "text", "text": text}));
    empty(voice);
}

pub(super) fn empty(voice: &Voice<'_>) -> u8 {
    let cache = json!({"read": CACHED_TOKENS, "write": 0});
    let tokens =
        json!({"input": INPUT_TOKENS - CACHED_TOKENS, "output": OUTPUT_TOKENS, "reasoning": 0, "cache": cache});
    say(voice, "step_finish", &json!({"reason": "stop", "tokens": tokens, "cost": 0.25}));
    0
}

pub(super) fn fail(voice: &Voice<'_>, failure: Failure) -> u8 {
    let (name, status, code, words) = match failure {
        Failure::RateLimit => (
            "APIError",
            429,
            "rate_limit_exceeded",
            "Rate limit reached for fake on tokens per min (TPM). Please try again in 1s.",
        ),
        Failure::UsageLimit => (
            "APIError",
            429,
            "insufficient_quota",
            "You exceeded your current quota, please check your plan and billing details.",
        ),
        Failure::Overload => {
            ("APIError", 503, "server_is_overloaded", "Our servers are currently overloaded. Please try again later.")
        }
        Failure::Overflow => (
            "ContextOverflowError",
            400,
            "context_length_exceeded",
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 213462 tokens.",
        ),
        Failure::BadKey => ("APIError", 401, "invalid_api_key", "Incorrect API key provided: dummy."),
        Failure::NoModel => {
            ("APIError", 404, "model_not_found", "The model `fake` does not exist or you do not have access to it.")
        }
        Failure::ServerError => (
            "APIError",
            500,
            "server_error",
            "The server had an error while processing your request. Sorry about that!",
        ),
    };
    let body = json!({"error": {"message": words, "code": code}}).to_string();
    let data = json!({"message": words, "statusCode": status, "responseBody": body});
    event(&json!({"type": "error", "sessionID": voice.session, "error": {"name": name, "data": data}}));
    1
}
