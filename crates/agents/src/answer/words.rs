//! What agents are told about the shape of their answer.

use longhaul_core::Json;

/// What follows the prompt of an agent that cannot hold itself to a schema.
pub fn instructions(schema: &Json) -> String {
    format!(
        "Answer with JSON that follows this JSON Schema, in one fenced block at the end of your answer and nothing after \
         it:\n\n```json\n{schema:#}\n```"
    )
}
