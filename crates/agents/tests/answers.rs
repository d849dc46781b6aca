//! Tests which value is taken from the text of an answer.

use longhaul_agents::answer::{AnswerProblem, compat, instructions, value};
use longhaul_core::Json;
use proptest::prelude::*;
use serde_json::json;

/// Accepts an object with a number `n`, as a schema would.
fn wants_n(value: &Json) -> Option<String> {
    let fits = value.get("n").is_some_and(Json::is_number);
    (!fits).then(|| "\"n\" is a required property".to_owned())
}

fn anything(_: &Json) -> Option<String> {
    None
}

fn with_n(text: &str) -> String {
    shown(value(text, &wants_n))
}

fn shown(found: Result<Json, AnswerProblem>) -> String {
    found.map_or_else(|problem| format!("! {problem}"), |value| value.to_string())
}

#[test]
fn a_value_is_found_wherever_it_stands() {
    for text in [
        r#"{"n": 1}"#,
        "  {\"n\": 1}\n",
        "```json\n{\"n\": 1}\n```",
        "```JSON\n{\"n\": 1}\n```",
        "```\n{\"n\": 1}\n```",
        "~~~~ python\n{\"n\": 1}\n~~~~",
        "Here it is: {\"n\": 1}. Anything else?",
        "I read [1] and {this}; the result:\n{\"n\": 1}",
        "fn main() { let x = {\"n\": 1}; }",
        "[{\"n\": 1}]",
        "{\"result\": {\"n\": 1}}",
        "{\"result\": {\"deep\": {\"n\": 2}, \"near\": 0}, \"other\": [{\"n\": 1}]}",
        "it's a \"quote\" and then {\"n\": 1}",
    ] {
        let expected = if text.contains("deep") { "{\"n\":2}" } else { "{\"n\":1}" };
        assert_eq!(with_n(text), expected, "{text}");
    }
}

