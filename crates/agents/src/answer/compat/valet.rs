//! Reads an answer as Valet does: a fenced object, a leading one, or the first complete one.

use longhaul_core::Json;
use longhaul_core::value;

use crate::answer::{AnswerProblem, find};

/// The object of an answer; the caller checks it against the schema.
pub fn object(text: &str) -> Result<Json, AnswerProblem> {
    let found = fenced(text).or_else(|| leading(text)).or_else(|| first(text));
    found.ok_or_else(|| AnswerProblem("the answer contains no JSON object".to_owned()))
}

fn parse(text: &str) -> Option<Json> {
    value::read(text.trim()).ok().filter(Json::is_object)
}

fn fenced(text: &str) -> Option<Json> {
    find::fences(text).into_iter().find_map(parse)
}

fn leading(text: &str) -> Option<Json> {
    parse(text)
}

fn first(text: &str) -> Option<Json> {
    let start = text.find('{')?;
    let length = find::closing(&text[start..])?;
    parse(&text[start..start + length])
}
