//! Prints trees, and reads the printed text again.

use proptest::prelude::*;

use super::super::{FileId, Format, Node, Sources, Span, Style, Value, read};
use super::emit;
use crate::format::format;

fn formatted(text: &str) -> String {
    let mut sources = Sources::default();
    let file = sources.add("w.yaml", text);
    let mut out = Vec::new();
    format(&sources, file, &mut out).unwrap_or_else(|| panic!("{out:?}\n{text}"))
}

/// Formats, and checks that the meaning stays and a second pass changes nothing.
fn check(text: &str) -> String {
    let once = formatted(text);
    assert_eq!(formatted(&once), once, "twice is not once, from\n{text}");
    assert_eq!(json(&once), json(text), "it says something else:\n{once}");
    once
}

fn json(text: &str) -> String {
    let mut sources = Sources::default();
    let file = sources.add("w.yaml", text);
    let mut out = Vec::new();
    let tree = read(&sources, file, Format::Yaml, &mut out).unwrap_or_else(|| panic!("{out:?}\n{text}"));
    assert!(out.is_empty(), "{out:?}\n{text}");
    tree.to_json().to_string()
}

#[test]
fn layout_is_made_canonical() {
    assert_eq!(
        check(
            "---\nname:   'x'\nsteps:\n- id:  a\n  run: \"b: c\"\n-   id: b\n    needs: [ a,b ]\n    in: {x: 1,   y: 'no'}\nempty: {  }\nnothing:\n"
        ),
        "name: x\nsteps:\n  - id: a\n    run: \"b: c\"\n  - id: b\n    needs: [a, b]\n    in: {x: 1, y: \"no\"}\nempty: {}\nnothing:\n"
    );
}

#[test]
fn comments_and_blank_lines_stay_where_they_are() {
    let text = "# head\n\n# about a\na: 1 # one\n\n\n\nb: # of b\n  # first\n  - x # ex\n\n  # second\n  - k: v\n    # end of map\n  # end of list\n\n# about c\nc: | # block\n  text\n\n# last\n";
    assert_eq!(check(text), text.replace("\n\n\n\n", "\n\n"));
}

#[test]
fn comments_inside_brackets_open_them() {
    assert_eq!(
        check("a: [ # why\n  b, # bee\n  # see\n  c\n  # over\n] # out\n"),
        "a: # out\n  # why\n  - b # bee\n  # see\n  - c\n  # over\n"
    );
}

#[test]
fn anchors_aliases_and_merge_keys_stay() {
    let text = "base: &base\n  a: 1\nlist:\n  - &item\n    x: 1\n  - *item\n  - {<<: *base, b: 2}\nword: &w text\nagain: *w\n*w : key\n";
    assert_eq!(check(text), text);
}

#[test]
fn long_text_is_a_literal_block() {
    assert_eq!(check("a: \"x\\ny\"\nb: >\n  a\n\n  b\n"), "a: |-\n  x\n  y\nb: |\n  a\n  b\n");
    assert_eq!(check("a: \"  x\\ny\\n\\n\"\nb: 1\n"), "a: |2+\n    x\n  y\n\nb: 1\n");
    assert_eq!(check("a: \"x\\ty\\n\\x07\"\n"), "a: \"x\\ty\\n\\x07\"\n");
}

