//! Extracts the requested value from the text of an answer.
//!
//! Agents wrap values in prose and fences, show an example first, or misplace a comma. Longhaul takes the last object
//! that matches the schema. It repairs text that is almost JSON only if nothing else matches, and only if the repaired
//! value does.
//!
//! **Invariant:** Longhaul invents nothing. A value comes whole from the text: incomplete strings and keys without a
//! value are not repaired.

pub mod compat;
mod find;
mod lenient;
mod words;

use longhaul_core::Json;
use longhaul_core::value::{self, Unread};
pub use words::instructions;

/// Checks a value: a message if it does not match, `None` if it does.
pub type Check<'a> = &'a dyn Fn(&Json) -> Option<String>;

/// Why an answer contains no matching value, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AnswerProblem(pub String);

/// The value of an answer.
pub fn value(text: &str, check: Check<'_>) -> Result<Json, AnswerProblem> {
    let whole = match value::read(text.trim()) {
        Err(Unread::Lossy(why)) => return Err(AnswerProblem(why)),
        read => read.ok(),
    };
    if let Some(whole) = whole.as_ref().filter(|whole| check(whole).is_none()) {
        return Ok(whole.clone());
    }
    let strict: Vec<Json> = whole.into_iter().chain(find::fenced(text)).chain(find::balanced(text)).collect();
    last_that_fits(&strict, check)
        .or_else(|| strict.iter().rev().find_map(|value| inside(value, check)))
        .or_else(|| last_that_fits(&lenient::values(text), check))
        .ok_or_else(|| problem(&strict, check))
}

/// Objects are preferred to lists, and lists to other values in fences: prose often contains texts such as `[1]`.
fn last_that_fits(values: &[Json], check: Check<'_>) -> Option<Json> {
    let rank = |value: &Json| match value {
        Json::Object(_) => 2,
        Json::Array(_) => 1,
        _ => 0,
    };
    let fitting = values.iter().filter(|value| check(value).is_none());
    fitting.max_by_key(|value| rank(value)).cloned()
}

/// The outermost part that matches: some agents wrap the value, for example in `{"result": …}`.
fn inside(value: &Json, check: Check<'_>) -> Option<Json> {
    let mut level: Vec<&Json> = parts(value);
    while !level.is_empty() {
        if let Some(found) = level.iter().find(|part| part.is_object() && check(part).is_none()) {
            return Some((*found).clone());
        }
        level = level.into_iter().flat_map(parts).collect();
    }
    None
}

fn parts(value: &Json) -> Vec<&Json> {
    match value {
        Json::Object(fields) => fields.values().collect(),
        Json::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    }
}

fn problem(found: &[Json], check: Check<'_>) -> AnswerProblem {
    match found.iter().rev().find_map(check) {
        Some(why) => AnswerProblem(format!("the answer does not follow its schema: {why}")),
        None => AnswerProblem("the answer contains no JSON".to_owned()),
    }
}
