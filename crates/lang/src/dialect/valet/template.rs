//! `{{ path }}` in Valet's texts, as native templates.
//!
//! Only paths stand in braces there, and `{%` and `{#` are text; natively they are not, so what is text
//! there is escaped here.

use std::ops::Range;

use super::super::spelling::escape;

/// Says what a path is natively; it is told where in the text the path stands.
pub(super) type Read<'t, 'r> = dyn FnMut(&'t str, Range<usize>) -> String + 'r;

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    /// Taken as written.
    Text(&'t str),
    /// What stands in a pair of braces, without the space around it, and where.
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

/// A text that people or agents read, as a native template; `read` says what a path is natively.
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

/// A command. Nothing is escaped in it: `${#list}` is the shell's, and only `{{` opens a template in a
/// command.
pub(super) fn rewrite_command<'t>(text: &'t str, read: &mut Read<'t, '_>) -> String {
    let piece = |piece| match piece {
        Piece::Text(text) => text.to_owned(),
        Piece::Path(path, range) => format!("{{{{ {} }}}}", read(path, range)),
    };
    pieces(text).into_iter().map(piece).collect()
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
        let text = "echo ${#list[@]} {{variables.x}} | awk '{%s}'";
        assert_eq!(rewrite_command(text, &mut |_, _| "x".into()), "echo ${#list[@]} {{ x }} | awk '{%s}'");
    }
}
