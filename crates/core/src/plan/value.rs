//! Outputs of steps, and the expressions and texts that make values.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::{is_default, is_false};
use crate::Json;
use crate::id::Name;
use crate::types::Type;

/// The treatment of a step's result.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Output {
    /// The name under which later steps read it.
    #[serde(default, rename = "as", skip_serializing_if = "Option::is_none")]
    pub alias: Option<Name>,
    /// Whether each field becomes a name of its own.
    #[serde(default, skip_serializing_if = "is_false")]
    pub spread: bool,
    /// The JSON Schema that it must match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Json>,
    /// How text becomes a value.
    #[serde(default)]
    pub parse: Parse,
    /// The value to use if recovery is exhausted. It stays marked as a default.
    #[serde(default, deserialize_with = "crate::present", skip_serializing_if = "Option::is_none")]
    pub default: Option<Json>,
    /// How much of it later prompts and clients see.
    #[serde(default, skip_serializing_if = "is_default")]
    pub show: Show,
    /// The fields of a summary that they see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
    /// The length at which it is cut, in characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_chars: Option<u64>,
}

impl Output {
    /// The type of the value.
    pub fn value_type(&self) -> Type {
        match (&self.schema, self.parse) {
            (Some(schema), _) => Type::from_schema(schema),
            (None, Parse::Text) => Type::String,
            (None, Parse::Lines) => Type::array(Type::String),
            (None, Parse::Json) => Type::Any,
        }
    }
}

/// How text becomes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parse {
    /// It stays text.
    #[default]
    Text,
    /// It is one JSON value.
    Json,
    /// It is a list of lines.
    Lines,
}

/// How much of an output is visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Show {
    /// Everything if it is small, otherwise a summary.
    #[default]
    Auto,
    /// Everything.
    Full,
    /// Only its structure.
    Summary,
    /// Only that it exists.
    None,
}

/// An expression, without braces.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Expr(pub String);

/// A template that renders to text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Text(pub String);

/// A value that may contain expressions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arg {
    /// A value as written.
    Json(Json),
    /// The value of an expression, of any type.
    Expr(Expr),
    /// A rendered text.
    Text(Text),
    /// A list that contains expressions.
    List(Vec<Arg>),
    /// A mapping that contains expressions.
    Map(IndexMap<String, Arg>),
}

impl Arg {
    /// A text as written.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Json(Json::String(text.into()))
    }

    /// The value as written, if it contains no expressions.
    pub fn as_json(&self) -> Option<&Json> {
        match self {
            Self::Json(value) => Some(value),
            Self::Expr(_) | Self::Text(_) | Self::List(_) | Self::Map(_) => None,
        }
    }
}
