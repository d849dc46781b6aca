//! What agents ask on their own account: titles, routing, probes of a quota, summaries.
//!
//! They ask in words that change between versions; where a test goes wrong for that, `side` in the log shows it.

use super::request::Request;

/// Sentences from requests for a summary.
const COMPACT: [&str; 5] = [
    "create a detailed summary of the conversation",
    "your task is to create a detailed summary",
    "context checkpoint compaction",
    "anchored summary",
    "<state_snapshot>",
];

/// Sentences from requests that are no turn of the conversation.
const SIDE: [&str; 13] = [
    "session title",
    "title generator",
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

/// Whether a summary is asked for that takes the place of the conversation.
pub(super) fn is_compact(request: &Request) -> bool {
    let prompt = request.prompt().to_lowercase();
    request.path.ends_with("/compact") || COMPACT.iter().any(|sentence| prompt.contains(sentence))
}

/// Whether the request is no turn of the conversation. Turns offer tools; a probe wants a single token.
pub(super) fn is_side(request: &Request) -> bool {
    if request.max_tokens == 1 {
        return true;
    }
    let words = format!("{}\n{}", beginning(&request.system), beginning(&request.prompt())).to_lowercase();
    request.tools.is_empty() && (SIDE.iter().any(|sentence| words.contains(sentence)) || wants_title(&words))
}

fn beginning(text: &str) -> String {
    text.chars().take(4000).collect()
}

/// "Generate a short title …", in any of its wordings.
fn wants_title(words: &str) -> bool {
    words.match_indices("generate").any(|(start, _)| {
        let near: String = words[start..].chars().take(50).collect();
        near.contains("title")
    })
}
