//! What agents are told about the shape of their answer, before and after it.

use longhaul_core::Json;

const QUOTED_CHARS_MAX: usize = 800;

/// What follows the prompt of an agent that can not hold itself to a schema.
pub fn instructions(schema: &Json) -> String {
    format!(
        "Answer with JSON that follows this JSON Schema, in one fenced block at the end of your answer and nothing after \
         it:\n\n```json\n{schema:#}\n```"
    )
}

/// What is said, in the same session, to an agent whose answer could not be used.
pub fn fixup(error: &str, previous_answer: &str, schema: &Json) -> String {
    let mut quoted: String = previous_answer.trim().chars().take(QUOTED_CHARS_MAX).collect();
    if quoted.len() < previous_answer.trim().len() {
        quoted.push('…');
    }
    let quoted: Vec<String> = quoted.lines().map(|line| format!("> {line}")).collect();
    format!(
        "Your last answer could not be used: {error}\n\nIt began:\n\n{}\n\nDo not do the work again. Give the same answer in the \
         right form: only JSON that follows this JSON Schema, without a word around it.\n\n```json\n{schema:#}\n```",
        quoted.join("\n")
    )
}
