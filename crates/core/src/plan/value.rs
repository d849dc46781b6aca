//! What a step leaves, and the expressions and texts that values come from.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::{is_default, is_false};
use crate::Json;
use crate::id::Name;
use crate::types::Type;

/// What becomes of a step's result.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Output {
    /// The name under which later steps read it.
    #[serde(default, rename = "as", skip_serializing_if = "Option::is_none")]
    pub alias: Option<Name>,
    /// Whether each field becomes a name of its own.
    #[serde(default, skip_serializing_if = "is_false")]
    pub spread: bool,
    /// A JSON Schema it must follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Json>,
    /// How text becomes a value.
    #[serde(default)]
    pub parse: Parse,
    /// Used only when recovery is exhausted, and marked as such for ever.
    #[serde(default, deserialize_with = "crate::present", skip_serializing_if = "Option::is_none")]
    pub default: Option<Json>,
    /// How much of it later prompts and hosts see.
    #[serde(default, skip_serializing_if = "is_default")]
    pub show: Show,
    /// Which fields they see of a summary.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
    /// Where it is cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_chars: Option<u64>,
}

impl Output {
    /// What is known of the value.
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

/// How much of an output is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Show {
    /// All while it is small, a summary beyond.
    #[default]
    Auto,
    /// All.
    Full,
    /// Its structure.
    Summary,
    /// That it exists.
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

/// A value that may have to be computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arg {
    /// A value as written.
    Json(Json),
    /// The value of an expression, with its type.
    Expr(Expr),
    /// A rendered text.
    Text(Text),
    /// A list with something to compute in it.
    List(Vec<Arg>),
    /// A mapping with something to compute in it.
    Map(IndexMap<String, Arg>),
}

impl Arg {
    /// A written text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Json(Json::String(text.into()))
    }

    /// The written value, if nothing in it has to be computed.
    pub fn as_json(&self) -> Option<&Json> {
        match self {
            Self::Json(value) => Some(value),
            Self::Expr(_) | Self::Text(_) | Self::List(_) | Self::Map(_) => None,
        }
    }
}
