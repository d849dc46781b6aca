//! Reads TOML tables into plain types: the built-in tables, and those that users add.

use longhaul_core::Json;
use serde::de::DeserializeOwned;
use toml_edit::{DocumentMut, Item, TableLike, Value};

/// Why a text is not a valid table, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Error(pub(crate) String);

/// Reads TOML. A type can refuse unknown keys.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    let document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| Error(error.to_string()))?;
    serde_json::from_value(table(document.as_table())).map_err(|error| Error(error.to_string()))
}

fn table(table: &dyn TableLike) -> Json {
    Json::Object(table.iter().map(|(key, item)| (key.to_owned(), item_of(item))).collect())
}

fn item_of(item: &Item) -> Json {
    match item {
        Item::None => Json::Null,
        Item::Value(value) => value_of(value),
        Item::Table(inner) => table(inner),
        Item::ArrayOfTables(tables) => Json::Array(tables.iter().map(|inner| table(inner)).collect()),
    }
}

fn value_of(value: &Value) -> Json {
    match value {
        Value::String(text) => Json::String(text.value().clone()),
        Value::Integer(number) => Json::from(*number.value()),
        Value::Float(number) => Json::from(*number.value()),
        Value::Boolean(flag) => Json::Bool(*flag.value()),
        Value::Datetime(moment) => Json::String(moment.value().to_string()),
        Value::Array(items) => Json::Array(items.iter().map(value_of).collect()),
        Value::InlineTable(inner) => table(inner),
    }
}
