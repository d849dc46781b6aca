//! Measures how wide text is on a terminal, and makes it fit.
//!
//! **Invariant:** a result is never wider than the caller asks for, whatever the characters; width 0 gives an empty
//! text.

use std::io::IsTerminal;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The assumed width if the output is not a terminal.
const USUAL: usize = 80;

/// The columns of the terminal at standard output; the usual number if there is no terminal.
pub(crate) fn columns() -> usize {
    let told = rustix::termios::tcgetwinsize(std::io::stdout()).ok().map(|size| usize::from(size.ws_col));
    told.filter(|columns| *columns > 0).unwrap_or(USUAL)
}

/// The rest of a line after `after` columns, cut to the terminal; uncut if the output is not a terminal.
pub(crate) fn seen(text: &str, after: usize) -> String {
    if !std::io::stdout().is_terminal() {
        return text.trim_end().to_owned();
    }
    cut(text, columns().saturating_sub(after)).trim_end().to_owned()
}

/// How many columns a text takes.
pub(crate) fn of(text: &str) -> usize {
    text.width()
}

/// A text cut to `most` columns; a cut text ends with `…`.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if text.width() <= most {
        return text.to_owned();
    }
    let mut left = most.saturating_sub(1);
    let mut kept = String::new();
    for letter in text.chars() {
        let width = letter.width().unwrap_or(0);
        if width > left {
            break;
        }
        left -= width;
        kept.push(letter);
    }
    if most > 0 {
        kept.push('…');
    }
    kept
}

/// A text cut and padded to exactly `columns` columns.
pub(crate) fn fit(text: &str, columns: usize) -> String {
    let cut = cut(text, columns);
    let missing = columns.saturating_sub(cut.width());
    cut + &" ".repeat(missing)
}

/// A text in lines of at most `most` columns, broken between words if possible.
pub(crate) fn wrap(text: &str, most: usize) -> Vec<String> {
    let most = most.max(1);
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            for piece in pieces(word, most) {
                let joined = if line.is_empty() { piece.width() } else { line.width() + 1 + piece.width() };
                if joined > most && !line.is_empty() {
                    lines.push(std::mem::take(&mut line));
                }
                if !line.is_empty() {
                    line.push(' ');
                }
                line.push_str(&piece);
            }
        }
        lines.push(line);
    }
    lines
}

/// A word, in as many pieces as it needs to fit.
fn pieces(word: &str, most: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for letter in word.chars() {
        let full =
            pieces.last().is_some_and(|last| !last.is_empty() && last.width() + letter.width().unwrap_or(0) > most);
        if full {
            pieces.push(String::new());
        }
        if let Some(last) = pieces.last_mut() {
            last.push(letter);
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_wide_is_cut_by_columns_and_not_by_letters() {
        assert_eq!(cut("build", 5), "build");
        assert_eq!(cut("building", 5), "buil…");
        assert_eq!(cut("検査する", 5), "検査…");
        assert_eq!(cut("検査する", 4), "検…");
        assert_eq!(cut("build", 0), "");
        assert_eq!(fit("検査する", 6), "検査… ");
    }

    #[test]
    fn lines_are_broken_between_words_and_long_words_anywhere() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("a\n\nb", 7), ["a", "", "b"]);
        assert_eq!(wrap("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("検査", 1), ["検", "査"]);
        assert!(wrap("", 4).is_empty());
    }
}
