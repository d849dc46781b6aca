//! `grep`: lines that fit a regular expression.

use std::path::Path;

use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use super::{Tool, list, start};
use crate::serve::workspace::Workspace;

const MATCHES_MAX: usize = 200;
const LINE_BYTES_MAX: usize = 300;
const FILE_BYTES_MAX: u64 = 4 << 20;
const PATTERN_BYTES_MAX: usize = 1 << 20;

pub(super) const TOOL: Tool = Tool {
    name: "grep",
    aliases: &["search", "rg"],
    about: "Find lines that fit a regular expression, as `file:line: text`. Files that git ignores are left out.",
    parameters: &[
        ("pattern", "string", "A regular expression."),
        ("path?", "string", "A folder or file, relative to the workspace."),
        ("glob?", "string", "Only files whose path or name fits, such as `*.rs`."),
    ],
    is_harmless: true,
};

#[derive(Deserialize)]
pub(super) struct Input {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
}

pub(super) fn grep(workspace: &Workspace, input: &Input) -> Result<String, String> {
    let pattern = RegexBuilder::new(&input.pattern).size_limit(PATTERN_BYTES_MAX).build();
    let pattern = pattern.map_err(|error| format!("the pattern does not fit: {error}"))?;
    let glob = input.glob.as_deref().map(list::glob).transpose()?;
    let at = workspace.existing(input.path.as_deref().unwrap_or("."))?;
    let mut found = Vec::new();
    for file in list::files(&at) {
        let name = file.file_name().map(Path::new);
        let below = file.strip_prefix(&at).unwrap_or(&file);
        if glob.as_ref().is_none_or(|glob| glob.is_match(below) || name.is_some_and(|name| glob.is_match(name))) {
            look(&file, workspace.short(&file), &pattern, &mut found);
        }
        if found.len() > MATCHES_MAX {
            found.truncate(MATCHES_MAX);
            found.push(format!("(more than {MATCHES_MAX} lines fit; look closer)"));
            break;
        }
    }
    Ok(if found.is_empty() { "(no line fits)".to_owned() } else { found.join("\n") })
}

fn look(file: &Path, name: &Path, pattern: &Regex, found: &mut Vec<String>) {
    if std::fs::metadata(file).is_ok_and(|about| about.len() > FILE_BYTES_MAX) {
        return;
    }
    // What cannot be read or is no text has no lines.
    let Ok(bytes) = std::fs::read(file) else { return };
    if bytes.contains(&0) {
        return;
    }
    let text = String::from_utf8_lossy(&bytes);
    let fitting = text.lines().enumerate().filter(|(_, line)| pattern.is_match(line));
    let shown = fitting.map(|(at, line)| format!("{}:{}: {}", name.display(), at + 1, start(line, LINE_BYTES_MAX)));
    found.extend(shown.take(MATCHES_MAX + 1));
}
