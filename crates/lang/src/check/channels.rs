//! LH0407: a channel that is not configured.

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::model::build::one_or_many;
use crate::source::Node;
use crate::world::NameKind;

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for unit in context.model.units.iter().filter(|unit| unit.own) {
        if let Some(channels) = unit.node.get("on_failure").and_then(|node| node.get("notify")) {
            each(context, channels, out);
        }
    }
    for (_, step) in context.model.own_steps().filter(|(_, step)| step.action.key() == "notify") {
        if let Some(channels) = step.action.value() {
            each(context, channels, out);
        }
    }
}

fn each(context: &Context<'_, '_>, channels: &Node, out: &mut Vec<Diagnostic>) {
    let known = context.world.names(NameKind::Channel);
    for node in one_or_many(channels) {
        let Some(name) = node.as_text().filter(|name| !known.iter().any(|candidate| candidate == name)) else {
            continue;
        };
        out.push(
            Diagnostic::error("LH0407", node.span, format!("there is no channel `{name}`"))
                .label("unknown channel")
                .did_you_mean(name, known.iter().map(String::as_str), |known| {
                    Some(format!("known are: {}; or add it to `.longhaul/config.toml`", known.join(", ")))
                }),
        );
    }
}
