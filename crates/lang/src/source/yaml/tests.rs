//! Reading YAML, text in and text out.

use super::super::{Format, Node, Sources, read};

/// The tree on one line, then each finding.
fn check(text: &str) -> String {
    let mut sources = Sources::default();
    let file = sources.add("w.yaml", text);
    let mut out = Vec::new();
    let tree = read(&sources, file, Format::Yaml, &mut out);
    let mut lines = vec![tree.map_or_else(|| "nothing".to_owned(), |node| node.to_json().to_string())];
    for problem in &out {
        let (line, column) = sources.file(file).line_and_column(problem.span.start as usize);
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

#[test]
fn merged_entries_stand_where_the_merge_key_does_and_the_first_wins() {
    assert_eq!(
        check("- &a {x: 1, y: 1}\n- &b {y: 2, z: 2}\n- {p: 0, <<: [*a, *b], z: 3}\n- {\"<<\": 1}\n"),
        r#"[{"x":1,"y":1},{"y":2,"z":2},{"p":0,"x":1,"y":1,"z":3},{"<<":1}]"#
    );
}

#[test]
fn an_alias_means_the_anchor_that_stood_before_it() {
    assert_eq!(check("- &a [1]\n- &b [*a]\n- &a [2]\n- *b\n- *a\n"), "[[1],[[1]],[2],[[1]],[2]]");
    assert_eq!(check("k: &k name\n*k : 1\n"), r#"{"k":"name","name":1}"#);
}

#[test]
fn an_alias_of_nothing_is_reported_and_reading_goes_on() {
    assert_eq!(
        check("a: *nope\nb: &b [*b]\nc: {<<: 1}\nd: {<<: [{x: 1}, 2]}\n"),
        "{\"a\":null,\"b\":[null],\"c\":{},\"d\":{\"x\":1}}
1:4 LH0106 the alias `*nope` names nothing [*nope]
2:8 LH0106 `*b` stands inside the value that it names [*b]
3:9 LH0106 a merge key must be given a mapping [1]
4:18 LH0106 a merge key must be given a mapping [2]"
    );
}

#[test]
fn keys_are_unique_text() {
    assert_eq!(
        check("a: 1\n? [x]\n: 2\n'a': 3\n{y: z}: 4\nb: 5\n"),
        "{\"a\":1,\"b\":5}
2:3 LH0107 a key must be text [[x]]
4:1 LH0104 the key `a` is here twice ['a']
5:1 LH0107 a key must be text [{y: z}]"
    );
}

#[test]
fn a_template_without_quotes_is_told_from_a_mapping() {
    assert_eq!(
        check("a: {{ x }}\nb: {k: {{ y }}}\n"),
        "{\"a\":{},\"b\":{\"k\":{}}}
1:4 LH0107 a template that starts a value needs quotes [{{ x }}]
2:8 LH0107 a template that starts a value needs quotes [{{ y }}]"
    );
}

#[test]
fn core_tags_count_and_others_do_not() {
    assert_eq!(
        check("[!!str 5, !!int '5', !!bool \"true\", !!null '', ! 7, !!seq [1], !!map {a: 1}]"),
        r#"["5",5,true,null,"7",[1],{"a":1}]"#
    );
    assert_eq!(
        check("- !x 5\n- !!python/object {a: 1}\n- !!map [1]\n- !!str [1]\n"),
        "[5,{\"a\":1},[1],[1]]
1:3 LH0105 the tag `!x` is not known here [!x]
2:3 LH0105 the tag `!!python/object` is not known here [!!python/object]
3:3 LH0105 the tag `!!map` is not known here [!!map]
4:3 LH0105 the tag `!!str` is not known here [!!str]"
    );
}

#[test]
fn json_is_yaml() {
    assert_eq!(
        check("{\n\t\"a\\/b\": \"\\ud83d\\ude00\\u00e9\",\t\"c\"\t:[1,\t2.50,null,true,\"\"],\n\t\"d\"\n:{}}\n"),
        r#"{"a/b":"😀é","c":[1,2.5,null,true,""],"d":{}}"#
    );
}

#[test]
fn a_file_is_one_document_that_says_something() {
    for text in ["", "\n\n", "# c\n", "---\n", "---\n...\n"] {
        assert_eq!(check(text), "nothing\n1:1 LH0110 the file is empty []", "{text:?}");
    }
    assert_eq!(check("a: 1\n---\nb: 2\n"), "{\"a\":1}\n2:1 LH0110 the file has a second document [---]");
    assert_eq!(check("~"), "null");
    assert_eq!(check("%YAML 1.2\n---\n- a\n...\n"), r#"["a"]"#);
}

#[test]
fn a_syntax_error_is_told_in_words_at_its_place() {
    for (text, finding) in [
        ("a:\n\tb: 1\n", "2:1 LH0101 a tab is used to indent [\t]"),
        ("a: 1\nb:2\nc: 3\n", "2:2 LH0101 there is no space after a colon [:2]"),
        ("a: b: c\n", "1:5 LH0101 a colon stands where no key can be [:]"),
        ("a: 'x\nb: 1\n", "1:4 LH0101 a quote is not closed ['x]"),
        ("a: \"x", "1:4 LH0101 a quote is not closed [\"x]"),
        ("a: [1, 2\nb: 3\n", "1:4 LH0101 a bracket is not closed [[1,]"),
        ("é: [x\n", "1:4 LH0101 a bracket is not closed [[x]"),
        ("a: [x}\n", "1:4 LH0101 a bracket is closed by one of another kind [[x}]"),
        ("a: 1\n]\n", "2:1 LH0101 a bracket is closed that was never opened []]"),
        ("a:\n   b: 1\n  c: 2\n", "3:3 LH0101 this line does not fit the lines above it [c:]"),
        ("a: [x] y\n", "1:8 LH0101 this line does not fit the lines above it [y]"),
        ("a: {{ x }} y\nb: 1\n", "1:4 LH0107 a template that starts a value needs quotes [{{ x }}]"),
        ("a: \"x\" y\n", "1:8 LH0101 text continues after a closing quote [y]"),
        ("a: @x\n", "1:4 LH0101 a text cannot start with this character [@x]"),
        ("a: \"\\\\ \\d+\"\n", "1:8 LH0101 a backslash is followed by something it cannot escape [\\d+\"]"),
        ("a: \"\\ud83dx\"\n", "1:5 LH0101 a backslash is followed by something it cannot escape [\\ud83dx\"]"),
        ("a: - b\n", "1:4 LH0101 a list item starts where no list can be [-]"),
        ("a: x # c\n  y\n", "1:6 LH0101 a comment stands in the middle of a text [#]"),
        ("a: | x\n  y\n", "1:4 LH0101 text stands on the line of a `|` or `>` [|]"),
        ("a: 1\nb\nc: 2\n", "2:1 LH0101 this line is neither a key nor part of the value above [b]"),
    ] {
        assert_eq!(check(text), format!("nothing\n{finding}"), "{text:?}");
    }
}

/// Each node's source, in the order of the tree.
fn spans(text: &str) -> String {
    fn visit(sources: &Sources, node: &Node, lines: &mut Vec<String>) {
        lines.push(format!("{:?}", sources.slice(node.span)));
        for item in node.items().unwrap_or_default() {
            visit(sources, item, lines);
        }
        for (key, value) in node.entries().unwrap_or_default() {
            visit(sources, key, lines);
            visit(sources, value, lines);
        }
    }
    let mut sources = Sources::default();
    let file = sources.add("w.yaml", text);
    let tree = read(&sources, file, Format::Yaml, &mut Vec::new()).unwrap();
    let mut lines = Vec::new();
    visit(&sources, &tree, &mut lines);
    lines.join("\n")
}

#[test]
fn spans_cover_what_was_written() {
    assert_eq!(
        spans("a: \"é\"\r\nb: &x| |- # c\r\n  l\r\n\r\n  m  \r\n\r\nc:\r\nd: [1, 'x']\r\n\r\n"),
        r#""a: \"é\"\r\nb: &x| |- # c\r\n  l\r\n\r\n  m  \r\n\r\nc:\r\nd: [1, 'x']"
"a"
"\"é\""
"b"
"|- # c\r\n  l\r\n\r\n  m  "
"c"
""
"d"
"[1, 'x']"
"1"
"'x'""#
    );
}

#[test]
fn a_collection_that_ends_with_an_alias_ends_there() {
    assert_eq!(
        spans("a: &x 1\nb:\n  - *x\nc: |\nd: 2\n"),
        r#""a: &x 1\nb:\n  - *x\nc: |\nd: 2"
"a"
"1"
"b"
"- *x"
"1"
"c"
"|"
"d"
"2""#
    );
}
