//! By what a text is known: the hash of what it means, and the hash of how it is written.
//!
//! **Invariant:** texts that differ in layout, comments or the order of keys alone mean the same. Steps of Valet without an id have
//! the one of their place, so giving them that one changes nothing.

use longhaul_core::Json;
use longhaul_core::shelf::Text;
use serde_json::Map;
use sha2::{Digest, Sha256};

use crate::dialect::Dialect;
use crate::source::{self, Format, Node, Sources};

/// Lists of steps inside a step of Valet.
const INNER: [&str; 3] = ["then", "else", "steps"];

/// A text with what it is known by; `None` if it cannot be read.
pub fn known(file: &str, text: &str) -> Option<Text> {
    let mut sources = Sources::default();
    let id = sources.add(file, text);
    let node = source::read(&sources, id, Format::of(file), &mut Vec::new())?;
    let is_valet = Dialect::of(&node) == Dialect::Valet;
    let mut value = serde_json::from_str(text).unwrap_or_else(|_| node.to_json());
    if is_valet {
        name_steps(&mut value, "step");
    }
    let hash = sha256(canonical(&value).as_bytes());
    Some(Text {
        hash,
        raw: sha256(text.as_bytes()),
        self_modification: !is_valet || allows(&node),
        text: text.to_owned(),
    })
}

/// `sha256:` and the hash in hex.
pub fn sha256(bytes: &[u8]) -> String {
    let digits: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{digits}")
}

fn allows(node: &Node) -> bool {
    let allowed = node.get("constraints").and_then(|constraints| constraints.get("allowSelfModification"));
    allowed.and_then(Node::as_bool) == Some(true)
}

/// Gives each step without an id the one of its place: `step[0]`, `step[0]_then[1]`.
fn name_steps(holder: &mut Json, prefix: &str) {
    let key = if prefix == "step" { "steps" } else { prefix.rsplit('_').next().unwrap_or_default() };
    let Some(steps) = holder.get_mut(key).and_then(Json::as_array_mut) else { return };
    for (at, step) in steps.iter_mut().enumerate() {
        let path = format!("{prefix}[{at}]");
        if let Some(fields) = step.as_object_mut()
            && fields.get("id").and_then(Json::as_str).is_none_or(str::is_empty)
        {
            fields.insert("id".to_owned(), Json::String(path.clone()));
        }
        INNER.iter().for_each(|inner| name_steps(step, &format!("{path}_{inner}")));
    }
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

/// `1.0` is `1`, as others write it.
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
    fn steps_of_valet_are_known_by_their_places() {
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
    fn only_files_of_valet_forbid_proposals_by_silence() {
        let valet = |more: &str| format!(r#"{{"steps":[{{"type":"notify","content":"x"}}]{more}}}"#);
        let takes = |text: &str| known("x.yaml", text).unwrap().self_modification;
        assert!(!takes(&valet("")));
        assert!(takes(&valet(r#","constraints":{"allowSelfModification":true}"#)));
        assert!(takes("steps:\n- run: ls\n"));
        assert!(known("x.yaml", "a: [").is_none());
    }
}
