//! LH0418: steps that share a conversation, but not the agent whose it is.

use std::collections::HashMap;

use longhaul_core::plan::StepIx;

use super::Context;
use super::meant::Meant;
use crate::diagnostic::Diagnostic;
use crate::source::Node;

/// Who first takes part in a conversation.
struct First<'n> {
    thread: &'n Node,
    agent: Option<(&'n Node, &'n str)>,
}

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    let mut threads: HashMap<&str, First<'_>> = HashMap::new();
    for (ix, meant) in Meant::everywhere(context) {
        let Some((thread, name)) = shared(&meant) else { continue };
        let agent = meant.text("backend");
        match threads.get(name) {
            None => drop(threads.insert(name, First { thread, agent })),
            Some(first) if first.agent.map(|(_, name)| name) == agent.map(|(_, name)| name) => {}
            Some(first) => out.extend(finding(context, ix, (thread, name, agent), first)),
        }
    }
}

/// The conversation that a step shares, and where that is said.
pub(super) fn shared<'n>(meant: &Meant<'n>) -> Option<(&'n Node, &'n str)> {
    meant.text("thread").filter(|(_, name)| !matches!(*name, "" | "new" | "@new"))
}

fn finding<'n>(
    context: &Context<'_, 'n>,
    ix: StepIx,
    (thread, name, agent): (&Node, &str, Option<(&'n Node, &'n str)>),
    first: &First<'_>,
) -> Option<Diagnostic> {
    if !context.model.unit_of(ix).own {
        return None;
    }
    let who = |agent: Option<(&Node, &str)>| {
        agent.map_or_else(|| "whoever the engine chooses".to_owned(), |(_, name)| format!("`{name}`"))
    };
    let message = format!("the conversation `{name}` is of {}, not of {}", who(first.agent), who(agent));
    let place = agent.map_or(thread.span, |(node, _)| node.span);
    let before = first.agent.map_or(first.thread.span, |(node, _)| node.span);
    Some(
        Diagnostic::error("LH0418", place, message)
            .label("an agent cannot continue with the conversation of another")
            .related(before, "who begins it")
            .help("name the same agent in all steps of a `thread`, or leave `thread` out here"),
    )
}
