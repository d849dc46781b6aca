//! LH0412: an unknown skill.

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::world::{NameKind, same_name};

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for (_, step) in context.model.own_steps().filter(|(_, step)| step.action.key() == "prompt") {
        let skill = step.action.value().and_then(|value| value.get("skill"));
        let Some((node, name)) = skill.and_then(|node| Some((node, node.as_text()?))) else { continue };
        let known = context.world.names(NameKind::Skill);
        if !known.iter().any(|candidate| same_name(candidate, name)) {
            out.push(
                Diagnostic::error("LH0412", node.span, format!("there is no skill `{name}`"))
                    .label("unknown skill")
                    .did_you_mean(name, known.iter().map(String::as_str), |_| {
                        Some("put it into `.longhaul/skills/`, `.claude/skills/` or `.agents/skills/`, as `<name>/SKILL.md`".to_owned())
                    }),
            );
        }
    }
}
