//! What an agent is told: the prompt, and before and after it what its program takes no flag for.

use crate::answer;
use crate::contract::{Abilities, Turn};

/// The prompt, with who the agent is before it and what the answer must look like after it, where it has no other way.
pub(super) fn text(turn: &Turn, can: Abilities) -> String {
    let system = turn.system.as_deref().filter(|_| !can.system);
    let schema = turn.schema.as_ref().filter(|_| !can.schema).map(answer::instructions);
    let parts = [system, Some(turn.prompt.as_str()), schema.as_deref()];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

/// What stands before a task that begins like a command.
const TASK: &str = "The task:\n\n";

/// The same, for programs that take what begins with a slash for a command of theirs, also after white space.
pub(super) fn prompt(turn: &Turn, can: Abilities) -> String {
    let text = text(turn, can);
    if text.trim_start().starts_with('/') { format!("{TASK}{text}") } else { text }
}
