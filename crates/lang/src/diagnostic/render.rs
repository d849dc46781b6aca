//! Diagnostics for people, in the manner of a compiler.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Element, Level, Renderer, Snippet};

use super::{Diagnostic, Severity};
use crate::source::{Sources, Span};

/// One finding as text, with colour or without.
pub fn render(diagnostic: &Diagnostic, sources: &Sources, colour: bool) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let title = level.primary_title(&diagnostic.message).id(diagnostic.code);
    let mut group = title.elements(snippets(diagnostic, sources));
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help));
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

fn snippets<'a>(diagnostic: &'a Diagnostic, sources: &'a Sources) -> Vec<Element<'a>> {
    let file = sources.file(diagnostic.span.file);
    let mut main = Snippet::source(file.text.as_str())
        .path(file.name.as_str())
        .fold(true)
        .annotation(AnnotationKind::Primary.span(range(diagnostic.span, &file.text)).label(&diagnostic.label));
    let mut elements = Vec::new();
    for (span, label) in &diagnostic.related {
        let annotation = AnnotationKind::Context.span(range(*span, &sources.file(span.file).text)).label(label);
        if span.file == diagnostic.span.file {
            main = main.annotation(annotation);
        } else {
            let other = sources.file(span.file);
            let snippet = Snippet::source(other.text.as_str()).path(other.name.as_str()).fold(true);
            elements.push(snippet.annotation(annotation).into());
        }
    }
    elements.insert(0, main.into());
    elements
}

/// The span as a range the renderer accepts: in the text, on character boundaries, on one line.
fn range(span: Span, text: &str) -> std::ops::Range<usize> {
    let boundary = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = boundary(span.start as usize);
    let end = boundary(span.end as usize).max(start);
    let line = text[start..end].find('\n').map_or(end, |newline| start + newline);
    start..line
}
