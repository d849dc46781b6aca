//! LH0312: `env` or `secrets` where an agent or a person would read them. LH0320: `env` or `secrets` in a computation.

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::expr::{Key, Language, Read};
use crate::texts::Text;

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for text in context.own_texts() {
        let Ok(analysis) = &text.outcome else { continue };
        for read in analysis.reads.iter().filter(|read| matches!(read.root.as_str(), "env" | "secrets")) {
            let span = text.span(context.sources, read.range.clone());
            if !text.site.secrets {
                out.push(
                    Diagnostic::error("LH0312", span, format!("`{}` cannot be read in `{}`", read.root, text.site.key))
                        .label("would leave the machine, or stand in the journal")
                        .help("read it in a `run`, `http` or `tool` step, or pass it with `env:`"),
                );
            } else if !is_written(text, read) {
                out.push(
                    Diagnostic::error("LH0320", span, format!("`{}` can only be written, not computed with", read.root))
                        .label("is known only where the work is done")
                        .help("write `{{ env.NAME }}` or `{{ secrets.NAME }}`; `| default('…')` is the one filter that may follow"),
                );
            }
        }
    }
}

/// Whether a value is written as it is, or with what stands for it where it is not set.
fn is_written(text: &Text<'_>, read: &Read) -> bool {
    let is_one = matches!(read.path.as_slice(), [Key::Field(name, _)] if text.source[read.range.clone()].ends_with(&format!(".{name}")));
    is_one && whole(text, read).is_some_and(|after| after.is_empty() || is_default(after))
}

/// What follows a value that an expression begins with.
fn whole<'t>(text: &'t Text<'_>, read: &Read) -> Option<&'t str> {
    if text.site.language == Language::Expression {
        let after = text.source.strip_prefix(&text.source[..read.range.end])?;
        return text.source[..read.range.start].trim().is_empty().then_some(after.trim());
    }
    let analysis = text.outcome.as_ref().ok()?;
    let emit =
        analysis.emits.iter().find(|emit| emit.expr.start == read.range.start && read.range.end <= emit.expr.end)?;
    Some(text.source[read.range.end..emit.expr.end].trim())
}

/// `| default(…)` and nothing else.
fn is_default(after: &str) -> bool {
    let call = after.strip_prefix('|').map(str::trim_start);
    let args = call.and_then(|call| call.strip_prefix("default").or_else(|| call.strip_prefix('d')));
    let args = args.and_then(|args| args.trim().strip_prefix('(')?.strip_suffix(')'));
    args.is_some_and(|args| !args.contains(['|', '(']))
}
