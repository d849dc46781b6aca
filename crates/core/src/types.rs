//! Types: what the checker knows about a value before it exists, and the part of JSON Schema they stand for.
//!
//! The checker asks types three questions: can this be iterated, does this field exist, can this comparison ever be
//! true. The validator checks the rest of a schema against the real value. So an unknown keyword widens a type and
//! never narrows it.

use std::fmt;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::Json;

/// The type of a value, as far as the checker knows it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Type {
    /// Nothing is known.
    #[default]
    Any,
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// Text.
    String,
    /// One of these values.
    Enum(Vec<Json>),
    /// A list.
    Array(Box<Type>),
    /// A mapping.
    Object(Fields),
    /// One of these types.
    Union(Vec<Type>),
}

/// The fields of an object type.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Fields {
    /// The fields that are known.
    pub known: IndexMap<String, Type>,
    /// Whether other fields are possible.
    pub open: bool,
}

impl Type {
    /// An object with exactly these fields.
    pub fn closed(fields: impl IntoIterator<Item = (String, Type)>) -> Self {
        Self::Object(Fields { known: fields.into_iter().collect(), open: false })
    }

    /// An object with unknown fields.
    pub fn open_object() -> Self {
        Self::Object(Fields { known: IndexMap::new(), open: true })
    }

    /// What stands in the place of a failed item of a `for_each` with `on_item_error: collect`.
    pub fn item_error() -> Self {
        let known = [("class", Self::String), ("message", Self::String)];
        let known = known.map(|(name, value)| (name.to_owned(), value)).into_iter().collect();
        Self::closed([("error".to_owned(), Self::Object(Fields { known, open: true }))])
    }

    /// Whether a value of this type can be a failed item, or a result.
    pub fn may_be_item_error(&self) -> bool {
        self.members().len() > 1 && self.members().contains(&Self::item_error())
    }

    /// A list without its failed items.
    pub fn without_item_errors(self) -> Self {
        let Self::Array(item) = self else { return self };
        let results = item.members().iter().filter(|member| **member != Self::item_error()).cloned();
        Self::array(results.reduce(Self::or).unwrap_or_default())
    }

    /// A list of `item`.
    pub fn array(item: Type) -> Self {
        Self::Array(Box::new(item))
    }

    /// The type of a concrete value.
    pub fn of(value: &Json) -> Self {
        match value {
            Json::Null => Self::Null,
            Json::Bool(_) => Self::Boolean,
            Json::Number(n) if n.is_f64() => Self::Number,
            Json::Number(_) => Self::Integer,
            Json::String(_) => Self::String,
            Json::Array(items) => Self::array(items.iter().map(Self::of).reduce(Self::or).unwrap_or_default()),
            Json::Object(map) => Self::closed(map.iter().map(|(k, v)| (k.clone(), Self::of(v)))),
        }
    }

    /// Either this type or `other`.
    pub fn or(self, other: Self) -> Self {
        if self == other {
            return self;
        }
        if self == Self::Any || other == Self::Any {
            return Self::Any;
        }
        let mut members = self.into_members();
        for member in other.into_members() {
            if !members.contains(&member) {
                members.push(member);
            }
        }
        Self::Union(members)
    }

    fn into_members(self) -> Vec<Self> {
        match self {
            Self::Union(members) => members,
            single => vec![single],
        }
    }

    /// The alternatives of this type; for anything but a union, one.
    pub fn members(&self) -> &[Self] {
        match self {
            Self::Union(members) => members,
            single => std::slice::from_ref(single),
        }
    }

    /// The values of an enum type (`null` beside it does not count).
    pub fn enum_values(&self) -> Option<&[Json]> {
        let mut values = self.members().iter().filter(|member| **member != Self::Null);
        match (values.next(), values.next()) {
            (Some(Self::Enum(values)), None) => Some(values),
            _ => None,
        }
    }

    /// The type of a list's items; `None` if the type cannot be a list.
    pub fn item(&self) -> Option<Type> {
        let items = self.members().iter().filter_map(|member| match member {
            Self::Any => Some(Self::Any),
            Self::Array(item) => Some((**item).clone()),
            _ => None,
        });
        items.reduce(Self::or)
    }

    /// The type of a field; `Err` with the known names if no such field can exist.
    pub fn field(&self, name: &str) -> Result<Type, Vec<String>> {
        let mut found: Option<Type> = None;
        let mut known = Vec::new();
        for member in self.members() {
            let hit = match member {
                Self::Any => Some(Self::Any),
                Self::Object(fields) => {
                    known.extend(fields.known.keys().cloned());
                    fields.known.get(name).cloned().or(fields.open.then_some(Self::Any))
                }
                _ => None,
            };
            if let Some(hit) = hit {
                found = Some(found.map_or(hit.clone(), |before| before.or(hit)));
            }
        }
        found.ok_or(known)
    }

    /// Whether a value of this type could also have the type `other`.
    pub fn may_be(&self, other: &Type) -> bool {
        self.members().iter().any(|a| other.members().iter().any(|b| overlaps(a, b)))
    }

