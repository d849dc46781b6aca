//! Formats the report of a review for people: as lines of a terminal, and as Markdown.

use longhaul_core::Json;
use longhaul_lang::diagnostic::plain;

use crate::ui;
use crate::width::wrap;

/// The report in lines of at most `width` columns.
pub(crate) fn lines(report: &Json, width: usize) -> Vec<String> {
    let findings = list(report, "findings");
    let head = format!("{}, {}", verdict(report), ui::count(findings.len(), "finding"));
    let mut lines = vec![ui::bold(head), String::new()];
    lines.extend(wrap(&text(report, "summary"), width));
    for (number, finding) in (1..).zip(findings) {
        lines.push(String::new());
        lines.extend(entry(number, finding, width));
    }
    lines
}

fn entry(number: usize, finding: &Json, width: usize) -> Vec<String> {
    let severity = match text(finding, "severity").as_str() {
        word @ ("critical" | "major") => ui::bad(word),
        word => ui::dim(word),
    };
    let head =
        format!("{number}. {severity}  {}  {}", ui::bold(text(finding, "place")), ui::dim(text(finding, "from")));
    let indented = |text: String| {
        let inner = width.saturating_sub(3);
        wrap(&text, inner).into_iter().map(|line| format!("   {line}")).collect::<Vec<_>>()
    };
    let mut lines = vec![head];
    lines.extend(indented(text(finding, "problem")));
    lines.extend(indented(format!("→ {}", text(finding, "remedy"))));
    lines
}

/// The report as Markdown.
pub(crate) fn markdown(report: &Json) -> String {
    let mut page = format!("# Review: {}\n\n{}\n", verdict(report), text(report, "summary"));
    for finding in list(report, "findings") {
        let [place, severity, from] = ["place", "severity", "from"].map(|key| text(finding, key));
        page.push_str(&format!("\n## {place} ({severity}, {from})\n\n{}\n\n", text(finding, "problem")));
        page.push_str(&format!("Remedy: {}\n", text(finding, "remedy")));
    }
    page
}

fn verdict(report: &Json) -> String {
    text(report, "verdict").replace('_', " ")
}

fn list<'r>(report: &'r Json, key: &str) -> &'r [Json] {
    report.get(key).and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn text(of: &Json, key: &str) -> String {
    plain(of.get(key).and_then(Json::as_str).unwrap_or_default())
}
