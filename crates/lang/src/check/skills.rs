//! LH0412: an unknown skill.

use super::Context;
use super::meant::Meant;
use crate::diagnostic::Diagnostic;
use crate::source::Node;
use crate::world::{NameKind, same_name};

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for (_, step) in context.model.own_steps().filter(|(_, step)| step.action.key() == "prompt") {
        let skill = step.action.value().and_then(|value| value.get("skill"));
        out.extend(skill.and_then(|node| unknown(context, node)));
    }
    let mut taught: Vec<&Node> =
        Meant::all(context).iter().filter_map(|meant| meant.get("skills")?.items()).flatten().collect();
    taught.sort_by_key(|node| node.span);
    taught.dedup_by_key(|node| node.span);
    out.extend(taught.into_iter().filter_map(|node| unknown(context, node)));
}

fn unknown(context: &Context<'_, '_>, node: &Node) -> Option<Diagnostic> {
    let name = node.as_text()?;
    let known = context.world.names(NameKind::Skill);
    if known.iter().any(|candidate| same_name(candidate, name)) {
        return None;
    }
    let place = "put it into `.longhaul/skills/`, `.claude/skills/` or `.agents/skills/`, as `<name>/SKILL.md`";
    let error = Diagnostic::error("LH0412", node.span, format!("there is no skill `{name}`")).label("unknown skill");
    Some(error.did_you_mean(name, known.iter().map(String::as_str), |_| Some(place.to_owned())))
}
