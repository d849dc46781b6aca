//! `read`: the lines of a file, with their numbers.

use std::fmt::Write as _;

use serde::Deserialize;

use super::{Tool, start};
use crate::serve::workspace::Workspace;

const LINES_MAX: usize = 2_000;
const LINE_BYTES_MAX: usize = 2_000;

pub(super) const TOOL: Tool = Tool {
    name: "read",
    aliases: &["cat", "view", "read_file"],
    about: "Read a text file. Each line comes with its number and a tab, which are not part of the file.",
    parameters: &[
        ("path", "string", "The file, relative to the workspace."),
        ("offset?", "integer", "The first line to show, counted from 1."),
        ("limit?", "integer", "How many lines to show; 2000 if it is left out."),
    ],
    is_harmless: true,
};

#[derive(Deserialize)]
pub(super) struct Input {
    path: String,
    offset: Option<usize>,
    limit: Option<usize>,
}

pub(super) fn read(workspace: &Workspace, input: &Input) -> Result<String, String> {
    let bytes = workspace.read(&input.path)?;
    if bytes.contains(&0) {
        return Err(format!("`{}` is no text; it is {} bytes long", input.path, bytes.len()));
    }
    let text = String::from_utf8_lossy(&bytes);
    let first = input.offset.unwrap_or(1).max(1);
    let limit = input.limit.unwrap_or(LINES_MAX).clamp(1, LINES_MAX);
    Ok(numbered(&text, first, limit))
}

fn numbered(text: &str, first: usize, limit: usize) -> String {
    let count = text.lines().count();
    let mut shown = String::new();
    for (number, line) in text.lines().enumerate().map(|(at, line)| (at + 1, line)).skip(first - 1).take(limit) {
        // Writing to a string does not fail.
        let _ = writeln!(shown, "{number}\t{}", start(line, LINE_BYTES_MAX));
    }
    let last = (first - 1).saturating_add(limit).min(count);
    if count == 0 {
        return "(the file is empty)".to_owned();
    }
    if first > count {
        return format!("(the file has only {count} lines)");
    }
    if last < count {
        let _ = writeln!(shown, "({} more lines; continue with offset {})", count - last, last + 1);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_says_where_it_goes_on() {
        let text = "a\nb\nc\nd\n";
        assert_eq!(numbered(text, 1, 9), "1\ta\n2\tb\n3\tc\n4\td\n");
        assert_eq!(numbered(text, 2, 2), "2\tb\n3\tc\n(1 more lines; continue with offset 4)\n");
        assert_eq!(numbered(text, 9, 2), "(the file has only 4 lines)");
        assert_eq!(numbered("", 1, 2), "(the file is empty)");
    }
}
