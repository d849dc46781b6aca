//! In the words of Claude Code.

use serde_json::{Value, json};

use super::{Outcome, Voice, event};
use crate::scenario::Failure;
use crate::{CACHED_TOKENS, INPUT_TOKENS, OUTPUT_TOKENS};

pub(super) fn begin(voice: &Voice<'_>) {
    event(
        &json!({"type": "system", "subtype": "init", "session_id": voice.session, "model": voice.call.model, "tools": ["Bash"]}),
    );
}

fn message(voice: &Voice<'_>, block: &Value) {
    event(&json!({"type": "assistant", "session_id": voice.session, "parent_tool_use_id": null,
        "message": {"id": "m", "model": voice.call.model, "content": [block], "usage": {"input_tokens": 1, "output_tokens": 1}}}));
}

pub(super) fn tool(voice: &Voice<'_>, command: &str, outcome: Outcome<'_>) {
    message(voice, &json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": command}}));
    let said =
        outcome.unwrap_or("Permission to use Bash has been denied because Claude Code is running in don't ask mode.");
    if outcome.is_err() {
        event(
            &json!({"type": "system", "subtype": "permission_denied", "tool_name": "Bash", "session_id": voice.session}),
        );
    }
    event(&json!({"type": "user", "session_id": voice.session, "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t", "content": said, "is_error": outcome.is_err()}]}}));
}

/// Money and tokens of models count from the beginning of the session; what came since the last result stands apart.
fn result(voice: &Voice<'_>, fields: &[(&str, Value)]) {
    let used = |turns: u64| {
        json!({"fake": {"inputTokens": (INPUT_TOKENS - CACHED_TOKENS) * turns, "cacheReadInputTokens": CACHED_TOKENS * turns,
            "outputTokens": OUTPUT_TOKENS * turns, "costUSD": 0.25}})
    };
    let mut result = json!({"type": "result", "subtype": "success", "is_error": false, "session_id": voice.session,
        "stop_reason": "end_turn", "terminal_reason": "completed", "permission_denials": [], "total_cost_usd": 0.25,
        "modelUsage": used(voice.turns), "model_usage_since_last_result": used(1)});
    for (name, value) in fields {
        result[*name] = value.clone();
    }
    event(&result);
}

pub(super) fn answer(voice: &Voice<'_>, text: &str) {
    message(voice, &json!({"type": "text", "text": text}));
    result(voice, &[("result", text.into())]);
}

pub(super) fn structured(voice: &Voice<'_>, json: &str) {
    let value: Value = serde_json::from_str(json).unwrap_or_default();
    message(voice, &json!({"type": "tool_use", "id": "s", "name": "StructuredOutput", "input": value}));
    result(voice, &[("result", json.into()), ("structured_output", value)]);
}

pub(super) fn empty(voice: &Voice<'_>) -> u8 {
    result(voice, &[("result", "".into())]);
    0
}

pub(super) fn ask(voice: &Voice<'_>, question: &str) {
    let input = json!({"questions": [{"question": question}]});
    message(voice, &json!({"type": "tool_use", "id": "q", "name": "AskUserQuestion", "input": input}));
    result(voice, &[("result", "".into()), ("permission_denials", json!([{"tool_name": "AskUserQuestion"}]))]);
}

pub(super) fn fail(voice: &Voice<'_>, failure: Failure) -> u8 {
    let (status, error, words) = match failure {
        Failure::RateLimit => (
            429,
            "rate_limit",
            "API Error: Request rejected (429) · This request would exceed your organization's rate limit of 40,000 input tokens per minute. Please try again later.",
        ),
        Failure::UsageLimit => (429, "rate_limit", "You've hit your session limit · resets 3pm (UTC)"),
        Failure::Overload => (
            529,
            "server_error",
            "API Error: 529 Overloaded. This is a server-side issue, usually temporary — try again in a moment.",
        ),
        Failure::Overflow => {
            (400, "invalid_request", "Prompt is too long · the request is ~213462 tokens (limit 200000)")
        }
        Failure::BadKey => (401, "authentication_failed", "Invalid API key · Fix external API key"),
        Failure::NoModel => (
            404,
            "model_not_found",
            "There's an issue with the selected model (fake). It may not exist or you may not have access to it.",
        ),
        Failure::ServerError => (
            500,
            "server_error",
            "API Error: 500 Internal server error. This is a server-side issue, usually temporary.",
        ),
    };
    event(&json!({"type": "assistant", "session_id": voice.session, "error": error, "api_error_status": status,
        "message": {"id": "e", "model": "<synthetic>", "content": [{"type": "text", "text": words}]}}));
    let reason = if matches!(failure, Failure::Overflow) { "prompt_too_long" } else { "api_error" };
    result(
        voice,
        &[
            ("is_error", true.into()),
            ("result", words.into()),
            ("api_error_status", status.into()),
            ("terminal_reason", reason.into()),
        ],
    );
    1
}

pub(super) fn refuse(voice: &Voice<'_>, words: &str) -> u8 {
    event(
        &json!({"type": "result", "subtype": "error_during_execution", "is_error": true, "session_id": voice.session, "errors": [words]}),
    );
    1
}
