//! Recognises requests that agents make on their own account: titles, routing, quota probes, summaries.
//!
//! Their words change between versions. If a test fails because of that, `side` in the log shows it.

use super::request::Request;

/// Sentences from requests for a summary.
const COMPACT: [&str; 5] = [
    "create a detailed summary of the conversation",
    "your task is to create a detailed summary",
    "context checkpoint compaction",
    "anchored summary",
    "<state_snapshot>",
];

/// Sentences from requests that are not turns of the conversation.
const SIDE: [&str; 14] = [
    "session title",
    "title generator",
    "write the title",
    "title that captures",
    "naming a branch",
    "naming a session",
    "summarize this coding conversation",
    "indicates a new conversation topic",
    "prefix detection",
    "next speaker",
    "who should speak next",
    "task routing",
    "routing strateg",
    "you are a specialized task",
];

/// Sentences from such requests that look like turns, with tools.
const SIDE_LIKE_TURNS: [&str; 1] = ["reply with only the suggestion"];

/// Whether a request asks for a summary that replaces the conversation.
pub(super) fn is_compact(request: &Request) -> bool {
    let prompt = request.prompt().to_lowercase();
    request.path.ends_with("/compact") || COMPACT.iter().any(|sentence| prompt.contains(sentence))
}

/// Whether a request is not a turn of the conversation. Most turns offer tools; a probe asks for a single token.
pub(super) fn is_side(request: &Request) -> bool {
    let prompt = beginning(&request.prompt()).to_lowercase();
    if request.max_tokens == 1 || SIDE_LIKE_TURNS.iter().any(|sentence| prompt.contains(sentence)) {
        return true;
    }
    let words = format!("{}\n{prompt}", beginning(&request.system).to_lowercase());
    request.tools.is_empty() && (SIDE.iter().any(|sentence| words.contains(sentence)) || wants_title(&words))
}

fn beginning(text: &str) -> String {
    text.chars().take(4000).collect()
}

/// Whether a request asks for a title: "Generate a short title …", in any wording.
fn wants_title(words: &str) -> bool {
    words.match_indices("generate").any(|(start, _)| {
        let near: String = words[start..].chars().take(50).collect();
        near.contains("title")
    })
}
