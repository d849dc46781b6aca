//! Makes text from files safe for a terminal.

/// The most characters of one message: a key can be a megabyte long.
const SHOWN_MAX: usize = 800;

/// `text` without terminal commands: control characters become visible symbols, and marks of writing direction become
/// replacement characters.
pub fn plain(text: &str) -> String {
    text.chars().map(shown).collect()
}

/// The same for one message or label, shortened.
pub(super) fn message(text: &str) -> String {
    let mut shown = plain(text);
    if let Some((at, _)) = shown.char_indices().nth(SHOWN_MAX) {
        shown.truncate(at);
        shown.push('…');
    }
    shown
}

fn shown(c: char) -> char {
    match c {
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + c as u32).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\u{7f}' => '␡',
        c if c.is_control() || turns_direction(c) => char::REPLACEMENT_CHARACTER,
        c => c,
    }
}

fn turns_direction(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        assert_eq!(plain("a\u{1b}[31mb\r\n\u{7f}\u{9b}\u{202e}é"), "a␛[31mb␍␊␡\u{fffd}\u{fffd}é");
    }

    #[test]
    fn a_long_message_is_cut() {
        assert_eq!(message(&"é".repeat(900)), format!("{}…", "é".repeat(SHOWN_MAX)));
        assert_eq!(message("short"), "short");
    }
}
