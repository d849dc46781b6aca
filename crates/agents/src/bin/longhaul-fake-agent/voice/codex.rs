//! In the words of Codex.

use serde_json::json;

use super::{Outcome, Voice, event};
use crate::scenario::Failure;
use crate::{CACHED_TOKENS, INPUT_TOKENS, OUTPUT_TOKENS};

pub(super) fn begin(voice: &Voice<'_>) {
    event(&json!({"type": "thread.started", "thread_id": voice.session}));
    event(&json!({"type": "turn.started"}));
}

pub(super) fn tool(_: &Voice<'_>, command: &str, outcome: Outcome<'_>) {
    let item = |status: &str, output: &str| json!({"id": "item_0", "type": "command_execution", "command": command, "aggregated_output": output, "status": status});
    event(&json!({"type": "item.started", "item": item("in_progress", "")}));
    let status = if outcome.is_ok() { "completed" } else { "declined" };
    event(&json!({"type": "item.completed", "item": item(status, outcome.unwrap_or_default())}));
}

pub(super) fn answer(voice: &Voice<'_>, text: &str) {
    event(&json!({"type": "item.completed", "item": {"id": "item_1", "type": "agent_message", "text": text}}));
    empty(voice);
}

/// Tokens count from the beginning of the thread.
pub(super) fn empty(voice: &Voice<'_>) -> u8 {
    let turns = voice.turns;
    event(&json!({"type": "turn.completed", "usage": {"input_tokens": INPUT_TOKENS * turns,
        "cached_input_tokens": CACHED_TOKENS * turns, "output_tokens": OUTPUT_TOKENS * turns}}));
    0
}

pub(super) fn fail(_: &Voice<'_>, failure: Failure) -> u8 {
    let words = match failure {
        Failure::RateLimit => "exceeded retry limit, last status: 429 Too Many Requests",
        Failure::UsageLimit => "You've hit your usage limit. Upgrade to Pro or try again at Jan 1st, 2100 12:00 AM.",
        Failure::Overload => "Selected model is at capacity. Please try a different model.",
        Failure::Overflow => {
            "Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying."
        }
        Failure::BadKey => "unexpected status 401 Unauthorized: Incorrect API key provided: dummy.",
        Failure::NoModel => "The model `fake` does not exist or you do not have access to it.",
        Failure::ServerError => "We're currently experiencing high demand, which may cause temporary errors.",
    };
    event(&json!({"type": "error", "message": format!("Reconnecting... 1/1 ({words})")}));
    event(&json!({"type": "error", "message": words}));
    event(&json!({"type": "turn.failed", "error": {"message": words}}));
    1
}
