//! The schema of an answer. Every API requires an object; other values are wrapped in one and unwrapped again.

use longhaul_core::Json;
use serde_json::json;

use crate::answer;

const MEMBER: &str = "answer";

/// A schema in the form that is sent.
#[derive(Debug)]
pub(super) struct Shape {
    schema: Json,
    is_wrapped: bool,
}

impl Shape {
    pub(super) fn new(schema: &Json) -> Self {
        if schema.get("type") == Some(&json!("object")) {
            return Self { schema: schema.clone(), is_wrapped: false };
        }
        Self { schema: wrapped(schema.clone()), is_wrapped: true }
    }

    pub(super) fn schema(&self) -> &Json {
        &self.schema
    }

    /// Whether a text contains the answer, in its own form: the engine finds it there.
    pub(super) fn is_in(&self, text: &str) -> bool {
        if self.is_wrapped {
            return serde_json::from_str::<Json>(text.trim()).is_ok();
        }
        let required = self.schema.get("required").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
        let missing = |value: &Json| required.iter().filter_map(Json::as_str).any(|name| value.get(name).is_none());
        let check = |value: &Json| (!value.is_object() || missing(value)).then(String::new);
        answer::value(text, &check).is_ok()
    }

    /// The answer itself.
    pub(super) fn unwrapped(&self, mut value: Json) -> Json {
        match value.get_mut(MEMBER) {
            Some(answer) if self.is_wrapped => answer.take(),
            _ => value,
        }
    }
}

/// Definitions stay at the top level, where references expect them.
fn wrapped(mut schema: Json) -> Json {
    let taken = ["$defs", "definitions"].map(|name| Some((name, schema.as_object_mut()?.shift_remove(name)?)));
    let mut outer =
        json!({"type": "object", "properties": {MEMBER: schema}, "required": [MEMBER], "additionalProperties": false});
    if let Some(members) = outer.as_object_mut() {
        members.extend(taken.into_iter().flatten().map(|(name, value)| (name.to_owned(), value)));
    }
    outer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_object_is_put_into_one_and_taken_out() {
        let list = json!({"type": "array", "items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"type": "string"}}});
        let shape = Shape::new(&list);
        assert_eq!(shape.schema()["properties"]["answer"], json!({"type": "array", "items": {"$ref": "#/$defs/a"}}));
        assert_eq!(shape.schema()["$defs"], json!({"a": {"type": "string"}}));
        assert_eq!(shape.unwrapped(json!({"answer": ["x"]})), json!(["x"]));
    }

    #[test]
    fn an_object_is_left_alone() {
        let object = json!({"type": "object", "properties": {"answer": {"type": "string"}}});
        let shape = Shape::new(&object);
        assert_eq!(shape.schema(), &object);
        assert_eq!(shape.unwrapped(json!({"answer": "x"})), json!({"answer": "x"}));
    }
}
