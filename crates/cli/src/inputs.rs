//! Reads inputs as people type them: NAME=VALUE.
//!
//! **Invariant:** the declaration in the workflow decides how a text is read. Longhaul reads it as JSON if that matches
//! the declared type, else as text if only text matches: people do not quote a version number.

use anyhow::{Result, anyhow, bail};
use indexmap::IndexMap;
use longhaul_core::Json;
use longhaul_core::plan::{Input, Plan};
use longhaul_core::schema::mismatch;
use longhaul_core::value::{Unread, read as read_json};

/// Name and text of each pair.
pub(crate) fn pairs(given: &[String]) -> Result<Vec<(&str, &str)>> {
    let pair = |pair: &'_ String| match pair.split_once('=') {
        Some(_) => Ok(()),
        None => bail!("`{pair}` is not NAME=VALUE"),
    };
    given.iter().try_for_each(pair)?;
    Ok(given.iter().filter_map(|pair| pair.split_once('=')).collect())
}

/// The values of pairs, read for a workflow. Without a workflow: JSON if the text is JSON, else the text.
pub(crate) fn read(given: &[String], plan: Option<&Plan>) -> Result<IndexMap<String, Json>> {
    let declared =
        |name: &str| plan.and_then(|plan| plan.main().inputs.iter().find(|(known, _)| known.as_str() == name));
    let read = |(name, text): (&str, &str)| {
        let value = value(text, declared(name).map(|(_, input)| input));
        Ok((name.to_owned(), value.map_err(|why| anyhow!("the input `{name}` cannot be used: {why}"))?))
    };
    pairs(given)?.into_iter().map(read).collect()
}

/// A value as people type it: JSON if it is valid JSON, else the text.
pub(crate) fn typed(text: &str) -> Result<Json, String> {
    match read_json(text) {
        Err(Unread::NotJson(_)) => Ok(Json::String(text.to_owned())),
        read => read.map_err(Unread::why),
    }
}

fn value(text: &str, input: Option<&Input>) -> Result<Json, String> {
    let Some(input) = input else { return typed(text) };
    let written = Json::String(text.to_owned());
    let fits = |value: &Json| mismatch(&input.schema, value).is_none() || (value.is_null() && input.optional);
    let wants_text = input.schema.get("type").is_some_and(|kind| kind == "string");
    match typed(text) {
        Ok(parsed) if fits(&parsed) => Ok(parsed),
        Err(why) if !wants_text => Err(why),
        _ if fits(&written) => Ok(written),
        unfit => unfit,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn as_type(kind: &str, text: &str) -> Json {
        let input = Input { schema: json!({"type": kind}), default: None, optional: false, description: None };
        value(text, Some(&input)).unwrap()
    }

    #[test]
    fn the_declared_type_decides_how_a_text_is_read() {
        assert_eq!(as_type("string", "1.2"), json!("1.2"));
        assert_eq!(as_type("string", "true"), json!("true"));
        assert_eq!(as_type("string", "null"), json!("null"));
        assert_eq!(as_type("string", "\"1.2\""), json!("1.2"), "as it had to be written once");
        assert_eq!(as_type("string", "{\"a\": 1}"), json!("{\"a\": 1}"));
        assert_eq!(as_type("number", "1.2"), json!(1.2));
        assert_eq!(as_type("array", "[1]"), json!([1]));
        assert_eq!(as_type("integer", "\"1\""), json!("1"), "what fits in no way is told as JSON");
    }

    #[test]
    fn without_a_declaration_json_is_json() {
        assert_eq!(value("1.2", None), Ok(json!(1.2)));
        assert_eq!(value("one", None), Ok(json!("one")));
        assert!(value("[123456789012345678901]", None).unwrap_err().contains("64 bits"));
        assert!(pairs(&["a".to_owned()]).unwrap_err().to_string().contains("`a` is not NAME=VALUE"));
    }
}
