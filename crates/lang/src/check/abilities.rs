//! LH0415: a step needs an ability that its agent does not have, and nothing can replace it.

use std::collections::HashSet;

use longhaul_core::plan::StepIx;

use super::meant::{Meant, agent_in};
use super::{Context, agents};
use crate::diagnostic::Diagnostic;
use crate::source::{Node, Span};
use crate::world::{Able, NameKind};

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    let mut said = HashSet::new();
    for meant in Meant::all(context) {
        for need in needs(context, &meant) {
            // Several steps may use the same agent.
            let findings = unmet(context, &meant, &need).into_iter();
            out.extend(findings.filter(|finding| said.insert((finding.span, need.lacks))));
        }
    }
}

/// An ability that a step needs.
struct Need {
    /// The place that asks for it.
    span: Span,
    can: fn(Able) -> bool,
    lacks: &'static str,
    remedy: &'static str,
}

fn needs(context: &Context<'_, '_>, meant: &Meant<'_>) -> Vec<Need> {
    let tools = meant.get("tools").map(|node| Need {
        span: node.span,
        can: |able| able.tools,
        lacks: "cannot be given a list of tools",
        remedy: "leave `tools` out",
    });
    let looking = looking(context, meant).map(|node| Need {
        span: node.span,
        can: |able| able.read_only,
        lacks: "cannot be kept from writing",
        remedy: "write `sandbox: edit`",
    });
    tools.into_iter().chain(looking).chain(servers(meant)).collect()
}

fn servers(meant: &Meant<'_>) -> impl Iterator<Item = Need> {
    let named = meant.get("mcp").filter(|node| node.items().is_some_and(|items| !items.is_empty()));
    let given = named.map(|node| Need {
        span: node.span,
        can: |able| able.mcp,
        lacks: "cannot be given MCP servers",
        remedy: "leave `mcp` out",
    });
    let only = meant.get("mcp_only").filter(|node| node.as_bool() == Some(true)).map(|node| Need {
        span: node.span,
        can: |able| able.mcp_only,
        lacks: "cannot leave its own MCP servers out",
        remedy: "leave `mcp_only` out",
    });
    given.into_iter().chain(only)
}

/// The place that makes an agent read-only: the step, or the persona.
fn looking<'n>(context: &Context<'_, '_>, meant: &Meant<'n>) -> Option<&'n Node> {
    if let Some((node, word)) = meant.text("sandbox") {
        return (word == "read-only").then_some(node);
    }
    let (node, persona) = meant.text("persona")?;
    let sandbox = context.world.described(NameKind::Persona, persona)?.sandbox;
    (sandbox.as_deref() == Some("read-only")).then_some(node)
}

/// Whether an agent cannot change any file.
pub(super) fn only_looks(context: &Context<'_, '_>, ix: StepIx) -> bool {
    let meant = Meant::of(context, context.model.unit_of(ix), context.model.step(ix));
    looking(context, &meant).is_some()
}

/// One finding for each agent that would have to do it and cannot.
fn unmet(context: &Context<'_, '_>, meant: &Meant<'_>, need: &Need) -> Vec<Diagnostic> {
    let lacks = |agent: &str| context.world.able(agent).is_some_and(|able| !(need.can)(able));
    let own = meant.text("backend").filter(|(_, agent)| lacks(agent));
    let own = own.map(|(node, agent)| finding(context, need, need.span, agent).related(node.span, "who does it"));
    let others = meant.fallback().filter(|(_, entry)| lacks(agent_in(entry))).map(|(node, entry)| {
        finding(context, need, node.span, agent_in(entry)).related(need.span, "what is asked of it")
    });
    own.into_iter().chain(others).collect()
}

fn finding(context: &Context<'_, '_>, need: &Need, span: Span, agent: &str) -> Diagnostic {
    let can = |agent: &&str| context.world.able(agent).is_some_and(need.can);
    let able: Vec<&str> = agents::backends(context).into_iter().filter(can).collect();
    let remedy = need.remedy;
    let help = if able.is_empty() {
        remedy.to_owned()
    } else {
        format!("{remedy}, or choose an agent that can: {}", able.join(", "))
    };
    Diagnostic::error("LH0415", span, format!("`{agent}` {}", need.lacks)).label(format!("not by `{agent}`")).help(help)
}
