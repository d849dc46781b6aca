//! Sentences about the places of a value that violate a schema.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cut;
use crate::Json;

/// The most choices that a sentence lists.
const CHOICES_MAX: usize = 12;
/// The longest choice that a sentence shows.
const CHOICE_CHARS_MAX: usize = 40;

/// A place of a value that violates a schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Violation {
    /// The place, as a JSON pointer. It is empty for the whole value.
    pub at: String,
    /// What is wrong there, as a sentence.
    pub message: String,
}

/// The violations behind an error. A missing field is one at its own place; of several forms, the nearest one counts.
pub(super) fn of(error: &ValidationError<'_>) -> Vec<Violation> {
    let at = error.instance_path().as_str();
    match error.kind() {
        Kind::Required { property } => {
            vec![below(at, property.as_str().unwrap_or_default(), "This is required.".to_owned())]
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => unexpected
            .iter()
            .map(|name| below(at, name, format!("There must be no field `{}`.", short(name))))
            .collect(),
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => nearest(at, context),
        kind => vec![Violation { at: at.to_owned(), message: cut(sentence(kind, error)) }],
    }
}

fn below(at: &str, name: &str, message: String) -> Violation {
    Violation { at: format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")), message }
}

/// The violations of the form that fails deepest inside the value. If each one fails at its root, no form is the nearest.
fn nearest(at: &str, forms: &[Vec<ValidationError<'static>>]) -> Vec<Violation> {
    let found = forms.iter().map(|errors| errors.iter().flat_map(of).collect::<Vec<_>>());
    let inside = found.filter(|form| !form.is_empty() && form.iter().all(|one| one.at.len() > at.len()));
    let none = || vec![Violation { at: at.to_owned(), message: "This fits none of the possible forms.".to_owned() }];
    inside.min_by_key(Vec::len).unwrap_or_else(none)
}

fn sentence(kind: &Kind, error: &ValidationError<'_>) -> String {
    match kind {
        Kind::Type { kind } => format!("This must be {}.", types(kind)),
        Kind::Enum { options } => format!("This must be one of: {}.", listed(options)),
        Kind::Constant { expected_value } => format!("This must be {}.", plain(expected_value)),
        Kind::Minimum { limit } => format!("This must be at least {limit}."),
        Kind::Maximum { limit } => format!("This must be at most {limit}."),
        Kind::ExclusiveMinimum { limit } => format!("This must be more than {limit}."),
        Kind::ExclusiveMaximum { limit } => format!("This must be less than {limit}."),
        Kind::MultipleOf { multiple_of } => format!("This must be a multiple of {multiple_of}."),
        Kind::MinLength { limit } => format!("This must have at least {}.", count(*limit, "character")),
        Kind::MaxLength { limit } => format!("This must have at most {}.", count(*limit, "character")),
        Kind::MinItems { limit } => format!("There must be at least {}.", count(*limit, "item")),
        Kind::MaxItems { limit } => format!("There must be at most {}.", count(*limit, "item")),
        Kind::MinProperties { limit } => format!("There must be at least {}.", count(*limit, "field")),
        Kind::MaxProperties { limit } => format!("There must be at most {}.", count(*limit, "field")),
        Kind::AdditionalItems { limit } => format!("There must be at most {}.", count(*limit as u64, "item")),
        Kind::UniqueItems => "No two items may be the same.".to_owned(),
        Kind::Pattern { pattern } => format!("This must match the pattern `{}`.", short(pattern)),
        Kind::Format { format } => format!("This must be a valid {format}."),
        Kind::OneOfMultipleValid { .. } => "This fits several forms, and must fit one.".to_owned(),
        Kind::FalseSchema => "There must be nothing here.".to_owned(),
        Kind::Not { .. } => "This value is not allowed.".to_owned(),
        _ => error.masked_with("this").to_string(),
    }
}

fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => word(&one.to_string()),
        TypeKind::Multiple(set) => set.iter().map(|one| word(&one.to_string())).collect::<Vec<_>>().join(" or "),
    }
}

fn word(name: &str) -> String {
    match name {
        "string" => "text",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "an object",
        other => other,
    }
    .to_owned()
}

fn count(n: u64, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

fn listed(options: &Json) -> String {
    let Some(options) = options.as_array() else { return plain(options) };
    let mut words: Vec<_> = options.iter().take(CHOICES_MAX).map(plain).collect();
    if options.len() > CHOICES_MAX {
        words.push("…".to_owned());
    }
    words.join(", ")
}

fn plain(value: &Json) -> String {
    short(&value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

fn short(text: &str) -> String {
    match text.char_indices().nth(CHOICE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
