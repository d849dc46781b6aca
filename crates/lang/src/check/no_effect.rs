//! LH0514: keys that are valid but have no effect.

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::source::Node;

const GATES: &[&str] = &["guardrail", "confidence", "eval"];

/// Keys of a step, with what to use instead.
const OF_STEPS: &[(&str, &str)] = &[
    ("writes", "check the diff in a `run` step after it, and fail there"),
    ("requires", "check for the program in a `run` step before it, as in `command -v git`"),
];

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for unit in context.model.units.iter().filter(|unit| unit.own) {
        header(unit.node, out);
        for (_, profile) in unit.node.get("agents").and_then(Node::entries).unwrap_or_default() {
            team(profile, out);
        }
        if let Some(agent) = unit.node.get("defaults").and_then(|defaults| defaults.get("agent")) {
            team(agent, out);
        }
    }
    for (_, step) in context.model.own_steps() {
        for (key, instead) in OF_STEPS {
            tell(step.node, key, key, instead, out);
        }
        if let Some(agent) = step.node.get("agent") {
            team(agent, out);
        }
    }
}

fn header(node: &Node, out: &mut Vec<Diagnostic>) {
    if let Some(gates) = node.get("gates") {
        for gate in GATES {
            let instead = "use `review`, `approve` or a `run` step in its place";
            tell(gates, gate, &format!("gates.{gate}"), instead, out);
        }
    }
    if let Some(limits) = node.get("limits") {
        let instead = "`longhaul status` shows what the run has used; `on_exceed` says what happens at the limit";
        tell(limits, "alert_at", "limits.alert_at", instead, out);
    }
    let instead = "add the trigger by hand: `longhaul triggers add NAME WORKFLOW --cron LINE`, or `--webhook PATH`";
    tell(node, "triggers", "triggers", instead, out);
}

fn team(agent: &Node, out: &mut Vec<Diagnostic>) {
    tell(agent, "team", "team", "make a step of each worker, and one that merges their results", out);
}

fn tell(node: &Node, key: &str, shown: &str, instead: &str, out: &mut Vec<Diagnostic>) {
    let Some((place, _)) = node.entry(key).filter(|(_, value)| asks_for_something(value)) else { return };
    out.push(
        Diagnostic::warning("LH0514", place.span, format!("`{shown}` has no effect in this version"))
            .label("checked, but not used")
            .help(instead),
    );
}

/// Whether a value asks for something. An empty list and `false` do not.
fn asks_for_something(value: &Node) -> bool {
    let is_off = value.get("enabled").and_then(Node::as_bool) == Some(false);
    !is_off && value.items().is_none_or(|items| !items.is_empty())
}
