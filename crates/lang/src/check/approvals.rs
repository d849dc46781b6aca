//! LH0516: approvals that no person can give.

use std::collections::BTreeSet;

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::source::Node;

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for unit in context.model.units.iter().filter(|unit| unit.own) {
        let common = unit.node.get("defaults").and_then(|defaults| defaults.get("approvals"));
        out.extend(common.and_then(people));
    }
    for (ix, step) in context.model.own_steps() {
        let own = step.node.get("approvals");
        out.extend(own.and_then(people));
        let defaults = context.model.unit_of(ix).node.get("defaults");
        let Some(rule) = own.or_else(|| defaults?.get("approvals")) else { continue };
        out.extend(answers(step.action.key(), step.node, rule, own.is_some()));
    }
}

/// Reports a rule that needs more people than may answer.
fn people(rule: &Node) -> Option<Diagnostic> {
    let from = rule.get("from").unwrap_or(rule);
    let asked = count(rule);
    if from.as_text() == Some("initiator") {
        let else_wanted = rule.get("not_starter").filter(|wanted| wanted.as_bool() == Some(true));
        return match (else_wanted, asked) {
            (Some(node), _) => Some(
                found(node, "who started the run is the only one who may answer, and may not")
                    .help("ask somebody else: `from: anyone`, `from: role:NAME`, or a list of people"),
            ),
            (None, Some((node, count))) if count > 1 => Some(
                found(node, format!("{count} people have to approve, but one person starts a run"))
                    .help("ask others as well: `from: anyone`, `from: role:NAME`, or a list of people"),
            ),
            _ => None,
        };
    }
    let names: BTreeSet<&str> = from.items()?.iter().filter_map(Node::as_text).collect();
    match asked.filter(|(_, count)| *count > names.len() as u64) {
        Some((node, count)) => Some(
            found(node, format!("{count} people have to approve, but the list has {}", names.len()))
                .related(from.span, "the list")
                .help("name more people, or ask for fewer approvals"),
        ),
        None => names.is_empty().then(|| found(from, "the list of people is empty").help("name who may answer")),
    }
}

/// Reports a step that several people cannot answer in the same way.
fn answers(action: &str, step: &Node, rule: &Node, is_own: bool) -> Option<Diagnostic> {
    let (node, count) = count(rule).filter(|(_, count)| *count > 1)?;
    if action == "ask" && is_own {
        let why = format!("`ask` takes one answer, and this wants {count}");
        return Some(found(node, why).help("put an `approve` step behind it, with this `count`"));
    }
    let choices = step.get("choices").filter(|_| action == "approve")?;
    let why = format!("{count} people have to approve, so they can only say yes or no");
    Some(found(choices, why).related(node.span, "the number of people").help("leave out `choices`, or `count`"))
}

fn count(rule: &Node) -> Option<(&Node, u64)> {
    let node = rule.get("count")?;
    Some((node, node.scalar_json()?.as_u64()?))
}

fn found(node: &Node, why: impl Into<String>) -> Diagnostic {
    Diagnostic::error("LH0516", node.span, why).label("nobody can give that")
}
