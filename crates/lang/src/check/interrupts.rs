//! LH0419: files that are to be put back after an interruption, but are not the step's alone.

mod beside;

use longhaul_core::plan::StepIx;

use super::Context;
use super::meant::Meant;
use super::threads::shared;
use crate::diagnostic::Diagnostic;
use crate::model::Step;
use crate::source::Node;

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for (ix, meant) in Meant::everywhere(context) {
        if let Some(said) = restores(context, ix).filter(|_| context.model.unit_of(ix).own) {
            out.extend(in_company(context, ix, said).or_else(|| in_conversation(&meant, said)));
        }
    }
}

/// Where it is said that the files of a step are put back.
fn restores<'n>(context: &Context<'_, 'n>, ix: StepIx) -> Option<&'n Node> {
    let node = setting(context, ix, "on_interrupt")?;
    (node.as_text() == Some("restore")).then_some(node)
}

/// What a step says, or the file's defaults where it says nothing.
fn setting<'n>(context: &Context<'_, 'n>, ix: StepIx, key: &str) -> Option<&'n Node> {
    let defaults = context.model.unit_of(ix).node.get("defaults");
    context.model.step(ix).node.get(key).or_else(|| defaults?.get(key))
}

fn in_company(context: &Context<'_, '_>, ix: StepIx, said: &Node) -> Option<Diagnostic> {
    let other = context.model.step(beside::find(context, ix)?);
    let step = context.model.step(ix);
    let who = if std::ptr::eq(step, other) { "another item".to_owned() } else { format!("`{}`", other.id) };
    Some(
        found(step, said, format!("putting back the files of `{}` would undo the work of {who}", step.id))
            .related(other.span, "may be running at the same time, in the same folder")
            .help("let one come after the other, give each a `cwd` of its own, or write `on_interrupt: continue`"),
    )
}

fn in_conversation(meant: &Meant<'_>, said: &Node) -> Option<Diagnostic> {
    let (thread, name) = shared(meant)?;
    Some(
        Diagnostic::error(
            "LH0419",
            thread.span,
            format!("the conversation `{name}` cannot be put back with the files"),
        )
        .label("continues, and would speak of work that is undone")
        .related(said.span, "puts the files back")
        .help("leave `thread` out here, or write `on_interrupt: continue`"),
    )
}

fn found(step: &Step<'_>, said: &Node, message: String) -> Diagnostic {
    let own = step.node.get("on_interrupt").is_some();
    let place = if own { said.span } else { step.span };
    Diagnostic::error("LH0419", place, message).label("`on_interrupt: restore`")
}
