//! The instructions to agents about the shape of their answer.

use longhaul_core::Json;

/// The text after the prompt, for an agent that cannot follow a schema by itself.
pub fn instructions(schema: &Json) -> String {
    format!(
        "Answer with JSON that follows this JSON Schema, in one fenced block at the end of your answer and nothing after \
         it:\n\n```json\n{schema:#}\n```"
    )
}
