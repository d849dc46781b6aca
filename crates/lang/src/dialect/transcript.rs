//! Prints the translation of a file for tests: its native form, then the findings.

use super::{Dialect, to_native};
use crate::CheckRequest;
use crate::diagnostic::{Diagnostic, Severity};
use crate::source::{Format, Node, Sources, emit, read};
use crate::world::Bare;

/// The native text and the findings, one per line.
pub(super) fn transcript(dialect: Dialect, name: &str, text: &str) -> String {
    let mut sources = Sources::default();
    let file = sources.add(name, text);
    let mut out = Vec::new();
    let node = read(&sources, file, Format::of(name), &mut out).expect("the file can be read");
    assert_eq!(Dialect::of(&node), dialect, "{name}");
    let native = to_native(dialect, node, &sources, &mut out);
    let texts: Vec<String> = native.iter().map(|native| emit(&native.node)).collect();
    native.iter().for_each(|native| assert_places(&native.node, text.len()));
    let findings: String = out.iter().map(|finding| line(finding, &sources)).collect();
    format!("{}{findings}", texts.join("---\n"))
}

/// Only the findings.
pub(super) fn findings(dialect: Dialect, name: &str, text: &str) -> String {
    let all = transcript(dialect, name, text);
    let lines = all.lines().filter(|line| line.starts_with("# "));
    lines.collect::<Vec<_>>().join("\n")
}

fn line(finding: &Diagnostic, sources: &Sources) -> String {
    let report = finding.report(sources);
    let severity = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let help = finding.help.as_deref().map(|help| format!(" ({help})")).unwrap_or_default();
    format!("# {}:{} {severity} {}: {}{help}\n", report.line, report.column, finding.code, finding.message)
}

fn assert_places(node: &Node, length: usize) {
    assert!(node.span.end as usize <= length, "{node:?} stands outside of the file");
    node.items().into_iter().flatten().for_each(|item| assert_places(item, length));
    for (key, value) in node.entries().unwrap_or_default() {
        assert_places(key, length);
        assert_places(value, length);
    }
}

/// The findings with their source text and label; works for any tree that can be read.
pub(super) fn pointed(dialect: Dialect, name: &str, text: &str) -> String {
    let mut sources = Sources::default();
    let file = sources.add(name, text);
    let mut out = Vec::new();
    if let Some(tree) = read(&sources, file, Format::of(name), &mut out) {
        to_native(dialect, tree, &sources, &mut out);
    }
    out.iter().map(|found| pointed_line(found, &sources)).collect::<Vec<_>>().join("\n")
}

fn pointed_line(found: &Diagnostic, sources: &Sources) -> String {
    let report = found.report(sources);
    let severity = match found.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let slice = sources.slice(found.span);
    let shown = if slice.len() > 30 || slice.contains('\n') { String::new() } else { format!(" at `{slice}`") };
    let help = report.help.map_or_else(String::new, |help| format!("; {help}"));
    let place = format!("{}:{}{shown}", report.line, report.column);
    format!("{severity}[{}] {place}: {} ({}{help})", found.code, found.message, found.label)
}

/// The codes of all findings from text to plan.
pub(super) fn codes(name: &str, text: &str) -> Vec<&'static str> {
    let request =
        CheckRequest { file: name.to_owned(), name: "w".into(), text: text.to_owned(), ..CheckRequest::default() };
    crate::check(request, &Bare::default()).diagnostics.iter().map(|found| found.code).collect()
}

/// The codes of the findings for the native text of a file, read as a native file.
pub(super) fn native_codes(dialect: Dialect, name: &str, text: &str) -> Vec<&'static str> {
    let mut sources = Sources::default();
    let file = sources.add(name, text);
    let mut out = Vec::new();
    let tree = read(&sources, file, Format::of(name), &mut out).expect("the file can be read");
    let natives = to_native(dialect, tree, &sources, &mut out);
    natives.iter().flat_map(|native| codes("native.yaml", &emit(&native.node))).collect()
}

/// Checks files of `tests/broken` by name: each has one mistake, and one finding.
macro_rules! one_finding_each {
    ($($name:literal => $code:literal),+ $(,)?) => {
        $(
            let text = include_str!(concat!("../../../../../tests/broken/", $name));
            assert_eq!(codes($name, text), [$code], "{}", $name);
        )+
    };
}

pub(super) use one_finding_each;
