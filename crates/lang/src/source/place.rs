//! Maps a range of a scalar's text to its place in the file.
//!
//! The text and its source are walked side by side. **Invariant:** if the two differ, the result is the whole scalar:
//! a place may be coarse but is never wrong.

use std::ops::Range;

use super::{Format, Node, Sources, Span, Style, Value};

/// See [`super::place`].
pub(super) fn place(sources: &Sources, scalar: &Node, range: Range<usize>) -> Span {
    let Value::Scalar(text, style) = &scalar.value else { return scalar.span };
    let source = sources.slice(scalar.span);
    if range.start > range.end || text.get(range.clone()).is_none() {
        return scalar.span;
    }
    let toml = Format::of(&sources.file(scalar.span.file).name) == Format::Toml;
    let found = match style {
        Style::Literal => literal(source, text, &range),
        _ => Walk::new(source, text, *style, toml).and_then(|walk| walk.find(text, &range)),
    };
    let base = scalar.span.start as usize;
    match found {
        Some(found) if source.get(found.clone()).is_some() => {
            Span::new(scalar.span.file, base + found.start, base + found.end)
        }
        _ => scalar.span,
    }
}

/// A literal block has one line of source for each line of text.
fn literal(source: &str, text: &str, range: &Range<usize>) -> Option<Range<usize>> {
    // A section of a Markdown file is its own source.
    let header = if source.replace("\r\n", "\n") == text { 0 } else { 1 };
    Some(in_line(source, text, range.start, header)?..in_line(source, text, range.end, header)?)
}

fn in_line(source: &str, text: &str, at: usize, header: usize) -> Option<usize> {
    let before = text.get(..at)?;
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = text.get(line_start..)?.split('\n').next()?;
    let number = before.matches('\n').count() + header;
    let source_start: usize = source.split_inclusive('\n').take(number).map(str::len).sum();
    let Some(source_line) = source.split('\n').nth(number) else {
        // The end of the text, after its last line break.
        return line.is_empty().then_some(source.len());
    };
    let source_line = source_line.strip_suffix('\r').unwrap_or(source_line);
    let indent = source_line.strip_suffix(line)?.len();
    Some(source_start + indent + at - line_start)
}

/// Walks a scalar's source, one character of its text after the other.
struct Walk<'s> {
    source: &'s str,
    at: usize,
    rules: Rules,
    line_start: bool,
}

struct Rules {
    /// The number of spaces removed from each line; `None` for all.
    indent: Option<usize>,
    /// Whether a single line break becomes a space.
    folds: bool,
    backslash: bool,
    doubled_quote: bool,
}

impl<'s> Walk<'s> {
    fn new(source: &'s str, text: &str, style: Style, toml: bool) -> Option<Self> {
        let quote = match style {
            Style::Single => "'",
            Style::Double => "\"",
            _ => "",
        };
        let mut at = if source.starts_with(quote) { quote.len() } else { return None };
        if toml && source.starts_with(&quote.repeat(3)) && !quote.is_empty() {
            let body = source.get(3..)?;
            let first_break = if body.starts_with("\r\n") { 2 } else { usize::from(body.starts_with('\n')) };
            at = 3 + first_break;
        }
        let mut indent = toml.then_some(0);
        if style == Style::Folded {
            at = source.find('\n')? + 1;
            indent = Some(folded_indent(source.get(at..)?, text));
        }
        let rules = Rules {
            indent,
            folds: !toml,
            backslash: style == Style::Double,
            doubled_quote: style == Style::Single && !toml,
        };
        Some(Self { source, at, rules, line_start: style == Style::Folded })
    }

    fn find(mut self, text: &str, range: &Range<usize>) -> Option<Range<usize>> {
        let mut found: Option<Range<usize>> = None;
        for (at, c) in text.char_indices() {
            // An empty range stands before the character at its start.
            if at >= range.end && (at > range.start || found.is_some()) {
                break;
            }
            let here = self.next(c)?;
            if at >= range.end {
                return Some(here.start..here.start);
            }
            if at >= range.start {
                found = Some(found.map_or(here.start, |found| found.start)..here.end);
            }
        }
        found.or(Some(self.at..self.at))
    }

