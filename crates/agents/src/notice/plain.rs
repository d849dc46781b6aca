//! Normalises text for comparison with notices: small letters, one kind of quote, dash and dot, single spaces, no
//! colours.

/// The text without differences between terminals, versions and keyboards.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(next) = chars.next() {
        match next {
            '\u{1b}' => skip_escape(&mut chars),
            '’' | '‘' | '`' | '´' => out.push('\''),
            '“' | '”' => out.push('"'),
            '∙' | '•' | '⋅' | '‧' => out.push('·'),
            '–' | '—' | '‑' | '−' => out.push('-'),
            '…' => out.push_str("..."),
            space if space.is_whitespace() || space == '\u{a0}' => {
                if !out.is_empty() && !out.ends_with(' ') {
                    out.push(' ');
                }
            }
            hidden if hidden.is_control() || ('\u{200b}'..='\u{200f}').contains(&hidden) => {}
            other => out.extend(other.to_lowercase()),
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// Skips a colour (`ESC [ … m`), a link (`ESC ] … BEL`), or another sequence for terminals.
fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    let link = match chars.next() {
        Some('[') => false,
        Some(']') => true,
        _ => return,
    };
    for next in chars.by_ref() {
        if (link && next == '\u{7}') || (!link && next.is_ascii_alphabetic()) {
            return;
        }
    }
}

/// Without marks and punctuation around it: `✗ [API Error: x]` is `api error: x`.
pub(super) fn bare(plain: &str) -> &str {
    plain.trim_matches(|edge: char| !edge.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_between_terminals_is_gone() {
        assert_eq!(
            plain("\u{1b}[91m■ You’ve  hit\n your\u{a0}limit ∙ resets 3PM\u{1b}[0m "),
            "■ you've hit your limit · resets 3pm"
        );
        assert_eq!(plain("a\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{7} — “b”…"), "alink - \"b\"...");
    }

    #[test]
    fn the_edges_of_a_notice_do_not_count() {
        assert_eq!(bare("✗ [api error: x]"), "api error: x");
        assert_eq!(bare("..."), "");
    }
}
