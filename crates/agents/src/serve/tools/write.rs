//! `write`: writes a whole file.

use serde::Deserialize;

use super::Tool;
use crate::serve::workspace::Workspace;

pub(super) const TOOL: Tool = Tool {
    name: "write",
    aliases: &["write_file", "create"],
    about: "Write a whole file; its folders are made, and what was in it is replaced.",
    parameters: &[
        ("path", "string", "The file, relative to the workspace."),
        ("content", "string", "Everything that shall be in it."),
    ],
    is_harmless: false,
};

#[derive(Deserialize)]
pub(super) struct Input {
    path: String,
    content: String,
}

pub(super) fn write(workspace: &Workspace, input: &Input) -> Result<String, String> {
    workspace.write(&input.path, input.content.as_bytes())?;
    Ok(format!("`{}` is written: {} bytes", input.path, input.content.len()))
}
