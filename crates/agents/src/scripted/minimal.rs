//! Makes the smallest value that follows a JSON Schema.
//!
//! It supports the parts of JSON Schema that step outputs use. It does not support `pattern`, `not` and conditions:
//! then the value may not match, and the step reports that.
//!
//! **Invariant:** it ends, and the value is bounded, for any schema: recursive, contradictory or huge.

use longhaul_core::Json;
use serde_json::{Map, json};

/// The most values that are made; `null` replaces the rest.
const VALUES_MAX: usize = 10_000;
const DEPTH_MAX: usize = 64;
const CHARACTERS_MAX: u64 = 10_000;

pub(super) fn value(schema: &Json) -> Json {
    Maker { root: schema, left: VALUES_MAX }.make(schema, 0)
}

struct Maker<'a> {
    root: &'a Json,
    left: usize,
}

impl<'a> Maker<'a> {
    fn make(&mut self, schema: &'a Json, depth: usize) -> Json {
        if self.left == 0 || depth > DEPTH_MAX {
            return Json::Null;
        }
        self.left -= 1;
        let depth = depth + 1;
        if let Some(value) = schema.get("const").or_else(|| schema.get("enum")?.get(0)) {
            return value.clone();
        }
        if let Some(target) = self.target(schema) {
            return self.make(target, depth);
        }
        if let Some(all) = schema.get("allOf").and_then(Json::as_array) {
            return self.all_of(schema, all, depth);
        }
        match first_choice(schema) {
            Some(choice) => self.choice(schema, choice, depth),
            None => self.typed(schema, depth),
        }
    }

    /// The target of a `$ref` inside the schema.
    fn target(&self, schema: &Json) -> Option<&'a Json> {
        let pointer = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
        self.root.pointer(pointer)
    }

    fn all_of(&mut self, schema: &'a Json, parts: &'a [Json], depth: usize) -> Json {
        let own = self.typed_if_any(schema, depth);
        let made: Vec<Json> = parts.iter().map(|part| self.make(part, depth)).collect();
        own.into_iter().chain(made).reduce(merged).unwrap_or_default()
    }

    /// The value of a choice, merged with the rest of the schema around it.
    fn choice(&mut self, schema: &'a Json, choice: &'a Json, depth: usize) -> Json {
        let chosen = self.make(choice, depth);
        match self.typed_if_any(schema, depth) {
            Some(own) if is_bare(choice) => merged(chosen, own),
            Some(own) => merged(own, chosen),
            None => chosen,
        }
    }

    fn typed_if_any(&mut self, schema: &'a Json, depth: usize) -> Option<Json> {
        (!is_bare(schema)).then(|| self.typed(schema, depth))
    }

    fn typed(&mut self, schema: &'a Json, depth: usize) -> Json {
        match type_of(schema) {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, depth),
            "integer" | "number" => number(schema),
            "boolean" => Json::Bool(false),
            "null" => Json::Null,
            _ => text(schema),
        }
    }

    fn object(&mut self, schema: &'a Json, depth: usize) -> Json {
        let required = schema.get("required").and_then(Json::as_array).into_iter().flatten();
        let mut made = Map::new();
        for name in required.filter_map(Json::as_str) {
            let of_field = schema.get("properties").and_then(|properties| properties.get(name));
            let value = of_field.map(|field| self.make(field, depth)).unwrap_or_else(|| json!(""));
            made.insert(name.to_owned(), value);
        }
        Json::Object(made)
    }

    fn array(&mut self, schema: &'a Json, depth: usize) -> Json {
        let count = schema.get("minItems").and_then(Json::as_u64).unwrap_or_default();
        let first = schema.get("prefixItems").and_then(Json::as_array);
        let mut made = Vec::new();
        while (made.len() as u64) < count && self.left > 0 {
            let of_item = first.and_then(|first| first.get(made.len())).or_else(|| schema.get("items"));
            made.push(of_item.map(|item| self.make(item, depth)).unwrap_or_else(|| json!("")));
            // An item without a schema counts too.
            self.left = self.left.saturating_sub(1);
        }
        Json::Array(made)
    }
}

fn first_choice(schema: &Json) -> Option<&Json> {
    ["oneOf", "anyOf"].into_iter().find_map(|key| schema.get(key)?.get(0))
}

/// Whether a schema does not say the type of the value.
fn is_bare(schema: &Json) -> bool {
    ["type", "properties", "required", "items"].iter().all(|key| schema.get(key).is_none())
}

fn type_of(schema: &Json) -> &str {
    let written = schema.get("type").and_then(|kind| kind.as_str().or_else(|| kind.get(0)?.as_str()));
    let has = |keys: &[&str]| keys.iter().any(|key| schema.get(key).is_some());
    match written {
        Some(kind) => kind,
        None if has(&["properties", "required"]) => "object",
        None if has(&["items", "prefixItems", "minItems"]) => "array",
        None if has(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]) => "number",
        None => "string",
    }
}

