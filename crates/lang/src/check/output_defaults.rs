//! LH0507: a default that its own schema refuses.

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::schema;

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for (_, step) in context.model.own_steps() {
        let Some(output) = step.node.get("output") else { continue };
        let (Some(node), Some(default)) = (output.get("schema"), output.get("default")) else { continue };
        let lenient =
            output.get("spread").is_some() && context.model.unit(context.model.body(step.body).unit).is_lenient();
        if let Some(why) = schema::mismatch(&schema::to_json(node), &default.to_json()).filter(|_| !lenient) {
            out.push(
                Diagnostic::error("LH0507", default.span, format!("this default does not follow its schema: {why}"))
                    .label("would be refused")
                    .related(node.span, "the schema")
                    .help("change the default, or the schema"),
            );
        }
    }
}
