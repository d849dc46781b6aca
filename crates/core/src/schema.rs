//! Validates values against JSON Schemas.

mod violation;

use jsonschema::Validator;

use crate::Json;

pub use violation::Violation;

/// The most violations that are named.
const VIOLATIONS_MAX: usize = 20;
/// The longest text of a violation: it may contain the value.
const CHARS_MAX: usize = 400;

/// The first violation of the schema, in words. An unusable schema accepts no value.
pub fn mismatch(schema: &Json, value: &Json) -> Option<String> {
    let validator = match validator(schema) {
        Ok(validator) => validator,
        Err(why) => return Some(why),
    };
    let error = validator.iter_errors(value).next()?;
    let path = error.instance_path().as_str().trim_start_matches('/').replace('/', ".");
    Some(cut(if path.is_empty() { error.to_string() } else { format!("`{path}`: {error}") }))
}

/// The places of a value that violate the schema, each with a sentence that does not repeat the value.
pub fn violations(schema: &Json, value: &Json) -> Vec<Violation> {
    match validator(schema) {
        Ok(validator) => {
            validator.iter_errors(value).flat_map(|error| violation::of(&error)).take(VIOLATIONS_MAX).collect()
        }
        Err(why) => vec![Violation { at: String::new(), message: cut(why) }],
    }
}

/// Why a schema cannot be used: for example a reference that leads nowhere, or an invalid pattern.
pub fn unusable(schema: &Json) -> Option<String> {
    jsonschema::validator_for(schema).err().map(|error| error.to_string())
}

fn validator(schema: &Json) -> Result<Validator, String> {
    jsonschema::validator_for(schema).map_err(|error| format!("its schema cannot be used: {error}"))
}

/// A text of bearable length.
fn cut(text: String) -> String {
    match text.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(schema: Json, value: Json) -> String {
        let lines = violations(&schema, &value).into_iter().map(|found| format!("{}: {}", found.at, found.message));
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn each_violation_names_its_place_and_does_not_repeat_the_value() {
        let schema = json!({"type": "object", "required": ["name", "a/b"], "additionalProperties": false, "properties": {
            "name": {"type": "string"}, "a/b": {}, "port": {"type": "integer", "maximum": 65535},
            "size": {"enum": ["small", "large"]}, "tags": {"type": "array", "items": {"minLength": 2}, "maxItems": 1},
            "many": {"type": ["integer", "null"]}, "code": {"pattern": "^v"}, "step": {"multipleOf": 5}}});
        let value = json!({"port": 70000, "size": "huge", "tags": ["x", "yy"], "many": "1", "code": "x", "step": 3, "more~": 1});
        let expected = "\
/a~1b: This is required.
/code: This must match the pattern `^v`.
/many: This must be null or a whole number.
/more~0: There must be no field `more~`.
/name: This is required.
/port: This must be at most 65535.
/size: This must be one of: small, large.
/step: This must be a multiple of 5.
/tags/0: This must have at least 2 characters.
/tags: There must be at most 1 item.";
        let said = said(schema, value);
        let mut lines: Vec<_> = said.lines().collect();
        lines.sort_unstable();
        let mut expected: Vec<_> = expected.lines().collect();
        expected.sort_unstable();
        assert_eq!(lines, expected);
    }

    #[test]
    fn the_nearest_of_several_forms_is_explained() {
        let forms = json!({"oneOf": [
            {"type": "object", "required": ["mail"], "properties": {"mail": {"type": "string"}}},
            {"type": "integer"}]});
        assert_eq!(said(forms.clone(), json!({"mail": 1})), "/mail: This must be text.");
        assert_eq!(said(forms, json!(true)), ": This fits none of the possible forms.");
        let both = json!({"oneOf": [{"type": "integer"}, {"type": "number"}]});
        assert_eq!(said(both, json!(1)), ": This fits several forms, and must fit one.");
    }

    #[test]
    fn a_hostile_value_or_schema_is_not_repeated() {
        let many: Vec<_> = (0..5_000).map(|n| json!(format!("choice {n}"))).collect();
        let texts: Vec<_> = (0..5_000).map(|n| json!(format!("text {n}"))).collect();
        let found = violations(&json!({"items": {"enum": many}}), &json!(texts));
        assert_eq!(found.len(), VIOLATIONS_MAX);
        assert!(found.iter().all(|found| found.message.len() < 600), "{found:?}");
        let long = mismatch(&json!({"type": "integer"}), &json!("x".repeat(1 << 20))).unwrap();
        assert!(long.chars().count() <= CHARS_MAX + 1, "{}", long.len());
        assert!(
            violations(&json!({"$ref": "#/nowhere"}), &json!(1))[0].message.starts_with("its schema cannot be used")
        );
    }
}
