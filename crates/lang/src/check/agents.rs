//! LH0404 and LH0405: agents and backends that are not defined.

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::model::{Step, Unit};
use crate::source::Node;
use crate::world::{NameKind, same_name};

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for unit in context.model.units.iter().filter(|unit| unit.own) {
        for (_, profile) in unit.node.get("agents").and_then(Node::entries).unwrap_or_default() {
            in_full(context, profile, out);
        }
        if let Some(agent) = unit.node.get("defaults").and_then(|defaults| defaults.get("agent")) {
            either(context, unit, agent, out);
        }
    }
    for (ix, step) in context.model.own_steps() {
        if let Some(agent) = agent_of(step) {
            either(context, context.model.unit_of(ix), agent, out);
        }
    }
}

fn agent_of<'n>(step: &Step<'n>) -> Option<&'n Node> {
    step.node.get("agent").filter(|_| step.action.key() == "prompt")
}

fn either(context: &Context<'_, '_>, unit: &Unit<'_>, agent: &Node, out: &mut Vec<Diagnostic>) {
    match agent.as_text() {
        Some(name) => by_name(context, unit, agent, name, out),
        None => in_full(context, agent, out),
    }
}

fn by_name(context: &Context<'_, '_>, unit: &Unit<'_>, node: &Node, name: &str, out: &mut Vec<Diagnostic>) {
    let mut known = profiles(unit);
    for kind in [NameKind::Profile, NameKind::Persona, NameKind::Backend] {
        known.extend(context.world.names(kind).iter().map(String::as_str));
    }
    if !known.iter().any(|candidate| same_name(candidate, name)) {
        out.push(
            Diagnostic::error("LH0404", node.span, format!("there is no agent `{name}`"))
                .label("no profile, persona or backend has this name")
                .did_you_mean(name, known, |known| Some(define(known))),
        );
    }
}

fn in_full(context: &Context<'_, '_>, agent: &Node, out: &mut Vec<Diagnostic>) {
    let named = |key: &str| agent.get(key).and_then(|node| Some((node, node.as_text()?)));
    if let Some((node, name)) = named("persona") {
        persona(context, node, name, out);
    }
    for worker in agent.get("team").and_then(Node::items).unwrap_or_default() {
        if let Some((node, name)) = worker.get("persona").and_then(|node| Some((node, node.as_text()?))) {
            persona(context, node, name, out);
        }
    }
    if let Some((node, name)) = named("backend") {
        let known = backends(context);
        if !known.contains(&name) {
            out.push(
                Diagnostic::error("LH0405", node.span, format!("there is no backend `{name}`"))
                    .label("unknown backend")
                    .did_you_mean(name, known, |known| Some(format!("known are: {}", known.join(", ")))),
            );
        }
    }
}

/// All backends: Longhaul's own, and the names in the settings.
pub(super) fn backends<'a>(context: &'a Context<'_, '_>) -> Vec<&'a str> {
    let own = context.world.names(NameKind::Backend);
    let configured = context.world.names(NameKind::Profile).iter().filter(|name| !own.contains(name));
    own.iter().chain(configured).map(String::as_str).collect()
}

fn persona(context: &Context<'_, '_>, node: &Node, name: &str, out: &mut Vec<Diagnostic>) {
    let known = context.world.names(NameKind::Persona);
    if !known.iter().any(|candidate| same_name(candidate, name)) {
        out.push(
            Diagnostic::error("LH0404", node.span, format!("there is no persona `{name}`"))
                .label("unknown persona")
                .did_you_mean(name, known.iter().map(String::as_str), |known| Some(define(known))),
        );
    }
}

fn define(known: &[&str]) -> String {
    let place = "put a file `.longhaul/personas/<name>.md` into the project";
    if known.is_empty() { place.to_owned() } else { format!("known are: {}; or {place}", known.join(", ")) }
}

fn profiles<'n>(unit: &Unit<'n>) -> Vec<&'n str> {
    let entries = unit.node.get("agents").and_then(Node::entries).unwrap_or_default();
    entries.iter().filter_map(|(key, _)| key.scalar()).collect()
}
