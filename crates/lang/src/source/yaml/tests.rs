//! Reading YAML, text in and text out.

use super::super::{Format, Sources, read};
use crate::diagnostic::line_and_column;

/// The tree on one line, then each finding.
fn check(text: &str) -> String {
    let mut sources = Sources::default();
    let file = sources.add("w.yaml", text);
    let mut out = Vec::new();
    let tree = read(&sources, file, Format::Yaml, &mut out);
    let mut lines = vec![tree.map_or_else(|| "nothing".to_owned(), |node| node.to_json().to_string())];
    for problem in &out {
        let (line, column) = line_and_column(text, problem.span.start as usize);
        lines.push(format!("{line}:{column} {} {} [{}]", problem.code, problem.message, sources.slice(problem.span)));
    }
    lines.join("\n")
}

#[test]
fn aliases_and_merge_keys_are_replaced() {
    assert_eq!(
        check("b: &x {c: 2}\nd: *x\ne: {<<: *x, c: 3, f: 4}\n"),
        r#"{"b":{"c":2},"d":{"c":2},"e":{"c":3,"f":4}}"#
    );
}
