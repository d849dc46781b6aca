//! Translates agent007 files into native keys.
//!
//! A file is a list of steps that depend on each other by `depends_on` and by the names in `inputs`; that is a native
//! graph. The extras of its step types (a verdict that sends the work back, a choice among dependents) become
//! `rewind` and `next`.
//!
//! **Invariant:** every step of the file is a step of the result, in the same order.

mod condition;
mod settings;
mod step;
mod template;
mod verdict;
mod wiring;

use super::compose::{Entries, flow_list};
use super::reader::Reader;
use crate::diagnostic::Diagnostic;
use crate::source::Node;
use template::Reads;
use wiring::Wiring;

const TOP_KEYS: &[&str] = &["name", "description", "steps", "budget", "reliability", "eval_gate"];
/// Top-level keys that only agent007 has.
const TELLING_TOP_KEYS: &[&str] = &["budget", "reliability", "eval_gate"];
/// Keys of a step that only agent007 has.
const TELLING_STEP_KEYS: &[&str] =
    &["requires_approval", "approval_prompt", "skill", "evaluate", "routes", "workers", "extract"];

/// Whether a tree is an agent007 file. A file with only `id`, `agent`, `prompt`, `output` and `depends_on` is valid
/// native text.
pub fn recognises(node: &Node) -> bool {
    let Some(steps) = node.get("steps").and_then(Node::items) else { return false };
    TELLING_TOP_KEYS.iter().any(|key| node.get(key).is_some()) || steps.iter().any(is_telling)
}

fn is_telling(step: &Node) -> bool {
    let typed = step.get("type").and_then(Node::scalar).is_some_and(|word| step::TYPES.contains(&word));
    let takes_names = step.get("inputs").is_some_and(|inputs| inputs.items().is_some());
    typed || takes_names || TELLING_STEP_KEYS.iter().any(|key| step.get(key).is_some())
}

/// The file in native keys.
pub fn to_native(node: &Node, out: &mut Vec<Diagnostic>) -> Node {
    let Some(mut file) = Reader::open(node, "the workflow", TOP_KEYS, out) else { return node.clone() };
    let mut native = Entries::at(node);
    native.put_some("name", file.filled_text("name").cloned());
    native.put_some("description", file.text("description").cloned());
    let mut reads = Reads::default();
    let steps = steps(&mut file, &mut reads);
    native.put_some("inputs", reads.inputs());
    settings::put(&mut file, &mut native);
    native.put_some("steps", steps);
    native.block()
}

fn steps(file: &mut Reader<'_, '_>, reads: &mut Reads) -> Option<Node> {
    // A native rule reports a missing list.
    let steps = file.list("steps");
    let wiring = Wiring::of(steps, file.out());
    let native = steps.iter().filter_map(|step| step::to_native(step, &wiring, reads, file.out())).collect();
    file.get("steps").map(|origin| Node::seq(origin.span, native))
}

/// A list of ids on one line, unless it is empty.
fn id_list(origin: &Node, ids: Vec<Node>) -> Option<Node> {
    (!ids.is_empty()).then(|| flow_list(origin, ids))
}

#[cfg(test)]
mod tests;
