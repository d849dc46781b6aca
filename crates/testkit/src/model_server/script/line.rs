//! Reads the lines of a script: skips comments and empty lines, and joins texts of several lines with their step.

use super::Error;

/// The lines with content, each with its number.
pub(super) fn lines(source: &str) -> Result<Vec<(usize, String)>, Error> {
    let mut found = Vec::new();
    let mut rest = source.lines().enumerate();
    while let Some((index, line)) = rest.next() {
        let text = line.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let text = match text.rsplit_once(" <<") {
            Some((step, end)) if is_word(end) => {
                let body = body(&mut rest, end).ok_or_else(|| unclosed(index, end))?;
                format!("{} {body}", step.trim_end())
            }
            _ => text.to_owned(),
        };
        found.push((index + 1, text));
    }
    Ok(found)
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|sign| sign.is_ascii_alphanumeric() || sign == '_')
}

/// Everything before the line that is exactly `end`; `None` if there is no such line.
fn body<'a>(rest: &mut impl Iterator<Item = (usize, &'a str)>, end: &str) -> Option<String> {
    let mut body = Vec::new();
    for (_, line) in rest {
        if line == end {
            return Some(body.join("\n"));
        }
        body.push(line);
    }
    None
}

fn unclosed(index: usize, end: &str) -> Error {
    Error { line: index + 1, what: format!("no line `{end}` closes this text") }
}