/// Zero, or the nearest allowed number.
fn number(schema: &Json) -> Json {
    let bound = |key: &str| schema.get(key).and_then(Json::as_f64);
    let is_whole = type_of(schema) == "integer";
    let up = |number: f64| if is_whole { number.ceil() } else { number };
    let down = |number: f64| if is_whole { number.floor() } else { number };
    // If the bound itself is not allowed: the next whole number, or half a step further.
    let bit = if is_whole { 1.0 } else { 0.5 };
    let lowest = bound("minimum").map(up).or(bound("exclusiveMinimum").map(|least| down(least) + bit));
    let highest = bound("maximum").map(down).or(bound("exclusiveMaximum").map(|most| up(most) - bit));
    let nearest = 0.0_f64.max(lowest.unwrap_or(f64::NEG_INFINITY)).min(highest.unwrap_or(f64::INFINITY));
    if nearest.fract() == 0.0 && nearest.abs() < 1e15 { json!(nearest as i64) } else { json!(nearest) }
}

fn text(schema: &Json) -> Json {
    let count = schema.get("minLength").and_then(Json::as_u64).unwrap_or_default().min(CHARACTERS_MAX);
    Json::String("x".repeat(usize::try_from(count).unwrap_or_default()))
}

/// Merges two values for the same place: the fields of both, else the later value.
fn merged(one: Json, other: Json) -> Json {
    match (one, other) {
        (Json::Object(mut one), Json::Object(other)) => {
            for (name, value) in other {
                let value = one.remove(&name).map(|before| merged(before, value.clone())).unwrap_or(value);
                one.insert(name, value);
            }
            Json::Object(one)
        }
        (_, other) => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_has_its_least_value() {
        for (schema, expected) in [
            (json!({"type": "string"}), json!("")),
            (json!({"type": "string", "minLength": 3}), json!("xxx")),
            (json!({"type": "string", "enum": ["low", "high"]}), json!("low")),
            (json!({"const": {"a": 1}}), json!({"a": 1})),
            (json!({"type": "integer"}), json!(0)),
            (json!({"type": "integer", "minimum": 2.5}), json!(3)),
            (json!({"type": "integer", "exclusiveMinimum": 1}), json!(2)),
            (json!({"type": "number", "maximum": -1.5}), json!(-1.5)),
            (json!({"type": "integer", "minimum": 1, "maximum": 5}), json!(1)),
            (json!({"type": "boolean"}), json!(false)),
            (json!({"type": ["null", "string"]}), Json::Null),
            (json!({"type": "array", "items": {"type": "string"}}), json!([])),
            (json!({"type": "array", "items": {"type": "integer"}, "minItems": 2}), json!([0, 0])),
            (json!({}), json!("")),
            (json!(true), json!("")),
        ] {
            assert_eq!(value(&schema), expected, "{schema}");
        }
    }

    #[test]
    fn an_object_has_its_required_fields_and_no_more() {
        let schema = json!({
            "type": "object",
            "properties": {
                "verdict": {"enum": ["pass", "fail"]},
                "notes": {"type": "string"},
                "tasks": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/task"}},
            },
            "required": ["tasks", "verdict"],
            "$defs": {"task": {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}},
        });
        assert_eq!(value(&schema), json!({"tasks": [{"title": ""}], "verdict": "pass"}));
    }

    #[test]
    fn choices_take_the_first_and_parts_come_together() {
        let with =
            |name: &str| json!({"type": "object", "properties": {name: {"type": "integer"}}, "required": [name]});
        assert_eq!(value(&json!({"anyOf": [{"type": "null"}, {"type": "string"}]})), Json::Null);
        assert_eq!(value(&json!({"oneOf": [with("a"), with("b")]})), json!({"a": 0}));
        assert_eq!(value(&json!({"allOf": [with("a"), with("b")]})), json!({"a": 0, "b": 0}));
        let mut beside = with("a");
        beside["anyOf"] = json!([with("b")]);
        assert_eq!(value(&beside), json!({"a": 0, "b": 0}));
    }

    #[test]
    fn a_schema_without_end_is_cut_off() {
        let forever =
            json!({"type": "object", "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}, "required": ["a", "b"]});
        assert!(value(&forever).to_string().len() < 1_000_000);
        assert_eq!(value(&json!({"$ref": "#"})), Json::Null);
        let huge = json!({"type": "array", "minItems": u64::MAX, "items": {"type": "string", "minLength": 9}});
        assert!(value(&huge).to_string().len() < 1_000_000);
        assert!(value(&json!({"type": "string", "minLength": u64::MAX})).to_string().len() < 100_000);
    }
}
