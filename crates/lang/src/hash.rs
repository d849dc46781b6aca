//! Computes the two hashes of a text: that of its meaning, and that of its bytes.
//!
//! **Invariant:** texts that differ only in layout, comments or the order of keys have the same meaning. A dialect can give
//! a step without an id the id of its place, so writing that id changes nothing.

use longhaul_core::Json;
use longhaul_core::registry::WorkflowText;
use serde_json::Map;
use sha2::{Digest, Sha256};

use crate::dialect;
use crate::source::{self, Format, Sources};

/// A text with its hashes; `None` if it cannot be read.
pub fn known(file: &str, text: &str) -> Option<WorkflowText> {
    let mut sources = Sources::default();
    let id = sources.add(file, text);
    let node = source::read(&sources, id, Format::of(file), &mut Vec::new())?;
    let mut value = serde_json::from_str(text).unwrap_or_else(|_| node.to_json());
    let self_modification = dialect::identify(&node, &mut value);
    let hash = sha256(canonical(&value).as_bytes());
    Some(WorkflowText { hash, raw: sha256(text.as_bytes()), self_modification, text: text.to_owned() })
}

/// `sha256:` and the hash in hex.
pub fn sha256(bytes: &[u8]) -> String {
    let digits: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{digits}")
}

/// Compact JSON with sorted keys.
fn canonical(value: &Json) -> String {
    match value {
        Json::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        Json::Object(map) => format!("{{{}}}", sorted(map).join(",")),
        Json::Number(number) => whole(number).map_or_else(|| number.to_string(), |whole| whole.to_string()),
        other => other.to_string(),
    }
}

fn sorted(map: &Map<String, Json>) -> Vec<String> {
    let mut keys: Vec<&String> = map.keys().collect();
    keys.sort();
    keys.iter().map(|key| format!("{}:{}", Json::String((*key).clone()), canonical(&map[*key]))).collect()
}

/// `1.0` becomes `1`, as in other systems.
fn whole(number: &serde_json::Number) -> Option<i64> {
    let float = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0 && float.abs() < 1e15)?;
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and small enough")]
    let whole = float as i64;
    Some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(text: &str) -> String {
        known("x.yaml", text).unwrap().hash
    }

    #[test]
    fn steps_without_an_id_are_known_by_their_places() {
        let vector = "sha256:eb85c9bf4a853ea684fc76ae1a511dcc8234b8d24ded7187ae2f82583274fe7e";
        assert_eq!(hash(r#"{"steps":[{"type":"notify","content":"x"}]}"#), vector);
        assert_eq!(hash(r#"{"steps": [{"id": "step[0]", "content": "x", "type": "notify"}]}"#), vector);
        assert_eq!(hash("steps:\n- type: notify # who\n  content: x\n"), vector);
        assert_ne!(hash(r#"{"steps":[{"type":"notify","content":"y"}]}"#), vector);
    }

    #[test]
    fn steps_inside_steps_have_places_too() {
        let without = r#"{"steps":[{"type":"conditional","condition":true,"then":[{"type":"notify","content":"x"}]}]}"#;
        let with = r#"{"steps":[{"id":"step[0]","type":"conditional","condition":true,"then":[{"id":"step[0]_then[0]","type":"notify","content":"x"}]}]}"#;
        assert_eq!(hash(without), hash(with));
    }

    #[test]
    fn layout_and_the_order_of_keys_mean_nothing() {
        assert_eq!(hash("b: 1.0\na: [x, 'y']\n"), hash("# why\n{\"a\": [\"x\", \"y\"], \"b\": 1}\n"));
        assert_ne!(hash("a: [x, y]"), hash("a: [y, x]"), "the order of a list does");
        let (first, second) = (known("x.yaml", "a: 1\n").unwrap(), known("x.yaml", "a:  1\n").unwrap());
        assert!(first.hash == second.hash && first.raw != second.raw);
    }

    #[test]
    fn a_dialect_can_forbid_proposals_by_silence() {
        let other = |more: &str| format!(r#"{{"steps":[{{"type":"notify","content":"x"}}]{more}}}"#);
        let takes = |text: &str| known("x.yaml", text).unwrap().self_modification;
        assert!(!takes(&other("")));
        assert!(takes(&other(r#","constraints":{"allowSelfModification":true}"#)));
        assert!(takes("steps:\n- run: ls\n"));
        assert!(known("x.yaml", "a: [").is_none());
    }
}