    /// The place of the next character of the text.
    fn next(&mut self, c: char) -> Option<Range<usize>> {
        loop {
            self.cut_indent();
            let rest = self.source.get(self.at..)?;
            // TOML may keep the carriage return of a line break.
            if let Some(end) = self.line_end(rest).filter(|_| c != '\r') {
                let start = self.at;
                self.at += end;
                let folded = self.rules.folds && c == ' ' && !self.line_start;
                self.line_start = true;
                if folded || c == '\n' {
                    return Some(start..self.at);
                }
                continue;
            }
            self.line_start = false;
            if self.rules.backslash && rest.starts_with('\\') {
                match self.escape(rest)? {
                    Some(range) => return Some(range),
                    None => continue,
                }
            }
            let length = if self.rules.doubled_quote && rest.starts_with("''") { 2 } else { c.len_utf8() };
            let start = self.at;
            self.at += length;
            return rest.starts_with(c).then_some(start..self.at);
        }
    }

    fn cut_indent(&mut self) {
        if self.line_start {
            let rest = self.source.get(self.at..).unwrap_or_default();
            let spaces = rest.len() - rest.trim_start_matches([' ', '\t']).len();
            self.at += self.rules.indent.map_or(spaces, |indent| indent.min(spaces));
        }
    }

    /// The length of the line break here, with the blanks before it if they do not count.
    fn line_end(&self, rest: &str) -> Option<usize> {
        let blanks =
            if self.rules.indent.is_none() { rest.len() - rest.trim_start_matches([' ', '\t']).len() } else { 0 };
        let after = rest.get(blanks..)?;
        let length = if after.starts_with("\r\n") { 2 } else { usize::from(after.starts_with('\n')) };
        (length > 0).then_some(blanks + length)
    }

    /// Reads a backslash and the escaped character; the inner value is `None` for a line break.
    fn escape(&mut self, rest: &str) -> Option<Option<Range<usize>>> {
        let start = self.at;
        let escaped = rest.chars().nth(1)?;
        let blanks = if self.rules.folds { "" } else { " \t" };
        let next = rest.get(1..)?.trim_start_matches(|c| blanks.contains(c));
        if next.starts_with(['\n', '\r']) {
            let spaces = |text: &str| text.len() - text.trim_start().len();
            self.at += 1 + spaces(rest.get(1..)?);
            return Some(None);
        }
        let half = |code: &str| code.starts_with(['d', 'D']) && code.get(1..2).is_some_and(|c| "89abAB".contains(c));
        let length = match escaped {
            'x' => 4,
            'u' if rest.get(2..6).is_some_and(half) && rest.get(6..8) == Some("\\u") => 12,
            'u' => 6,
            'U' => 10,
            other => 1 + other.len_utf8(),
        };
        self.at += length;
        Some(Some(start..self.at))
    }
}

/// The indentation of a folded block: the difference between its first non-blank line and the text.
fn folded_indent(body: &str, text: &str) -> usize {
    let solid = |text: &str| text.lines().find(|line| !line.trim().is_empty()).map(str::to_owned).unwrap_or_default();
    let spaces = |line: &str| line.len() - line.trim_start_matches(' ').len();
    spaces(&solid(body)).saturating_sub(spaces(&solid(text)))
}

#[cfg(test)]
mod tests {
    use super::super::{Format, place as place_in, read};
    use super::*;
    use proptest::prelude::*;

    /// The part of the file for `needle` in the text.
    fn check(name: &str, source: &str, needle: &str) -> String {
        let mut sources = Sources::default();
        let file = sources.add(name, source);
        let tree = read(&sources, file, Format::of(name), &mut Vec::new()).unwrap();
        let scalar = tree.get("k").unwrap();
        let at = scalar.scalar().unwrap().find(needle).unwrap();
        sources.slice(place_in(&sources, scalar, at..at + needle.len())).to_owned()
    }

    #[test]
    fn one_line_scalars_are_exact() {
        for source in ["k: é {{ x }} b", "k: 'é {{ x }}'", "k: \"é {{ x }}\" # c"] {
            assert_eq!(check("w.yaml", source, "{{ x }}"), "{{ x }}", "{source}");
        }
    }

