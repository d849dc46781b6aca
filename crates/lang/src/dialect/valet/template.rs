//! Translates `{{ path }}` in Valet's texts into native templates.
//!
//! In Valet only paths stand in braces, and `{%` and `{#` are plain text. Natively they are not, so they are escaped
//! here.

use std::ops::Range;

use crate::dialect::spelling::escape;

/// Gives the native form of a path. It gets the place of the path in the text.
pub(super) type Read<'t, 'r> = dyn FnMut(&'t str, Range<usize>) -> String + 'r;

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    /// Literal text.
    Text(&'t str),
    /// The content of a pair of braces, without the space around it, and its place.
    Path(&'t str, Range<usize>),
}

/// A text in pieces.
pub(super) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut done = 0;
    let mut at = 0;
    while let Some(opening) = text[at..].find("{{").map(|offset| at + offset) {
        let inside_start = opening + 2;
        let Some(length) = text[inside_start..].find("}}") else { break };
        let inside = &text[inside_start..inside_start + length];
        let path = inside.trim();
        if path.is_empty() || inside.contains(['{', '}', '\n']) {
            at = opening + 1;
            continue;
        }
        if done < opening {
            pieces.push(Piece::Text(&text[done..opening]));
        }
        let start = inside_start + (inside.len() - inside.trim_start().len());
        pieces.push(Piece::Path(path, start..start + path.len()));
        done = inside_start + length + 2;
        at = done;
    }
    if done < text.len() {
        pieces.push(Piece::Text(&text[done..]));
    }
    pieces
}

/// A text for people or agents, as a native template; `read` gives the native form of a path.
pub(super) fn rewrite<'t>(text: &'t str, read: &mut Read<'t, '_>) -> String {
    let piece = |piece| match piece {
        // A brace right before a template would become part of it.
        Piece::Text(text) => match text.strip_suffix('{') {
            Some(before) => escape(before) + "{{ '{' }}",
            None => escape(text),
        },
        Piece::Path(path, range) => format!("{{{{ {} }}}}", read(path, range)),
    };
    pieces(text).into_iter().map(piece).collect()
}

/// A command. A value in it would be quoted. So shell text that looks like a template, such as `${#list}`, is marked
/// as raw instead.
pub(super) fn rewrite_command<'t>(text: &'t str, read: &mut Read<'t, '_>) -> String {
    let piece = |piece| match piece {
        Piece::Text(text) => raw(text),
        Piece::Path(path, range) => format!("{{{{ {} }}}}", read(path, range)),
    };
    pieces(text).into_iter().map(piece).collect()
}

/// Marks the range from the first to the last word that opens a native template as raw.
fn raw(text: &str) -> String {
    let openings = || ["{{", "{%", "{#"].into_iter();
    let (Some(first), Some(last)) =
        (openings().filter_map(|word| text.find(word)).min(), openings().filter_map(|word| text.rfind(word)).max())
    else {
        return text.to_owned();
    };
    let start = text[..first].rfind(char::is_whitespace).map_or(0, |space| space + 1);
    let end = text[last..].find(char::is_whitespace).map_or(text.len(), |space| last + space);
    let start = (start..=first).find(|at| text.is_char_boundary(*at)).unwrap_or(first);
    format!("{}{{% raw %}}{}{{% endraw %}}{}", &text[..start], &text[start..end], &text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(text: &str) -> String {
        rewrite(text, &mut |path, range| {
            assert_eq!(&text[range], path);
            format!("<{path}>")
        })
    }

    #[test]
    fn paths_are_replaced_and_the_rest_stays_text() {
        for (text, native) in [
            ("plain", "plain"),
            ("a {{variables.x}} b", "a {{ <variables.x> }} b"),
            ("{{  outputs.y.0.z  }}{{loop.item}}", "{{ <outputs.y.0.z> }}{{ <loop.item> }}"),
            ("{% raw %} {# no #}", "{{ '{%' }} raw %} {{ '{#' }} no #}"),
            ("open {{ only", "open {{ '{{' }} only"),
            ("{{}} {{ }}", "{{ '{{' }}}} {{ '{{' }} }}"),
            ("{{{x}}}", "{{ '{' }}{{ <x> }}}"),
            ("{\"a\": {{variables.x}}}", "{\"a\": {{ <variables.x> }}}"),
            ("é {{x}} ü", "é {{ <x> }} ü"),
        ] {
            assert_eq!(rewritten(text), native, "{text}");
        }
    }

    #[test]
    fn a_command_keeps_what_is_the_shells() {
        let rewritten = |text| rewrite_command(text, &mut |_, _| "x".into());
        assert_eq!(
            rewritten("echo ${#list[@]} a {{variables.x}} | awk '{%s}'"),
            "echo {% raw %}${#list[@]}{% endraw %} a {{ x }} | awk {% raw %}'{%s}'{% endraw %}"
        );
        assert_eq!(rewritten("a {# b {# c"), "a {% raw %}{# b {#{% endraw %} c");
        assert_eq!(rewritten("if (( 1 )); then echo {}; fi"), "if (( 1 )); then echo {}; fi");
    }
}