#[test]
fn text_that_looks_like_something_else_is_quoted() {
    assert_eq!(
        check(r#"['true', 'no', '1e3', '0x1', '~', '', ' ', '- a', '#x', 'a: b', '---', '{{ x }}', '12:30']"#),
        "[\"true\", \"no\", \"1e3\", \"0x1\", \"~\", \"\", \" \", \"- a\", \"#x\", \"a: b\", \"---\", \"{{ x }}\", \"12:30\"]\n"
    );
    assert_eq!(
        check(r#"[true, 'abc', 1.0, '2x', "it's", 'C:\d', 'say "x", y', 2026-01-01, null]"#),
        "[true, abc, 1.0, 2x, it's, C:\\d, 'say \"x\", y', \"2026-01-01\", null]\n"
    );
}

#[test]
fn wide_collections_are_broken_into_lines() {
    let wide = format!("a: [{}]\n", vec!["word"; 20].join(", "));
    assert_eq!(check(&wide), format!("a:\n{}", "  - word\n".repeat(20)));
    assert_eq!(check("a: {b: {c: 1}}\n"), "a:\n  b: {c: 1}\n");
}

fn nasty() -> impl Strategy<Value = String> {
    let words = [
        "",
        " ",
        "\n",
        "\n\n",
        "- a",
        "-",
        "--",
        "---",
        "...",
        "#x",
        "a #b",
        "a: b",
        "a:",
        ":a",
        "true",
        "No",
        "0x1",
        "0o7",
        "1e3",
        ".5",
        "1_000",
        "null",
        "~",
        "{{ x }}",
        "[",
        "]",
        "a,b",
        "{",
        "}",
        "'",
        "\"",
        "\\",
        "it's \"x\"",
        "a\\b",
        "é",
        "😀",
        "\u{85}",
        "\u{2028}",
        "\u{feff}",
        "\u{7}",
        "a ",
        " a",
        "a\n",
        "a\nb",
        " a\nb\n",
        "a\n\n",
        "\na",
        "\n a\n",
        "a \nb\t\n",
        "\ta\n",
        "a\n\tb",
        "a\r\nb",
        "<<",
        "*a",
        "&a",
        "!t",
        "%x",
        "@x",
        "`x`",
        "| x",
        "> x",
        "? x",
        "?x",
        "=",
        "12:30",
        "2026-01-01",
        "# a\n# b",
        "a\n# b\n",
        "  \na\n",
        "a\n  \n",
        "+",
        ".",
        "-1",
        "- ",
        "a:b",
        "http://x/y",
        "a\n---\nb\n",
    ];
    prop_oneof![proptest::sample::select(words.to_vec()).prop_map(str::to_owned), "\\PC{0,12}", "[ a\n:#'\"-]{0,8}"]
}

fn styled(text: String, style: usize) -> Node {
    let style = [Style::Single, Style::Double, Style::Literal, Style::Folded][style % 4];
    Node::new(Span::new(FileId(0), 0, 0), Value::Scalar(text, style))
}

fn tree() -> impl Strategy<Value = Node> {
    let span = Span::new(FileId(0), 0, 0);
    let plain = proptest::sample::select(vec!["", "1", "true", "null", "1.5", "word", "~", "-3", "no"]);
    let leaf = prop_oneof![
        (nasty(), 0usize..4).prop_map(|(text, style)| styled(text, style)),
        plain.prop_map(move |text| Node::plain(span, text)),
    ];
    leaf.prop_recursive(4, 40, 5, move |inner| {
        let map = proptest::collection::vec((nasty(), inner.clone()), 0..5);
        prop_oneof![
            (proptest::collection::vec(inner, 0..5), any::<bool>())
                .prop_map(move |(items, flow)| Node::new(span, Value::Seq(items, flow))),
            (map, any::<bool>()).prop_map(move |(entries, flow)| {
                let mut seen = std::collections::HashSet::new();
                let entries = entries.into_iter().filter(|(key, _)| seen.insert(key.clone()));
                let entries = entries.map(|(key, value)| (styled(key, 1), value)).collect();
                Node::new(span, Value::Map(entries, flow))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn any_tree_reads_as_it_was_printed(tree in tree()) {
        let text = emit(&tree);
        let mut sources = Sources::default();
        let file = sources.add("w.yaml", text.clone());
        let mut out = Vec::new();
        let back = read(&sources, file, Format::Yaml, &mut out);
        let nothing = tree.is_null() && text.trim().is_empty();
        if !nothing {
            prop_assert!(out.is_empty(), "{out:?}\n{text}");
            prop_assert_eq!(back.map(|node| node.to_json().to_string()), Some(tree.to_json().to_string()), "{}", text);
            prop_assert_eq!(&formatted(&text), &text);
        }
    }

    #[test]
    fn formatting_twice_is_formatting_once(lines in proptest::collection::vec("( |  |    )?(- ){0,2}(a|b|c|d)?(: )?(x|\\[a, b\\]|\\[|,|\\]|\\{|\\}|\\||'y'|&n|)( ?# ?c)?|", 1..12)) {
        let text = lines.join("\n") + "\n";
        let mut sources = Sources::default();
        let file = sources.add("w.yaml", text.clone());
        if let Some(once) = format(&sources, file, &mut Vec::new()) {
            prop_assert_eq!(&formatted(&once), &once, "from\n{}", text);
            prop_assert_eq!(json(&once), json(&text), "{}", once);
            prop_assert_eq!(once.matches('#').count(), text.matches('#').count(), "from\n{}\nto\n{}", text, once);
        }
    }
}
