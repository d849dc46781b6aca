//! An answer as Valet reads it: a fenced object, a leading one, or the first one that is closed; all fields, of their types.

use longhaul_core::Json;

use super::{Problem, find};

/// The object that an answer gives for a flat schema, `{field: {type, description}}`. Further keys are kept.
pub fn object(text: &str, schema: &Json) -> Result<Json, Problem> {
    let found = fenced(text).or_else(|| leading(text)).or_else(|| first(text));
    let found = found.ok_or_else(|| Problem("the answer contains no JSON object".to_owned()))?;
    match wrong(&found, schema) {
        Some(why) => Err(Problem(why)),
        None => Ok(found),
    }
}

fn parse(text: &str) -> Option<Json> {
    serde_json::from_str(text.trim()).ok().filter(Json::is_object)
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

fn wrong(found: &Json, schema: &Json) -> Option<String> {
    let fields = schema.as_object()?;
    fields.iter().find_map(|(name, field)| match found.get(name) {
        None => Some(format!("the field `{name}` is missing")),
        Some(Json::Null) => None,
        Some(value) => {
            let kind = field.get("type").and_then(Json::as_str)?;
            (!is(value, kind)).then(|| format!("the field `{name}` must be of type {kind}"))
        }
    })
}

fn is(value: &Json, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}
