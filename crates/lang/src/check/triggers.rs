//! LH0512: triggers with no source, or with more than one.

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::source::Node;

const SOURCES: &[&str] = &["cron", "webhook", "github", "event", "files"];

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for unit in context.model.units.iter().filter(|unit| unit.own) {
        for trigger in unit.node.get("triggers").and_then(Node::items).unwrap_or_default() {
            let given: Vec<(&Node, &Node)> = SOURCES.iter().filter_map(|key| trigger.entry(key)).collect();
            match given.as_slice() {
                [_] => {}
                _ if trigger.entries().is_none() => {}
                [] => out.push(
                    Diagnostic::error("LH0512", trigger.span, "this trigger does not say what fires it")
                        .label("nothing to wait for")
                        .help(format!("give it one of: {}", SOURCES.join(", "))),
                ),
                [_, (second, _), ..] => out.push(
                    Diagnostic::error("LH0512", second.span, "a trigger waits for one thing")
                        .label("a second one")
                        .help("make two triggers"),
                ),
            }
        }
    }
}
