//! Lists the possible answers to a question, for keys.

use longhaul_core::Json;
use longhaul_core::event::QuestionKind;
use longhaul_core::view::Asked;

/// The possible answers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Offer {
    /// Yes or no, perhaps with a choice of words, perhaps with an edited value.
    Verdict { choices: Vec<Json>, edits: bool },
    /// One of several.
    One(Vec<Json>),
    /// Any number of several.
    Many(Vec<Json>),
    /// Any typed value.
    Free,
}

impl Offer {
    pub(crate) fn of(asked: &Asked) -> Self {
        let words: Vec<Json> = asked.choices.iter().cloned().map(Json::String).collect();
        match asked.kind {
            QuestionKind::Approval | QuestionKind::Consent => Self::Verdict { choices: words, edits: false },
            QuestionKind::Review => Self::Verdict { choices: words, edits: true },
            QuestionKind::Operator if words.is_empty() => Self::One(["retry", "skip", "fail"].map(Json::from).to_vec()),
            QuestionKind::Operator | QuestionKind::Machine => Self::One(words),
            QuestionKind::Question => Self::by_schema(asked.schema.as_ref()),
        }
    }

    fn by_schema(schema: Option<&Json>) -> Self {
        let Some(schema) = schema else { return Self::Free };
        let values = |of: &Json| of.get("enum").and_then(Json::as_array).cloned();
        if let Some(values) = values(schema) {
            return Self::One(values);
        }
        match schema.get("type").and_then(Json::as_str) {
            Some("boolean") => Self::One(vec![true.into(), false.into()]),
            Some("array") => schema.get("items").and_then(values).map_or(Self::Free, Self::Many),
            _ => Self::Free,
        }
    }

    /// The answers that a digit key can choose.
    pub(crate) fn choices(&self) -> &[Json] {
        match self {
            Self::Verdict { choices, .. } | Self::One(choices) | Self::Many(choices) => choices,
            Self::Free => &[],
        }
    }
}

/// A value for people.
pub(crate) fn words(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Bool(true) => "yes".to_owned(),
        Json::Bool(false) => "no".to_owned(),
        other => other.to_string(),
    }
}
