//! Diagnostics for people, in the manner of a compiler.
//!
//! **Invariant:** what a file holds never reaches a terminal as a command to it, and the cost of one finding does
//! not depend on the size of the file.

use std::ops::Range;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Element, Level, Origin, Renderer, Snippet};

use super::plain::{message, plain};
use super::{Diagnostic, Severity};
use crate::source::{SourceFile, Sources, Span, boundary};

/// One finding as text, with colour or without.
pub fn render(diagnostic: &Diagnostic, sources: &Sources, colour: bool) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let title = level.primary_title(message(&diagnostic.message)).id(diagnostic.code);
    let mut group = title.elements(snippets(diagnostic, sources));
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(message(help)));
    }
    group = group.element(Level::NOTE.no_name().message(format!("more: longhaul explain {}", diagnostic.code)));
    renderer.decor_style(DecorStyle::Ascii).render(&[group])
}

/// "2 errors and 1 warning in release.yaml".
pub fn summary(diagnostics: &[Diagnostic]) -> String {
    let count = |severity| diagnostics.iter().filter(|diagnostic| diagnostic.severity == severity).count();
    let parts: Vec<String> = [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Note, "note")]
        .into_iter()
        .map(|(severity, word)| (count(severity), word))
        .filter(|(n, _)| *n > 0)
        .map(|(n, word)| format!("{n} {word}{}", if n == 1 { "" } else { "s" }))
        .collect();
    match parts.as_slice() {
        [] => "clean".to_owned(),
        [one] => one.clone(),
        [head @ .., last] => format!("{} and {last}", head.join(", ")),
    }
}

/// How far from the main place another one may stand and still be shown in one piece with it.
const NEAR_BYTES: usize = 8 << 10;
/// How much of a line is shown on either side of a place.
const ASIDE_BYTES: usize = 400;

fn snippets<'a>(diagnostic: &Diagnostic, sources: &'a Sources) -> Vec<Element<'a>> {
    let primary = Mark::new(AnnotationKind::Primary, diagnostic.span, &diagnostic.label);
    let others = diagnostic.related.iter().map(|(span, label)| Mark::new(AnnotationKind::Context, *span, label));
    let (near, far): (Vec<Mark>, Vec<Mark>) = others.partition(|mark| mark.is_near(diagnostic.span));
    let mut elements = piece(std::iter::once(primary).chain(near).collect(), sources);
    elements.extend(far.into_iter().flat_map(|mark| piece(vec![mark], sources)));
    elements
}

/// A place and what is said there.
struct Mark {
    kind: AnnotationKind,
    span: Span,
    label: String,
}

impl Mark {
    fn new(kind: AnnotationKind, span: Span, label: &str) -> Self {
        Self { kind, span, label: message(label) }
    }

    fn is_near(&self, other: Span) -> bool {
        self.span.file == other.file && self.span.start.abs_diff(other.start) as usize <= NEAR_BYTES
    }

    /// The span as a range the renderer accepts: in the text, on character boundaries, on one line.
    fn range(&self, file: &SourceFile) -> Range<usize> {
        let start = boundary(&file.text, self.span.start as usize);
        let end = boundary(&file.text, (self.span.end as usize).min(start + ASIDE_BYTES)).max(start);
        let line = file.text[start..end].find('\n').map_or(end, |newline| start + newline);
        start..line
    }
}

/// The lines of some places of a file. The renderer gets these and not the file, which it would scan
/// from the start for each finding.
fn piece<'a>(marks: Vec<Mark>, sources: &'a Sources) -> Vec<Element<'a>> {
    let Some(file) = marks.first().map(|mark| sources.file(mark.span.file)) else { return Vec::new() };
    let ranges: Vec<Range<usize>> = marks.iter().map(|mark| mark.range(file)).collect();
    let first = ranges.iter().map(|range| range.start).min().unwrap_or(0);
    let last = ranges.iter().map(|range| range.end).max().unwrap_or(0);
    let line = file.line_around(first);
    let start = boundary(&file.text, line.start.max(first.saturating_sub(ASIDE_BYTES)));
    let end = boundary(&file.text, file.line_around(last).end.min(last + ASIDE_BYTES));
    let annotations = marks
        .into_iter()
        .zip(ranges)
        .map(|(mark, range)| mark.kind.span(range.start - start..range.end - start).label(mark.label));
    let (number, _) = file.line_and_column(first);
    // The renderer knows of all other control characters. The dot is as long as what it replaces.
    let text = file
        .text
        .get(start..end)
        .unwrap_or_default()
        .trim_end_matches('\r')
        .replace(|c| ('\u{80}'..='\u{9f}').contains(&c), "·");
    let snippet = Snippet::source(text).line_start(number).fold(true).annotations(annotations);
    if start == line.start {
        return vec![snippet.path(plain(&file.name)).into()];
    }
    // The beginning of the line is left out, so the renderer cannot count the column.
    let (line, column) = file.line_and_column(first);
    vec![Origin::path(plain(&file.name)).line(line).char_column(column).into(), snippet.path(None::<&str>).into()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(text: &str, needle: &str) -> String {
        let mut sources = Sources::default();
        let file = sources.add("w\u{1b}.yaml", text);
        let at = text.find(needle).unwrap();
        let found = Diagnostic::error("LH0108", Span::new(file, at, at + needle.len()), "no key `\u{1b}[2J\n`")
            .label("here\r")
            .help("write\u{7}")
            .related(Span::new(file, 0, 1), "the\u{9b} start");
        render(&found, &sources, false)
    }

    #[test]
    fn no_control_character_gets_through() {
        let text = rendered("a: 1\nb\u{1b}[31m\u{202e}\u{9b}: 2\nc: 3\n", "31m");
        assert!(!text.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{text:?}");
        insta::assert_snapshot!(text, @r"
        error[LH0108]: no key `␛[2J␊`
         --> w␛.yaml:2:4
          |
        1 | a: 1
          | - the� start
        2 | b␛[31m�·: 2
          |    ^^^ here␍
          |
          = help: write␇
          = more: longhaul explain LH0108
        ");
    }

    #[test]
    fn of_an_endless_line_only_the_part_around_the_place_is_shown() {
        let text = rendered(&format!("x\ny: {}HERE{}\n", "é".repeat(5000), "b".repeat(5000)), "HERE");
        assert!(text.len() < 4000, "{}", text.len());
        assert!(text.contains("w␛.yaml:2:5004") && text.contains("HERE"), "{text}");
    }
}