    /// The type that a JSON Schema describes. Unknown keywords widen.
    pub fn from_schema(schema: &Json) -> Self {
        let Json::Object(map) = schema else { return Self::Any };
        if let Some(Json::Array(values)) = map.get("enum") {
            return Self::Enum(values.clone());
        }
        if let Some(value) = map.get("const") {
            return Self::Enum(vec![value.clone()]);
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(Json::Array(members)) = map.get(key) {
                return members.iter().map(Self::from_schema).reduce(Self::or).unwrap_or_default();
            }
        }
        match map.get("type") {
            Some(Json::String(name)) => Self::from_type_name(name, map),
            Some(Json::Array(names)) => names
                .iter()
                .filter_map(Json::as_str)
                .map(|name| Self::from_type_name(name, map))
                .reduce(Self::or)
                .unwrap_or_default(),
            _ if map.contains_key("properties") => Self::from_type_name("object", map),
            _ => Self::Any,
        }
    }

    fn from_type_name(name: &str, schema: &serde_json::Map<String, Json>) -> Self {
        match name {
            "null" => Self::Null,
            "boolean" => Self::Boolean,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "string" => Self::String,
            "array" => Self::array(schema.get("items").map_or(Self::Any, Self::from_schema)),
            "object" => object_from_schema(schema),
            _ => Self::Any,
        }
    }
}

fn object_from_schema(schema: &serde_json::Map<String, Json>) -> Type {
    let known: IndexMap<_, _> = match schema.get("properties") {
        Some(Json::Object(properties)) => {
            properties.iter().map(|(key, value)| (key.clone(), Type::from_schema(value))).collect()
        }
        _ => IndexMap::new(),
    };
    let open = known.is_empty() || schema.get("additionalProperties").is_some_and(|extra| extra != &Json::Bool(false));
    Type::Object(Fields { known, open })
}

fn overlaps(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Any, _) | (_, Type::Any) => true,
        (Type::Enum(values), other) | (other, Type::Enum(values)) => match other {
            Type::Enum(others) => values.iter().any(|value| others.contains(value)),
            other => values.iter().any(|value| overlaps(&Type::of(value), other)),
        },
        (Type::Integer | Type::Number, Type::Integer | Type::Number) => true,
        (Type::Array(a), Type::Array(b)) => a.may_be(b),
        (Type::Object(_), Type::Object(_)) => true,
        (a, b) => a == b,
    }
}

impl fmt::Display for Type {
    /// Prints it in words that fit "… is {type}".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("anything"),
            Self::Null => f.write_str("null"),
            Self::Boolean => f.write_str("a boolean"),
            Self::Integer => f.write_str("a whole number"),
            Self::Number => f.write_str("a number"),
            Self::String => f.write_str("text"),
            Self::Enum(values) => {
                let values: Vec<_> = values.iter().map(plain).collect();
                write!(f, "one of {}", values.join(", "))
            }
            Self::Array(_) => f.write_str("a list"),
            Self::Object(_) => f.write_str("a mapping"),
            Self::Union(members) => {
                let members: Vec<_> = members.iter().map(ToString::to_string).collect();
                f.write_str(&members.join(" or "))
            }
        }
    }
}

fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_schema_becomes_a_type() {
        let schema = json!({"type": "object", "properties": {
            "tasks": {"type": "array", "items": {"type": "string"}},
            "status": {"enum": ["go", "stop"]},
            "note": {"type": ["string", "null"]}}});
        let plan = Type::from_schema(&schema);
        assert_eq!(plan.field("tasks").unwrap().item(), Some(Type::String));
        assert_eq!(plan.field("status").unwrap().enum_values().unwrap().len(), 2);
        assert_eq!(plan.field("note").unwrap().to_string(), "text or null");
        assert_eq!(plan.field("taks"), Err(vec!["tasks".to_owned(), "status".into(), "note".into()]));
    }

    #[test]
    fn unknown_keywords_widen() {
        assert_eq!(Type::from_schema(&json!({"$ref": "#/x"})), Type::Any);
        assert!(Type::from_schema(&json!({"type": "object"})).field("x").is_ok());
        assert!(Type::from_schema(&json!({"properties": {"a": {}}, "additionalProperties": true})).field("b").is_ok());
    }

    #[test]
    fn only_lists_can_be_iterated() {
        assert_eq!(Type::String.item(), None);
        assert_eq!(Type::Any.item(), Some(Type::Any));
        assert_eq!(Type::Null.or(Type::array(Type::Integer)).item(), Some(Type::Integer));
    }

    #[test]
    fn comparisons_that_can_never_hold_are_seen() {
        let status = Type::Enum(vec![json!("go"), json!("stop")]);
        assert!(status.may_be(&Type::Enum(vec![json!("go")])));
        assert!(!status.may_be(&Type::Enum(vec![json!("halt")])));
        assert!(!Type::Boolean.may_be(&Type::Enum(vec![json!("true")])));
        assert!(Type::Integer.may_be(&Type::Number) && Type::String.may_be(&status));
    }
}
