//! LH0416: an entry of `fallback` that is a slip of an agent's name. LH0417: nobody to continue with at a limit.

use std::collections::HashSet;

use super::meant::{Meant, agent_in};
use super::{Context, agents};
use crate::diagnostic::{Diagnostic, closest, suggests};
use crate::source::Span;

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    let known = agents::backends(context);
    let mut said: HashSet<Span> = HashSet::new();
    for meant in Meant::all(context) {
        let searches = suggests(out);
        let entries = meant.fallback().filter(|_| searches);
        let slips = entries.filter_map(|(node, entry)| slip(&known, node.span, entry));
        // Several steps may mean the same agent.
        out.extend(slips.chain(nobody(&meant)).filter(|finding| said.insert(finding.span)));
    }
}

/// Whatever names no agent is a model, so only what looks like an agent is a mistake. Models have numbers in
/// their names, agents do not.
fn slip(known: &[&str], span: Span, entry: &str) -> Option<Diagnostic> {
    let name = agent_in(entry);
    if known.contains(&name) || name.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let best = closest(name, known)?;
    let meant = entry.replacen(name, best, 1);
    Some(
        Diagnostic::error("LH0416", span, format!("`fallback` names `{name}`, which is no agent"))
            .label("would be taken for a model")
            .help(format!("did you mean `{meant}`?")),
    )
}

fn nobody(meant: &Meant<'_>) -> Option<Diagnostic> {
    let (node, _) = meant.text("on_limit").filter(|(_, word)| *word == "fallback")?;
    let none = meant.fallback().next().is_none();
    none.then(|| {
        Diagnostic::error("LH0417", node.span, "at a limit nobody is there to continue")
            .label("needs a `fallback`")
            .help("name who takes over, as in `fallback: [codex]`, or write `on_limit: wait`")
    })
}
