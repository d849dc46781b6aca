//! Reads an answer as workhorse-agent does: the first fenced object, else everything from the first brace to the last.
//!
//! **Invariant:** it accepts and refuses exactly what workhorse-agent 0.1.0 does, surprises included: two bare objects
//! are refused, and a broken fence before a good object spoils the answer.

use longhaul_core::Json;
use longhaul_core::value;
use serde_json::Map;

use crate::answer::AnswerProblem;

/// The declared keys of an answer, and no others. Without declared keys the answer is not parsed.
pub fn outputs(text: &str, keys: &[&str]) -> Result<Map<String, Json>, AnswerProblem> {
    if keys.is_empty() {
        return Ok(Map::new());
    }
    let found = fenced(text).and_then(parse).or_else(|| widest(text).and_then(parse));
    let mut found =
        found.ok_or_else(|| AnswerProblem("the answer contains no JSON object that can be read".to_owned()))?;
    let missing: Vec<&str> = keys.iter().copied().filter(|key| !found.contains_key(*key)).collect();
    if !missing.is_empty() {
        return Err(AnswerProblem(format!("the answer lacks: {}", missing.join(", "))));
    }
    Ok(keys.iter().filter_map(|key| found.shift_remove_entry(*key)).collect())
}

/// The first place with three backticks, perhaps `json`, an object and three backticks; and the shortest object there.
fn fenced(text: &str) -> Option<&str> {
    let mut at = 0;
    while let Some(fence) = text[at..].find("```").map(|offset| at + offset) {
        let after = &text[fence + 3..];
        let inside = after.strip_prefix("json").unwrap_or(after).trim_start();
        if let Some(end) = inside.starts_with('{').then(|| fence_end(inside)).flatten() {
            return Some(&inside[..end]);
        }
        at = fence + 1;
    }
    None
}

fn fence_end(inside: &str) -> Option<usize> {
    let braces = inside.match_indices('}').map(|(at, _)| at + 1);
    braces.into_iter().find(|end| inside[*end..].trim_start().starts_with("```"))
}

fn widest(text: &str) -> Option<&str> {
    text.get(text.find('{')?..=text.rfind('}')?)
}

fn parse(text: &str) -> Option<Map<String, Json>> {
    match value::read(text).or_else(|_| value::read(&without_nan(text))) {
        Ok(Json::Object(map)) => Some(map),
        _ => None,
    }
}

/// Python reads `NaN` and `Infinity`. JSON values cannot hold them, so they become null.
fn without_nan(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut quoted, mut rest) = (false, text);
    while let Some(next) = rest.chars().next() {
        let word = ["-Infinity", "Infinity", "NaN"].iter().find(|word| !quoted && rest.starts_with(**word));
        let taken = match (next, word) {
            (_, Some(word)) => {
                out.push_str("null");
                word.len()
            }
            ('\\', None) if quoted => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            _ => next.len_utf8(),
        };
        if word.is_none() {
            quoted ^= next == '"';
            out.push_str(&rest[..taken]);
        }
        rest = &rest[taken..];
    }
    out
}
