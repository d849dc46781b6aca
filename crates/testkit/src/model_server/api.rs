//! The four APIs of models.

use serde::Serialize;

/// The API of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Api {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Responses.
    Responses,
    /// OpenAI Chat Completions.
    Chat,
    /// Gemini's generateContent.
    Gemini,
}

impl Api {
    /// The API of a request's path, without its lane; `None` if the path belongs to none.
    pub(super) fn of_path(path: &str) -> Option<Self> {
        let ends = |ends: &[&str]| ends.iter().any(|end| path.ends_with(end));
        if ends(&["/messages", "/messages/count_tokens"]) {
            Some(Self::Anthropic)
        } else if ends(&["/responses", "/responses/compact"]) {
            Some(Self::Responses)
        } else if ends(&["/chat/completions"]) {
            Some(Self::Chat)
        } else if ends(&[":generateContent", ":streamGenerateContent", ":countTokens"]) {
            Some(Self::Gemini)
        } else {
            None
        }
    }

    /// The API with this name in scripts.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        match name {
            "anthropic" => Some(Self::Anthropic),
            "responses" => Some(Self::Responses),
            "chat" => Some(Self::Chat),
            "gemini" => Some(Self::Gemini),
            _ => None,
        }
    }
}
