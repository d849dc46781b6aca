//! Tests text that is too large, too deep, not text, or more than it seems.

use std::fs;

use crate::hostile::child::{folder_with, refused, refused_in, run, said};

/// Each level is ten of the level below.
fn bomb(levels: usize, level: impl Fn(usize) -> String) -> String {
    let first = "a0: &a0 {k0: x, k1: x, k2: x, k3: x, k4: x, k5: x, k6: x, k7: x, k8: x, k9: x}\n".to_owned();
    first + &(1..=levels).map(level).collect::<String>()
}

#[test]
fn aliases_of_aliases_do_not_grow() {
    let text = bomb(9, |at| format!("a{at}: &a{at} [{}]\n", vec![format!("*a{}", at - 1); 10].join(", ")));
    assert!(refused(text, "LH0102").contains("400000 values"));
}

#[test]
fn merge_keys_of_merge_keys_do_not_grow() {
    let text = bomb(9, |at| {
        let entries: String = (0..10).map(|key| format!("  k{key}_{at}: *a{}\n", at - 1)).collect();
        format!("a{at}: &a{at}\n  <<: *a{}\n{entries}", at - 1)
    });
    refused(text, "LH0102");
}

#[test]
fn nesting_has_an_end() {
    refused(format!("a: {}", "[".repeat(100_000)), "LH0102");
    refused(format!("a: {}{}", "[".repeat(100_000), "]".repeat(100_000)), "LH0102");
    refused(format!("a: {}", "{a: ".repeat(100_000)), "LH0102");
    refused("- ".repeat(100_000), "LH0102");
    refused((0..2_800).map(|at| format!("{}a:\n", " ".repeat(at))).collect::<String>(), "LH0102");
}

#[test]
fn a_file_of_a_hundred_megabytes_is_not_read() {
    let folder = folder_with("");
    fs::File::options().write(true).open(folder.path().join("w.yaml")).unwrap().set_len(100 << 20).unwrap();
    let (codes, text) = refused_in(folder.path(), "w.yaml");
    assert_eq!(codes, ["LH0102"], "{text}");
}

#[test]
fn a_line_of_ten_megabytes_is_refused() {
    refused(format!("name: {}", "x".repeat(10 << 20)), "LH0102");
}

#[test]
fn a_long_line_is_not_printed_whole() {
    let text = refused(format!("do: [{{run: x}}]\nname: {}\n{}: 1\n", "x".repeat(1 << 20), "y".repeat(900)), "LH0108");
    assert!(text.len() < 5_000, "{}", text.len());
    let text = refused(format!("do: [{{run: '{}', wrong: 1}}]", "x".repeat(200_000)), "LH0108");
    assert!(text.len() < 5_000 && text.contains("w.yaml:1:200016"), "{text:.2000}");
}

#[test]
fn characters_that_nobody_sees_are_refused() {
    refused("name: a\0b\n", "LH0103");
    refused("name: a\u{7}b\n", "LH0103");
    refused("name: a\u{9b}b\n", "LH0103");
}

#[test]
fn broken_utf_8_is_refused() {
    let broken: &[&[u8]] =
        &[b"name: \xff\xfe\n", b"name: \xc3", b"name: \xed\xa0\x80\n", b"name: \xf8\x88\x80\x80\x80\n"];
    for bytes in broken {
        refused(bytes, "LH0103");
    }
    let wide: Vec<u8> = "\u{feff}name: x\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    refused(wide, "LH0103");
}

#[test]
fn a_byte_order_mark_is_no_mistake() {
    let folder = folder_with("\u{feff}do: [{run: echo}]\n");
    let output = run(folder.path(), &["check", "w.yaml"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}

#[test]
fn tags_make_nothing() {
    let folder = folder_with("do: !!python/object/apply:os.system [\"touch evil\"]\n");
    let (codes, text) = refused_in(folder.path(), "w.yaml");
    assert_eq!(codes.first().map(String::as_str), Some("LH0105"), "{text}");
    assert!(!folder.path().join("evil").exists());
}

#[test]
fn a_key_stands_once() {
    refused("do: [{run: a}]\ndo: [{run: b}]\n", "LH0104");
}

#[test]
fn three_hundred_thousand_scalars_are_looked_at() {
    let text = refused(format!("do: [{{run: x}}]\nfoo: [{}a]\n", "a,".repeat(300_000)), "LH0108");
    assert!(text.len() < 3_000, "{}", text.len());
    refused(format!("do: [{}a]\n", "a,".repeat(300_000)), "LH0107");
}

#[test]
fn of_ten_thousand_mistakes_a_hundred_are_printed() {
    let text: String = (0..10_000).map(|at| format!("- {{run: echo, wrng{at}: 1}}\n")).collect();
    let folder = folder_with(format!("do:\n{text}"));
    let (_, text) = refused_in(folder.path(), "w.yaml");
    assert_eq!(text.matches("error[LH0108]").count(), 100);
    assert!(text.contains("… and 9900 more") && text.contains("10000 errors"), "{:.500}", text);
    let all = said(&run(folder.path(), &["check", "--all", "w.yaml"]));
    assert_eq!(all.matches("error[LH0108]").count(), 10_000);
    let json = said(&run(folder.path(), &["check", "--json", "w.yaml"]));
    assert_eq!(json.matches("\"LH0108\"").count(), 10_000);
}
