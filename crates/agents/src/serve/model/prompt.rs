//! The system prompt for a model, before the text of the workflow.

use crate::contract::{Permission, Turn};

const UNATTENDED: &str = "You work unattended: nobody reads along and nobody answers questions. Where something is \
unclear, decide yourself and say in your answer what you took for granted. Look before you change something, check \
afterwards that it is as it should be, and never claim what you have not seen. When you are done, answer in plain words.";

/// The role of the model, and its workspace.
pub(super) fn system(turn: &Turn, has_tools: bool) -> String {
    let mut parts = Vec::new();
    parts.extend(turn.system.clone());
    if has_tools {
        parts.push(UNATTENDED.to_owned());
        parts.push(format!("Your workspace is the folder `{}`.", turn.cwd.display()));
        let dirs: Vec<String> = turn.dirs.iter().map(|dir| format!("`{}`", dir.display())).collect();
        if !dirs.is_empty() {
            parts.push(format!("You may also use {}.", dirs.join(", ")));
        }
        if turn.permission == Permission::ReadOnly {
            parts.push("You may look at everything in it, and change nothing.".to_owned());
        }
    }
    if parts.is_empty() {
        parts.push("Answer exactly what is asked.".to_owned());
    }
    parts.join("\n\n")
}
