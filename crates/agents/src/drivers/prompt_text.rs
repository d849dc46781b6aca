//! Builds the text for an agent: the prompt, with the parts for which the program has no flag.

use crate::answer;
use crate::contract::{Abilities, Turn};

/// The prompt, with the system prompt before it and the schema after it, if the agent has no other way to get them.
pub(super) fn text(turn: &Turn, can: Abilities) -> String {
    let system = turn.system.as_deref().filter(|_| !can.system);
    let schema = turn.schema.as_ref().filter(|_| !can.schema).map(answer::instructions);
    let parts = [system, Some(turn.prompt.as_str()), schema.as_deref()];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

/// The text before a task that starts like a command.
const TASK: &str = "The task:\n\n";

/// The same, for programs that read a text with a slash at its start, also after white space, as a command.
pub(super) fn prompt(turn: &Turn, can: Abilities) -> String {
    let text = text(turn, can);
    if text.trim_start().starts_with('/') { format!("{TASK}{text}") } else { text }
}
