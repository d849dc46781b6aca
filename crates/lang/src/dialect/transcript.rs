//! Text in, text out: a file of another system, the native text it becomes, and what was said about it.

use super::{Dialect, to_native};
use crate::diagnostic::{Diagnostic, Severity};
use crate::source::{Format, Sources, emit, read};

/// The native workflows of a file, then the findings, one a line.
pub(super) fn transcript(dialect: Dialect, name: &str, text: &str) -> String {
    let mut sources = Sources::default();
    let file = sources.add(name, text);
    let mut out = Vec::new();
    let tree = read(&sources, file, Format::of(name), &mut out).expect("the example can be read");
    assert_eq!(Dialect::of(&tree), dialect, "{name}");
    let mut lines = Vec::new();
    for native in to_native(dialect, tree, &sources, &mut out) {
        lines.push(native.name.map_or_else(String::new, |name| format!("# {name}\n")) + &emit(&native.node));
    }
    lines.extend(out.iter().map(|found| finding(found, &sources)));
    lines.join("\n")
}

/// Only the findings.
pub(super) fn findings(dialect: Dialect, name: &str, text: &str) -> String {
    let mut sources = Sources::default();
    let file = sources.add(name, text);
    let mut out = Vec::new();
    if let Some(tree) = read(&sources, file, Format::of(name), &mut out) {
        to_native(dialect, tree, &sources, &mut out);
    }
    out.iter().map(|found| finding(found, &sources)).collect::<Vec<_>>().join("\n")
}

fn finding(found: &Diagnostic, sources: &Sources) -> String {
    let report = found.report(sources);
    let severity = match found.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let place = format!("{}:{}", report.line, report.column);
    let slice = sources.slice(found.span);
    let shown = if slice.len() > 30 || slice.contains('\n') { String::new() } else { format!(" at `{slice}`") };
    let help = report.help.map_or_else(String::new, |help| format!("; {help}"));
    format!("{severity}[{}] {place}{shown}: {} ({}{help})", found.code, found.message, found.label)
}

/// Every broken file of a dialect has exactly one mistake, and it is told as one finding.
macro_rules! one_mistake_each {
    ($dialect:expr, $($name:literal => $code:literal),+ $(,)?) => {
        $(
            let text = include_str!(concat!("../../../../../tests/broken/", $name));
            let found = findings($dialect, $name, text);
            assert!(found.contains($code) && found.lines().count() == 1, "{}: {found}", $name);
        )+
    };
}

pub(super) use one_mistake_each;
