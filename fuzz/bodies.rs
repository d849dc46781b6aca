//! What is fuzzed, as functions: a text goes in, and what must hold of every text is asserted.
//!
//! The targets of cargo-fuzz and the smoke tests of the language crate share this file.

#![allow(dead_code, reason = "each target uses one of these functions, the smoke tests use all")]

use longhaul_core::types::Type;
use longhaul_lang::diagnostic::{Diagnostic, render};
use longhaul_lang::dialect::Dialect;
use longhaul_lang::expr::{self, Language, NameScope};
use longhaul_lang::source::{self, Format, Sources};
use longhaul_lang::world::Bare;
use longhaul_lang::{CheckRequest, format as layout, shell};

/// Findings point into their file and can be shown without a control character.
fn sound(found: &[Diagnostic], sources: &Sources) {
    for diagnostic in found {
        let text = &sources.file(diagnostic.span.file).text;
        let (start, end) = (diagnostic.span.start as usize, diagnostic.span.end as usize);
        assert!(start <= end && end <= text.len(), "{diagnostic:?}");
        assert!(diagnostic.report(sources).line >= 1);
    }
    for diagnostic in found.iter().take(20) {
        let shown = render(diagnostic, sources, false);
        assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
    }
}

/// Any text, read as YAML, TOML and Markdown.
pub(crate) fn yaml(text: &str) {
    for (name, format) in [("w.yaml", Format::Yaml), ("w.toml", Format::Toml), ("w.md", Format::Markdown)] {
        let mut sources = Sources::default();
        let file = sources.add(name, text);
        let mut found = Vec::new();
        let tree = source::read(&sources, file, format, &mut found);
        sound(&found, &sources);
        if tree.is_none() {
            assert!(!found.is_empty(), "nothing was read and nobody says why");
        }
    }
}

struct Nothing;

impl NameScope for Nothing {
    fn root(&self, name: &str) -> Option<Type> {
        (name == "text").then_some(Type::String)
    }
}

/// Any text, analysed as a template and as an expression.
pub(crate) fn template(text: &str) {
    for language in [Language::Template, Language::Expression] {
        match expr::analyse(text, language, &Nothing) {
            Ok(analysis) => {
                for read in &analysis.reads {
                    assert!(text.get(read.range.clone()).is_some(), "{read:?}");
                }
                for finding in &analysis.findings {
                    assert!(text.get(finding.range.clone()).is_some(), "{finding:?}");
                }
            }
            Err(error) => assert!(text.get(error.range.clone()).is_some(), "{error:?}"),
        }
    }
}

/// Any text, analysed and lowered for a shell.
pub(crate) fn shell(text: &str) {
    let Ok(analysis) = expr::analyse(text, Language::Template, &Nothing) else { return };
    let lowered = shell::lower(text, &analysis.emits, &analysis.tags);
    if analysis.emits.is_empty() && analysis.tags.is_empty() {
        assert_eq!(lowered.script, text, "a text without templates was changed");
    }
    for finding in &lowered.findings {
        assert!(text.get(finding.range.clone()).is_some(), "{finding:?}");
    }
    for (name, expression) in &lowered.bindings {
        assert!(text.contains(expression.as_str()), "{name} holds {expression}, which is not in the text");
    }
}

/// A text in canonical layout.
fn formatted(text: &str) -> Option<String> {
    let mut sources = Sources::default();
    let file = sources.add("w.yaml", text);
    layout::format(&sources, file, &mut Vec::new())
}

/// What a text says, without places and comments.
fn said(text: &str) -> Option<String> {
    let mut sources = Sources::default();
    let file = sources.add("w.yaml", text);
    source::read(&sources, file, Format::Yaml, &mut Vec::new()).map(|node| node.to_json().to_string())
}

/// Any text, formatted twice: the second time nothing changes, and it says the same as at first.
pub(crate) fn format(text: &str) {
    let Some(once) = formatted(text) else { return };
    assert_eq!(formatted(&once).as_ref(), Some(&once), "formatting is not stable");
    assert_eq!(said(text), said(&once), "formatting changed what the file says");
}

fn check(text: &str, dialect: Dialect) {
    for file in ["w.yaml", "w.md"] {
        let request = CheckRequest {
            file: file.to_owned(),
            name: "w".to_owned(),
            text: text.to_owned(),
            dialect: Some(dialect),
            ..CheckRequest::default()
        };
        let report = longhaul_lang::check(request, &Bare::default());
        sound(&report.diagnostics, &report.sources);
        let planned = report.workflows.iter().any(|workflow| workflow.plan.is_some());
        assert!(planned != report.has_errors() || report.workflows.len() != 1, "a plan and errors, or neither");
    }
}

/// Any text, checked as a native workflow.
pub(crate) fn check_native(text: &str) {
    check(text, Dialect::Native);
}

/// Any text, checked as an agent007 workflow.
pub(crate) fn check_agent007(text: &str) {
    check(text, Dialect::Agent007);
}

/// Any text, checked as a workhorse workflow.
pub(crate) fn check_workhorse(text: &str) {
    check(text, Dialect::Workhorse);
}

/// Any text, checked as a Valet workflow.
pub(crate) fn check_valet(text: &str) {
    check(text, Dialect::Valet);
}

/// Any text, checked as a work-buddy unit.
pub(crate) fn check_work_buddy(text: &str) {
    check(text, Dialect::WorkBuddy);
}