#[test]
fn the_last_object_that_fits_is_taken() {
    assert_eq!(with_n("Such as {\"n\": 0}. So: {\"n\": 1}"), r#"{"n":1}"#);
    assert_eq!(with_n("{\"n\": 1}\n\nSources: [1, 2], {\"m\": 3}"), r#"{"n":1}"#);
    assert_eq!(with_n("```json\n{\"n\": 0}\n```\nor rather\n```json\n{\"n\": 1}\n```"), r#"{"n":1}"#);
    assert_eq!(shown(value("{\"a\": 1} and [2]", &anything)), r#"{"a":1}"#);
    assert_eq!(shown(value("see [1], then [2, 3]", &anything)), "[2,3]");
}

#[test]
fn what_is_nearly_json_is_repaired_if_it_then_fits() {
    for text in [
        r#"{"n": 1,}"#,
        r#"{'n': 1}"#,
        r#"{n: 1}"#,
        "{“n”: 1}",
        "{\"n\": 1 // how many\n}",
        "{/* how many */ \"n\": 1}",
        "{\n# how many\nn: 1,\n}",
        r#"{"n": 1"#,
        "```json\n{\"n\": 1\n```",
        r#"{"n": +1}"#,
    ] {
        assert_eq!(with_n(text), r#"{"n":1}"#, "{text}");
    }
    assert_eq!(
        with_n("{n: 1, 'a': [1, 2,], b: {c: True, d: None, e: NaN,}, f: 'it\\'s\nso \\u00e9\\ud83d\\ude00'"),
        "{\"n\":1,\"a\":[1,2],\"b\":{\"c\":true,\"d\":null,\"e\":null},\"f\":\"it's\\nso é😀\"}"
    );
}

#[test]
fn nothing_is_made_up() {
    for text in [r#"{"n": 1, "text": "breaks o"#, r#"{"n": "#, r#"{"n"#, "{n}", "{n: one}", "{m: 1,}"] {
        assert!(with_n(text).starts_with('!'), "{text}: {}", with_n(text));
    }
    assert_eq!(with_n("no value here"), "! the answer contains no JSON");
    assert_eq!(with_n(r#"{"m": 1}"#), "! the answer does not follow its schema: \"n\" is a required property");
}

#[test]
fn strict_json_that_fits_is_never_repaired_away() {
    assert_eq!(
        with_n("{\"n\": 1, \"s\": \"// no comment, 'no' quote,\"}"),
        r#"{"n":1,"s":"// no comment, 'no' quote,"}"#
    );
    assert_eq!(with_n("{\"n\": 1}\n{n: 2}"), r#"{"n":1}"#);
}

#[test]
fn values_that_are_no_objects_can_be_asked_for() {
    let number = |value: &Json| (!value.is_number()).then(|| "not a number".to_owned());
    assert_eq!(value("42", &number), Ok(json!(42)));
    assert_eq!(value("So:\n```\n42\n```\n", &number), Ok(json!(42)));
    assert!(value("It is 42.", &number).is_err());
}

#[test]
fn a_wall_of_braces_is_given_up() {
    let wall = "{[".repeat(200_000);
    assert!(with_n(&wall).starts_with('!'));
}

fn horse(text: &str, keys: &[&str]) -> String {
    shown(compat::between_braces(text, keys).map(Json::Object))
}

#[test]
fn workhorse_reads_the_first_fence_or_the_widest_braces() {
    let none = "! the answer contains no JSON object that can be read";
    for (text, expected) in [
        ("{\"a\": 1, \"extra\": 2}", r#"{"a":1}"#),
        ("```json\n{\"a\": 1}\n```", r#"{"a":1}"#),
        ("```\n{\"a\": 1}\n```", r#"{"a":1}"#),
        ("```json\n{\"a\": 1}\n```\n```json\n{\"a\": 2}\n```", r#"{"a":1}"#),
        ("so {\"a\": {\"b\": 1}} it is", r#"{"a":{"b":1}}"#),
        ("[{\"a\": 1}]", r#"{"a":1}"#),
        ("```python\n{\"a\": 1}\n```", r#"{"a":1}"#),
        ("```JSON\n{\"a\": 1}\n```", r#"{"a":1}"#),
        ("{\"a\": 1} {\"a\": 2}", none),
        ("```json\n{\"a\": 1,}\n```\n{\"a\": 2}", none),
        ("{\"a\": 1,}", none),
        ("no braces", none),
        ("```json\n{\"a\": \"three ``` ticks\"}\n```", r#"{"a":"three ``` ticks"}"#),
        ("{\"a\": NaN}", r#"{"a":null}"#),
        ("{\"a\": -Infinity, \"b\": \"NaN \\\" NaN\"}", r#"{"a":null}"#),
        ("{\"a\": null}", r#"{"a":null}"#),
        ("{\"a\": 1, \"a\": 2}", r#"{"a":2}"#),
        ("{\"b\": 1}", "! the answer lacks: a"),
    ] {
        assert_eq!(horse(text, &["a"]), expected, "{text}");
    }
    assert_eq!(horse("whatever", &[]), "{}");
    assert_eq!(horse("{\"b\": 1, \"a\": 2, \"c\": 3}", &["a", "b"]), r#"{"a":2,"b":1}"#);
    assert_eq!(horse("{}", &["a", "b"]), "! the answer lacks: a, b");
}

#[test]
fn valet_takes_the_fenced_the_leading_or_the_first_object() {
    let good = r#"{"name":"a","count":1}"#;
    for text in [
        good.to_owned(),
        format!("Here:\n```json\n{good}\n```\nand {{\"name\": 1}}"),
        format!("Here: {good} done {{\"name\": 1}}"),
    ] {
        assert_eq!(shown(compat::first_object(&text)), good, "{text}");
    }
    assert_eq!(shown(compat::first_object("nothing")), "! the answer contains no JSON object");
}

#[test]
fn an_agent_without_schemas_is_told_what_its_answer_looks_like() {
    assert!(instructions(&json!({"type": "object"})).contains("```json\n{\n  \"type\": \"object\""));
}

proptest! {
    #[test]
    fn every_value_is_found_again_in_prose(n in any::<i64>(), text in "[^\\x00-\\x1f]{0,40}", list in prop::collection::vec("[a-z\"'{}\\[\\]]{0,6}", 0..4)) {
        let wanted = json!({"n": n, "text": text, "list": list});
        for answer in [format!("{wanted:#}"), format!("So:\n```json\n{wanted:#}\n```\nThat is all."), format!("So: {wanted} and no more.")] {
            prop_assert_eq!(value(&answer, &wants_n).unwrap(), wanted.clone());
        }
    }

    #[test]
    fn no_text_breaks_it(text in "[{}\\[\\]\"':,a1é`~\\\\\n/*#“” -]{0,80}") {
        let _ = value(&text, &wants_n);
        let _ = compat::between_braces(&text, &["a"]);
        let _ = compat::first_object(&text);
    }
}
