//! LH0401, LH0402, LH0403: prompt and script files that are not there, or not where they may be.

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::world::Missing;

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for missing in &context.texts.missing {
        out.push(problem("LH0401", "prompt file", &missing.path, &missing.why, missing.span));
    }
    for (ix, step) in context.model.own_steps().filter(|(_, step)| step.action.key() == "run") {
        let Some(script) = step.action.value().and_then(|value| value.get("script")) else { continue };
        let Some(path) = script.as_text() else { continue };
        if let Err(why) = context.world.exists(context.model.unit_of(ix).dir, path) {
            out.push(problem("LH0402", "script", path, &why, script.span));
        }
    }
}

fn problem(code: &'static str, what: &str, path: &str, why: &Missing, span: Span) -> Diagnostic {
    match why {
        Missing::NotFound => Diagnostic::error(code, span, format!("the {what} `{path}` does not exist"))
            .label("no such file")
            .help("paths start at the workflow's own folder"),
        Missing::Outside => {
            Diagnostic::error("LH0403", span, format!("the {what} `{path}` is outside the workflow's folder"))
                .label("leads out of the folder")
                .help("keep prompts and scripts beside the workflow, so that it can be moved and pinned as a whole")
        }
        Missing::TooLarge => {
            Diagnostic::error(code, span, format!("the {what} `{path}` is too large")).label("more than 4 MiB")
        }
        Missing::NotText => {
            Diagnostic::error(code, span, format!("the {what} `{path}` is not UTF-8 text")).label("not text")
        }
        Missing::Unreadable(error) => {
            Diagnostic::error(code, span, format!("the {what} `{path}` cannot be read: {error}")).label("not readable")
        }
    }
}
