//! What the hash of a workflow's meaning depends on in this dialect.

use longhaul_core::Json;

use crate::source::Node;

/// Lists of steps inside a step of Valet.
const INNER: [&str; 3] = ["then", "else", "steps"];

pub(in crate::dialect) fn allows_proposals(node: &Node) -> bool {
    let allowed = node.get("constraints").and_then(|constraints| constraints.get("allowSelfModification"));
    allowed.and_then(Node::as_bool) == Some(true)
}

/// Gives each step without an id the one of its place: `step[0]`, `step[0]_then[1]`.
pub(in crate::dialect) fn name_steps(holder: &mut Json, prefix: &str) {
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
