//! How much of a result a host gets to see: all of it while it is small, else what it consists of.
//!
//! **Invariant:** what is shown is never longer than [`CHARS_MAX`]; what is left out can be fetched, and says so.

use serde_json::{Map, json};

use crate::Json;
use crate::plan::{Output, Show};

/// Results up to this length are shown whole where nothing else is said.
pub const INLINE_CHARS_MAX: usize = 10_000;
/// Nothing longer is ever shown.
pub const CHARS_MAX: usize = 50_000;

/// A result as its step lets it be shown.
pub fn shown(id: &str, output: &Output, value: &Json) -> Json {
    let size = size(value);
    // A question that nobody answered says how to continue.
    if value.get("timeout") == Some(&Json::Bool(true)) {
        return whole(id, value);
    }
    let small = match output.show {
        Show::Full => size <= CHARS_MAX,
        Show::Auto => size <= INLINE_CHARS_MAX,
        Show::Summary | Show::None => false,
    };
    if small {
        return value.clone();
    }
    let mut manifest = manifest(id, size);
    if output.show != Show::None {
        structure(value, &mut manifest);
        partial(value, &output.keys, &mut manifest);
    }
    whole(id, &Json::Object(manifest))
}

/// A value as it is, unless nobody could read it; then how to get at its parts.
pub fn whole(id: &str, value: &Json) -> Json {
    let size = size(value);
    if size <= CHARS_MAX {
        return value.clone();
    }
    json!({
        "_truncated": true,
        "_original_size": size,
        "_message": format!("the result of `{id}` has {size} characters; ask for one key of it at a time"),
    })
}

fn manifest(id: &str, size: usize) -> Map<String, Json> {
    let entries = [
        ("_manifest", Json::Bool(true)),
        ("_step_id", id.into()),
        ("_size", size.into()),
        ("_retrievable", Json::Bool(true)),
    ];
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// What a value consists of.
fn structure(value: &Json, manifest: &mut Map<String, Json>) {
    match value {
        Json::Object(fields) => {
            manifest.insert("_keys".to_owned(), fields.keys().cloned().collect());
            let sizes: Map<String, Json> =
                fields.iter().map(|(key, value)| (key.clone(), size(value).into())).collect();
            manifest.insert("_key_sizes".to_owned(), sizes.into());
        }
        Json::Array(items) => {
            manifest.insert("_length".to_owned(), items.len().into());
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

/// The fields that a summary shows all the same.
fn partial(value: &Json, keys: &[String], manifest: &mut Map<String, Json>) {
    let named: Map<String, Json> = keys.iter().filter_map(|key| Some((key.clone(), value.get(key)?.clone()))).collect();
    if !named.is_empty() {
        manifest.insert("_partial".to_owned(), named.into());
    }
}

/// How long a value is when it is written down.
fn size(value: &Json) -> usize {
    value.to_string().chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(show: Show, keys: &[&str], value: &Json) -> Json {
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        shown("load", &Output { show, keys, ..Output::default() }, value)
    }

    fn long(chars: usize) -> Json {
        json!({"n": 1, "text": "x".repeat(chars)})
    }

    #[test]
    fn small_results_are_inline_and_larger_ones_a_manifest() {
        assert_eq!(of(Show::Auto, &[], &long(9_000)), long(9_000));
        let manifest = of(Show::Auto, &[], &long(12_000));
        assert_eq!(
            manifest,
            json!({
                "_manifest": true, "_step_id": "load", "_size": 12_017, "_retrievable": true,
                "_keys": ["n", "text"], "_key_sizes": {"n": 1, "text": 12_002},
            })
        );
        assert_eq!(of(Show::Auto, &[], &json!(["x".repeat(11_000), 2]))["_length"], json!(2));
    }

    #[test]
    fn what_is_full_is_cut_only_where_nobody_could_read_it() {
        assert_eq!(of(Show::Full, &[], &long(40_000)), long(40_000));
        assert_eq!(of(Show::Full, &[], &long(60_000))["_keys"], json!(["n", "text"]));
    }

    #[test]
    fn a_summary_shows_the_keys_that_it_names_and_nothing_shows_no_structure() {
        assert_eq!(of(Show::Summary, &["n", "gone"], &long(5))["_partial"], json!({"n": 1}));
        let none = of(Show::None, &["n"], &long(5));
        assert!(none.get("_keys").is_none() && none.get("_partial").is_none(), "{none}");
        assert_eq!(none["_size"], json!(22));
    }

    #[test]
    fn nothing_is_longer_than_the_cap() {
        let partial = of(Show::Summary, &["text"], &long(60_000));
        assert_eq!((&partial["_truncated"], &partial["_manifest"]), (&json!(true), &Json::Null));
        assert_eq!(whole("load", &json!("x".repeat(60_000)))["_original_size"], json!(60_002));
    }

    #[test]
    fn a_question_without_an_answer_is_never_trimmed() {
        let value = json!({"timeout": true, "text": "x".repeat(20_000)});
        assert_eq!(of(Show::None, &[], &value), value);
    }
}
