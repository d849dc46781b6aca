//! Escapes `@path` in prompts for Gemini, which would open that file and send it.
//!
//! **Invariant:** the prompt changes only where a file or folder with that name exists: there a backslash is put before
//! the `@`.

use std::path::Path;

use crate::contract::Turn;

/// The characters that end a path.
const AFTER: &[char] = &[' ', '\t', '\n', '\r', ',', ';', '!', '?', '(', ')', '[', ']', '{', '}'];

/// The prompt with all existing paths escaped.
pub(super) fn closed(prompt: &str, turn: &Turn) -> String {
    let is_there = |path: &str| {
        let folders = turn.dirs.iter().chain([&turn.cwd]);
        folders.into_iter().any(|folder| folder.join(Path::new(path)).exists())
    };
    with_closed(prompt, &is_there)
}

fn with_closed(prompt: &str, is_there: &dyn Fn(&str) -> bool) -> String {
    let (mut closed, mut end) = (String::with_capacity(prompt.len()), 0);
    for piece in prompt.split_inclusive('@') {
        end += piece.len();
        let after = prompt.get(end..).unwrap_or_default();
        match piece.strip_suffix('@') {
            Some(before) if !before.ends_with('\\') && is_opened(after, is_there) => {
                closed.push_str(before);
                closed.push_str("\\@");
            }
            _ => closed.push_str(piece),
        }
    }
    closed
}

/// Whether the text after an `@` names an existing path. The end of a name is uncertain, so every end is tried.
fn is_opened(after: &str, is_there: &dyn Fn(&str) -> bool) -> bool {
    if let Some(quoted) = after.strip_prefix('"') {
        return quoted.split('"').next().is_some_and(is_there);
    }
    let word = after.split(AFTER).next().unwrap_or_default().replace('\\', "");
    let mut ends = word.char_indices().filter(|(at, next)| *at > 0 && !next.is_alphanumeric()).map(|(at, _)| at);
    !word.is_empty() && (is_there(&word) || ends.any(|at| word.get(..at).is_some_and(is_there)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_there_is_closed() {
        let there = |path: &str| ["a.txt", "src", "/etc/passwd", "with blank"].contains(&path);
        for (prompt, expected) in [
            ("look at @a.txt.", r"look at \@a.txt."),
            ("@src/lib.rs and @/etc/passwd, then", r"\@src/lib.rs and \@/etc/passwd, then"),
            (r#"read @"with blank" now"#, r#"read \@"with blank" now"#),
            ("me@a.txt", r"me\@a.txt"),
            (r"already \@a.txt", r"already \@a.txt"),
            (
                "@@ -1,3 +1,4 @@ me@example.org @pytest.fixture @types/node @",
                "@@ -1,3 +1,4 @@ me@example.org @pytest.fixture @types/node @",
            ),
            ("grüße @größe @a.txt", r"grüße @größe \@a.txt"),
            ("", ""),
        ] {
            assert_eq!(with_closed(prompt, &there), expected);
        }
    }
}