    #[test]
    fn escapes_are_stepped_over() {
        assert_eq!(check("w.yaml", r#"k: "\t\u00e9\ud83d\ude00\x41 {{ x }}""#, "{{ x }}"), "{{ x }}");
        assert_eq!(check("w.yaml", r#"k: "a\"{{ x }}""#, "\"{{"), "\\\"{{");
        assert_eq!(check("w.yaml", "k: 'it''s {{ x }}'", "{{ x }}"), "{{ x }}");
        assert_eq!(check("w.yaml", "k: \"a\\\n   b {{ x }}\"", "{{ x }}"), "{{ x }}");
    }

    #[test]
    fn literal_blocks_are_found_line_by_line() {
        assert_eq!(check("w.yaml", "k: |\n\n   a\n     {{ x }}\n   b", "{{ x }}"), "{{ x }}");
        assert_eq!(check("w.yaml", "k: |2-\r\n    a\r\n  {{ x }}\r\n", "{{ x }}"), "{{ x }}");
        assert_eq!(check("w.yaml", "k: |\n  a\n  b\n", "a\nb"), "a\n  b");
    }

    #[test]
    fn folded_text_is_walked() {
        let folded = "k: >\n  a\n  b {{ x }}\n\n    more {{ y }}\n\n\n  c {{ z }}\n";
        for needle in ["{{ x }}", "{{ y }}", "{{ z }}"] {
            assert_eq!(check("w.yaml", folded, needle), needle);
        }
        assert_eq!(check("w.yaml", "k: a\n  b\n\n  c {{ x }}\n", "{{ x }}"), "{{ x }}");
        assert_eq!(check("w.yaml", "k: \"a  \n  b\n\n\n  c {{ x }}\"\n", "{{ x }}"), "{{ x }}");
        assert_eq!(check("w.yaml", "k: 'a\n  b'\n", "a b"), "a\n  b");
    }

    #[test]
    fn toml_strings_are_walked_by_their_own_rules() {
        assert_eq!(check("w.toml", "k = \"a\\n{{ x }}\"", "{{ x }}"), "{{ x }}");
        assert_eq!(check("w.toml", "k = \"\"\"\na\n  {{ x }}\"\"\"", "{{ x }}"), "{{ x }}");
        assert_eq!(check("w.toml", "k = '''\r\na''b\r\n{{ x }}'''", "{{ x }}"), "{{ x }}");
        assert_eq!(check("w.toml", "k = \"\"\"a \\\n   \n  {{ x }}\"\"\"", "{{ x }}"), "{{ x }}");
    }

    #[test]
    fn a_range_that_does_not_fit_gives_the_whole_scalar() {
        let mut sources = Sources::default();
        let file = sources.add("w.yaml", "k: 'é'\n");
        let tree = read(&sources, file, Format::Yaml, &mut Vec::new()).unwrap();
        let scalar = tree.get("k").unwrap();
        for range in [1..2, 0..9, Range { start: 2, end: 1 }] {
            assert_eq!(place_in(&sources, scalar, range), scalar.span);
        }
        assert_eq!(sources.slice(place_in(&sources, scalar, 0..2)), "é");
        assert_eq!(place_in(&sources, scalar, 2..2), Span::new(file, 6, 6));
    }

    proptest! {
        #[test]
        fn any_range_of_any_scalar_has_a_place_inside_it(source in "[ a'\"\\\\\n>|é#:-]{0,30}", start in 0usize..20, length in 0usize..9) {
            let mut sources = Sources::default();
            let file = sources.add("w.yaml", format!("k: {source}\n"));
            if let Some(tree) = read(&sources, file, Format::Yaml, &mut Vec::new())
                && let Some(scalar) = tree.get("k")
            {
                let span = place_in(&sources, scalar, start..start + length);
                prop_assert!(span.start >= scalar.span.start && span.end <= scalar.span.end);
                prop_assert!(sources.file(file).text.get(span.start as usize..span.end as usize).is_some());
            }
        }
    }
}
