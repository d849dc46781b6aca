//! Makes untrusted text safe for one line of a picture.
//!
//! **Invariant:** the results of [`one_line`] and [`first_line`] have no control characters, no line breaks and no
//! marks of writing direction. So they cannot move a cursor or disguise themselves.

/// All of the text on one line, at most `columns_max` wide.
pub(crate) fn one_line(text: &str, columns_max: usize) -> String {
    cut(&words(text), columns_max)
}

/// The first line that is not empty, with a mark if there are more; at most `columns_max` wide.
pub(crate) fn first_line(text: &str, columns_max: usize) -> String {
    let mut lines = text.lines().map(words).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    match lines.next() {
        Some(_) => cut(&format!("{first} …"), columns_max),
        None => cut(&first, columns_max),
    }
}

/// The number of terminal columns of a text.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(char_columns).sum()
}

fn words(text: &str) -> String {
    let visible: String =
        text.chars().filter(|c| !is_hidden(*c)).map(|c| if c.is_control() { ' ' } else { c }).collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Marks of writing direction, invisible line separators, and characters that XML does not allow.
fn is_hidden(c: char) -> bool {
    matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
        || matches!(c, '\u{fffe}' | '\u{ffff}')
}

fn cut(text: &str, columns_max: usize) -> String {
    if columns(text) <= columns_max {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += char_columns(c);
        if used > columns_max {
            break;
        }
        kept.push(c);
    }
    format!("{}…", kept.trim_end())
}

fn char_columns(c: char) -> usize {
    match u32::from(c) {
        0x300..=0x36f | 0x200c..=0x200d | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_at_its_width_and_says_so() {
        assert_eq!(one_line("cargo test --quiet", 18), "cargo test --quiet");
        assert_eq!(one_line("cargo test --quiet", 12), "cargo test…");
        assert_eq!(one_line("漢字漢字", 5), "漢字…");
    }

    #[test]
    fn control_characters_and_direction_marks_do_not_survive() {
        assert_eq!(one_line("a\u{1b}[31m\r\nb\u{202e}c\tz", 60), "a [31m bc z");
    }

    #[test]
    fn only_the_first_line_that_says_something_is_shown() {
        assert_eq!(first_line("\n\n  make all\n", 60), "make all");
        assert_eq!(first_line("make all\nmake check", 60), "make all …");
        assert_eq!(first_line("", 60), "");
    }
}
