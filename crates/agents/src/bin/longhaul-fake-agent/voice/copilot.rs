//! In the words of Copilot.

use serde_json::{Value, json};

use super::{Outcome, Voice, event};
use crate::scenario::Failure;
use crate::{CACHED_TOKENS, INPUT_TOKENS, OUTPUT_TOKENS};

fn say(kind: &str, data: &Value) {
    event(&json!({"type": kind, "data": data}));
}

pub(super) fn begin(voice: &Voice<'_>) {
    say("session.tools_updated", &json!({"model": voice.call.model}));
    say("assistant.turn_start", &json!({"turnId": "0"}));
}

pub(super) fn tool(_: &Voice<'_>, command: &str, outcome: Outcome<'_>) {
    say("tool.execution_start", &json!({"toolCallId": "c", "toolName": "bash", "arguments": {"command": command}}));
    let mut data = json!({"toolCallId": "c", "success": outcome.is_ok()});
    match outcome {
        Ok(said) => data["result"] = json!({"content": said}),
        Err(_) => {
            data["error"] = json!({"code": "denied", "message": "Permission denied because no interactive user response was available."})
        }
    }
    say("tool.execution_complete", &data);
}

pub(super) fn answer(voice: &Voice<'_>, text: &str) {
    say("assistant.message", &json!({"content": text, "toolRequests": []}));
    result(voice, 0);
}

/// Tokens stand in a file, counted from the beginning of the session.
fn result(voice: &Voice<'_>, code: u8) {
    let turns = voice.turns;
    let usage = json!({"modelMetrics": {"fake": {"usage": {"inputTokens": INPUT_TOKENS * turns,
        "cacheReadTokens": CACHED_TOKENS * turns, "outputTokens": OUTPUT_TOKENS * turns}}}});
    if let Some(file) = &voice.call.usage_file {
        // The test misses the tokens if it is not there.
        let _ = std::fs::write(file, usage.to_string());
    }
    event(&json!({"type": "result", "sessionId": voice.session, "exitCode": code}));
}

pub(super) fn empty(voice: &Voice<'_>) -> u8 {
    say(
        "session.error",
        &json!({"errorType": "query", "message": "No response was returned. Send your message again to retry."}),
    );
    result(voice, 1);
    1
}

pub(super) fn ask(voice: &Voice<'_>, question: &str) {
    say(
        "tool.execution_start",
        &json!({"toolCallId": "q", "toolName": "ask_user", "arguments": {"question": question}}),
    );
    result(voice, 0);
}

pub(super) fn fail(voice: &Voice<'_>, failure: Failure) -> u8 {
    let (kind, status, code, words) = match failure {
        Failure::RateLimit => (
            "rate_limit",
            429,
            "rate_limit_exceeded",
            "429 Rate limit reached for fake on tokens per min (TPM). Please try again in 1s.",
        ),
        Failure::UsageLimit => (
            "query",
            429,
            "insufficient_quota",
            "429 You exceeded your current quota, please check your plan and billing details.",
        ),
        Failure::Overload => {
            ("query", 503, "server_is_overloaded", "503 Our servers are currently overloaded. Please try again later.")
        }
        Failure::Overflow => (
            "query",
            400,
            "context_length_exceeded",
            "400 This model's maximum context length is 128000 tokens. However, your messages resulted in 213462 tokens.",
        ),
        Failure::BadKey => (
            "authentication",
            401,
            "invalid_api_key",
            "Authentication failed with provider at http://127.0.0.1:1/v1 (HTTP 401).",
        ),
        Failure::NoModel => {
            ("query", 404, "model_not_found", "Model 'fake' not found on provider at http://127.0.0.1:1/v1 (HTTP 404).")
        }
        Failure::ServerError => (
            "query",
            500,
            "server_error",
            "500 The server had an error while processing your request. Sorry about that!",
        ),
    };
    say("model.call_failure", &json!({"statusCode": status, "errorCode": code, "errorMessage": words}));
    say("session.error", &json!({"errorType": kind, "statusCode": status, "message": words}));
    result(voice, 1);
    1
}
