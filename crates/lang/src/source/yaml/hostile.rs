//! Hostile inputs: each must be refused, or read, quickly and without a panic.

use proptest::prelude::*;

use super::super::{FILE_BYTES_MAX, Format, Node, Sources, Value, read, read_verbatim};

/// The codes of the findings, or `read`.
fn check(text: impl Into<String>) -> String {
    let mut sources = Sources::default();
    let file = sources.add("w.yaml", text);
    let mut out = Vec::new();
    let tree = read(&sources, file, Format::Yaml, &mut out);
    let codes: Vec<&str> = out.iter().map(|problem| problem.code).collect();
    match (tree, codes.is_empty()) {
        (Some(_), true) => "read".to_owned(),
        (Some(_), false) => format!("read {}", codes.join(" ")),
        (None, _) => codes.join(" "),
    }
}

#[test]
fn an_alias_bomb_is_refused() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..9 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
    }
    assert_eq!(check(bomb), "LH0102");
}

#[test]
fn a_merge_bomb_is_refused() {
    let mut bomb = "a0: &a0 {k: x}\n".to_owned();
    for level in 1..30 {
        bomb.push_str(&format!("a{level}: &a{level}\n  l{level}: *a{0}\n  <<: [*a{0}, *a{0}]\n", level - 1));
    }
    assert_eq!(check(bomb), "LH0102");
}

#[test]
fn many_copies_of_a_long_text_are_refused() {
    let text = format!("a: &a \"{}\"\nb: [{}]\n", "x".repeat(100_000), "*a, ".repeat(1000));
    assert_eq!(check(text), "LH0102");
}

#[test]
fn anchors_at_every_level_are_not_copied() {
    let mut text = String::new();
    for level in 0..90 {
        text.push_str(&format!("{}- &a{level}\n", "  ".repeat(level)));
    }
    text.push_str(&format!("{}- [{}]\n", "  ".repeat(90), "1,".repeat(300_000)));
    assert_eq!(check(text), "read");
}

#[test]
fn depth_is_limited_through_aliases_too() {
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert_eq!(check(deep(100)), "read");
    assert_eq!(check(deep(101)), "LH0102");
    assert_eq!(check(format!("a: &a {}\nb: {}*a{}\n", deep(60), "[".repeat(60), "]".repeat(60))), "LH0102");
    assert_eq!(check(format!("a: &a {}\nb: {}*a{}\n", deep(30), "[".repeat(30), "]".repeat(30))), "read");
}

#[test]
fn endless_nesting_is_refused() {
    for piece in ["[", "{a: ", "- ", "? ", "[{a: "] {
        assert_eq!(check(piece.repeat(100_000)), "LH0102", "{piece}");
    }
    let maps: String = (0..2000).map(|level| format!("{}a:\n", " ".repeat(level))).collect();
    assert_eq!(check(maps), "LH0102");
}

#[test]
fn large_files_are_refused_and_long_lines_are_not() {
    assert_eq!(check(format!("a: {}", "x".repeat(FILE_BYTES_MAX - 2))), "LH0102");
    assert_eq!(check(format!("a: {}", "x".repeat(FILE_BYTES_MAX - 3))), "read");
    assert_eq!(check(format!("a: \"{}\"\n", "x y ".repeat(750_000))), "read");
    assert_eq!(check(format!("a: |\n{}", "  x\n".repeat(750_000))), "read");
    assert_eq!(check(format!("[{}]", "1,".repeat(500_000))), "LH0102");
    assert_eq!(check(format!("a: \"{}", "\\\\".repeat(1_000_000))), "LH0101");
    assert_eq!(check(format!("a: \"{}\\q\"", "\\\\".repeat(1_000_000))), "LH0101");
}

#[test]
fn many_keys_and_comments_are_read_in_time() {
    let keys: String = (0..60_000).map(|key| format!("k{key}: 1\n")).collect();
    assert_eq!(check(keys), "read");
    assert_eq!(formatted("# c\n".repeat(50_000) + "a: 1\n").matches('#').count(), 50_000);
    assert_eq!(formatted(format!("[{}]", "1,".repeat(100_000))).lines().count(), 100_000);
    assert_eq!(formatted("a: 1 # c\n".to_owned() + &"# c\n\n".repeat(50_000)).matches('#').count(), 50_001);
}

fn formatted(text: String) -> String {
    let mut sources = Sources::default();
    let file = sources.add("w.yaml", text);
    crate::format::format(&sources, file, &mut Vec::new()).unwrap()
}

#[test]
fn hidden_characters_are_refused() {
    for c in ['\0', '\u{7}', '\u{1b}', '\u{7f}', '\u{9b}', '\u{ffff}'] {
        assert_eq!(check(format!("a: x{c}y\n")), "LH0103", "{c:?}");
    }
    assert_eq!(check("a: x\u{feff}y\n"), "LH0103");
    assert_eq!(check("\u{feff}a: \u{85}\u{a0}é😀\n"), "read");
}

/// Every span lies in the file, on character boundaries.
fn assert_in_bounds(sources: &Sources, node: &Node) {
    let text = &sources.file(node.span.file).text;
    assert!(text.get(node.span.start as usize..node.span.end as usize).is_some(), "{:?} in {text:?}", node.span);
    match &node.value {
        Value::Scalar(..) | Value::Alias(_) => {}
        Value::Seq(items, _) => items.iter().for_each(|item| assert_in_bounds(sources, item)),
        Value::Map(entries, _) => entries.iter().for_each(|(key, value)| {
            assert_in_bounds(sources, key);
            assert_in_bounds(sources, value);
        }),
    }
}

fn smoke(text: &str) {
    for name in ["w.yaml", "w.toml", "w.md"] {
        let mut sources = Sources::default();
        let file = sources.add(name, text);
        let mut out = Vec::new();
        let trees = [read(&sources, file, Format::of(name), &mut out), read_verbatim(&sources, file, &mut out)];
        trees.iter().flatten().for_each(|tree| assert_in_bounds(&sources, tree));
        for problem in &out {
            let range = problem.span.start as usize..problem.span.end as usize;
            assert!(text.get(range).is_some(), "{problem:?} in {text:?}");
        }
    }
}

const WORKFLOW: &str = "---\n# c\nname: &n \"x\\ty\"\nsteps:\n  - id: 'a''b' # d\n    <<: {run: |-\n    }\n  - prompt: >\n      é {{ x }}\n\n      b\n  - {a: [1, 2], *n : !!str 5}\n---\n## `h`\n```\nx\n";

proptest! {
    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        smoke(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_punctuation_is_read_without_a_panic(text in "[-a:?,\\[\\]{}&*!|>'\"%@`# \t\r\n<=\\\\é\u{feff}]{0,60}") {
        smoke(&text);
        smoke(&format!("---\n{text}\n---\n## a\n{text}"));
    }

    #[test]
    fn a_damaged_workflow_is_read_without_a_panic(cut in 0usize..200, length in 0usize..9, insert in "[-a:?,\\[\\]{}&*!|>'\"# \t\r\n\\\\é]{0,4}") {
        let chars: Vec<char> = WORKFLOW.chars().collect();
        let cut = cut.min(chars.len());
        let rest = chars.iter().skip(cut + length);
        let text: String = chars[..cut].iter().copied().chain(insert.chars()).chain(rest.copied()).collect();
        smoke(&text);
    }
}
