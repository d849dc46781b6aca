//! What becomes of a file, as text that a test can hold: its native form, then what was said about it.

use super::{Dialect, to_native};
use crate::diagnostic::{Diagnostic, Severity};
use crate::source::{Format, Node, Sources, emit, read};

/// The native text and the findings, one a line.
pub(super) fn transcript(dialect: Dialect, name: &str, text: &str) -> String {
    let mut sources = Sources::default();
    let file = sources.add(name, text);
    let mut out = Vec::new();
    let node = read(&sources, file, Format::of(name), &mut out).expect("the file can be read");
    assert_eq!(Dialect::of(&node), dialect, "{name}");
    let native = to_native(dialect, node, &mut out);
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
