//! Functions, tests and filters for templates, and the printing of values.

use std::cmp::Ordering;

use minijinja::value::ValueKind;
use minijinja::{Environment, Error, ErrorKind, Output, State, Value};

use super::outside;
use crate::Json;

pub(super) fn add(environment: &mut Environment<'static>) {
    environment.add_function("compare", compare);
    environment.add_function("ordered", ordered);
    environment.add_test("spelled", spelled);
    environment.add_filter("default", outside::default);
    environment.add_filter("d", outside::default);
    environment.add_filter("shell", shell);
    environment.add_filter("json", json);
    environment.add_filter("outline", outline);
    environment.add_filter("verdict", verdict);
}

/// Prints as Python does, or mappings and lists as JSON, and booleans and null in lower case. Notes references.
pub(super) fn print(python: bool, out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    if let Some(written) = outside::write(out, value) {
        return written;
    }
    match value.kind() {
        _ if python => minijinja::escape_formatter(out, state, value),
        ValueKind::Map | ValueKind::Seq | ValueKind::Iterable | ValueKind::Bool | ValueKind::None => {
            Ok(out.write_str(&json(value.clone())?)?)
        }
        _ => minijinja::escape_formatter(out, state, value),
    }
}

fn json(value: Value) -> Result<String, Error> {
    serde_json::to_string(&value).map_err(|error| Error::new(ErrorKind::InvalidOperation, error.to_string()))
}

/// Compares two numbers as numbers, two texts as text, and never a number with a text.
fn compare(left: Value, operator: &str, right: &str) -> Result<bool, Error> {
    let number = |text: &str| text.trim().replace('_', "").parse::<f64>().ok();
    let left = python(&left);
    let order = match (number(&left), number(right)) {
        (Some(left), Some(right)) => left.partial_cmp(&right),
        (None, None) => Some(left.as_str().cmp(right)),
        _ => None,
    };
    holds(order, operator)
}

/// True only if both are numbers and the order holds.
fn ordered(left: Value, operator: &str, right: Value) -> Result<bool, Error> {
    let number =
        |value: &Value| (value.kind() == ValueKind::Number).then(|| f64::try_from(value.clone()).ok()).flatten();
    let order = number(&left).zip(number(&right)).and_then(|(left, right)| left.partial_cmp(&right));
    holds(order, operator)
}

fn holds(order: Option<Ordering>, operator: &str) -> Result<bool, Error> {
    let Some(order) = order else { return Ok(false) };
    match operator {
        "<" => Ok(order.is_lt()),
        "<=" => Ok(order.is_le()),
        ">" => Ok(order.is_gt()),
        ">=" => Ok(order.is_ge()),
        "==" => Ok(order.is_eq()),
        "!=" => Ok(order.is_ne()),
        other => Err(Error::new(ErrorKind::InvalidOperation, format!("`{other}` is not a comparison"))),
    }
}

/// Whether the value's Python or JSON spelling is this text.
fn spelled(value: Value, text: &str) -> bool {
    !value.is_undefined() && (python(&value) == text || json(value).is_ok_and(|json| json == text))
}

/// As Python prints it; text as it is.
fn python(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Quoted for a POSIX shell.
fn shell(text: String) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The structure of a value without its data.
fn outline(value: Value) -> Result<String, Error> {
    let value =
        serde_json::to_value(&value).map_err(|error| Error::new(ErrorKind::InvalidOperation, error.to_string()))?;
    Ok(outline_of(&value).to_string())
}

fn outline_of(value: &Json) -> Json {
    match value {
        Json::Object(map) => Json::Object(map.iter().map(|(key, value)| (key.clone(), outline_of(value))).collect()),
        Json::Array(items) => match items.first() {
            Some(first) => Json::Array(vec![outline_of(first), Json::String(format!("{} in all", items.len()))]),
            None => Json::Array(Vec::new()),
        },
        Json::String(_) => "text".into(),
        Json::Number(_) => "number".into(),
        Json::Bool(_) => "boolean".into(),
        Json::Null => Json::Null,
    }
}

/// The named field of a text that is one JSON object; otherwise nothing.
fn verdict(text: Value, field: &str) -> Value {
    let parsed = text.as_str().and_then(|text| serde_json::from_str::<Json>(text.trim()).ok());
    let found = parsed.as_ref().and_then(|value| value.as_object()?.get(field));
    found.map_or(Value::UNDEFINED, |value| Value::from(minijinja::value::Serde(value)))
}
