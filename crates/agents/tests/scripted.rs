//! Tests the answers of the scripted agent, and its errors about wrong scripts.
use longhaul_agents::scripted::{Reply, Script, ScriptedFailure, ScriptedTurn, ScriptedUsage};
use longhaul_core::path::StepPath;
use longhaul_core::plan::ErrorClass;
use proptest::prelude::*;
use serde_json::json;

const SCRIPT: &str = r#"
default: {reply: "ok"}
replies:
  - step: plan
    attempt: 1
    contains: "parser"
    reply: {tasks: [{title: a}], done: false}
    after: 200ms
    usage: {input_tokens: 1200, output_tokens: 300, usd: 0.01}
    writes: {"src/a.txt": "content"}
  - {step: review, attempt: 1, fail: rate_limit, message: "overloaded", retry_after: 30s}
  - {step: review, fail: transient}
  - {step: fix, sequence: ["first", {n: 2}]}
  - {step: "tasks[1]/code", reply: "the second"}
  - {step: "tasks[*]/code", reply: ["a", "b"]}
"#;

fn ask(script: &str, path: &str, call: u32, prompt: &str) -> Reply {
    let path: StepPath = path.parse().unwrap();
    let attempt = path.attempt().unwrap_or(1);
    Script::parse(script).unwrap().reply(&ScriptedTurn { path: &path, attempt, call, prompt, schema: None })
}

fn text(path: &str, call: u32) -> String {
    ask(SCRIPT, path, call, "").text
}

#[test]
fn a_reply_comes_with_all_that_was_written_for_it() {
    let reply = ask(SCRIPT, "plan", 1, "write a parser");
    assert_eq!(reply.text, r#"{"tasks":[{"title":"a"}],"done":false}"#);
    assert_eq!((reply.after_ms, reply.failure), (200, None));
    assert_eq!(reply.usage, ScriptedUsage { input_tokens: 1200, output_tokens: 300, usd: 0.01 });
    assert_eq!(reply.writes, [("src/a.txt".to_owned(), "content".to_owned())].into());
}

#[test]
fn an_entry_is_only_for_its_attempt_and_its_prompt() {
    assert_eq!(ask(SCRIPT, "plan", 1, "write a printer").text, "ok");
    assert_eq!(ask(SCRIPT, "plan@2", 2, "write a parser").text, "ok");
    assert_eq!(text("unheard-of", 1), "ok");
}

#[test]
fn a_failure_has_its_class_and_the_first_entry_that_fits_counts() {
    let expected = ScriptedFailure {
        class: ErrorClass::RateLimit,
        message: "overloaded".to_owned(),
        retry_after_ms: Some(30_000),
    };
    assert_eq!(ask(SCRIPT, "review", 1, "").failure, Some(expected));
    let second = ask(SCRIPT, "review@2", 2, "");
    assert_eq!((second.text.as_str(), second.failure.unwrap().class), ("", ErrorClass::Transient));
    for (name, class) in
        [("timeout", ErrorClass::Timeout), ("invalid", ErrorClass::Invalid), ("failed", ErrorClass::Failed)]
    {
        let script = format!("default: {{fail: {name}}}");
        assert_eq!(ask(&script, "any", 1, "").failure.unwrap().class, class);
    }
}

#[test]
fn a_sequence_gives_one_per_call_and_then_its_last() {
    assert_eq!(
        [0, 1, 2, 3, 900].map(|call| text("fix", call)),
        ["first", "first", r#"{"n":2}"#, r#"{"n":2}"#, r#"{"n":2}"#]
    );
    assert_eq!([1, 2].map(|call| text("tasks[0]/code", call)), [r#"["a","b"]"#; 2], "a list is one reply");
}

#[test]
fn a_path_names_one_instance_and_a_star_many() {
    assert_eq!(text("tasks[1]/code@4", 1), "the second");
    assert_eq!(text("tasks[12]/code", 1), r#"["a","b"]"#);
}

#[test]
fn without_a_default_the_builtin_answer_fits_the_schema() {
    let schema = json!({"type": "object", "properties": {"verdict": {"enum": ["pass"]}}, "required": ["verdict"]});
    let path: StepPath = "a".parse().unwrap();
    for script in [Script::builtin(), Script::parse("replies: []").unwrap()] {
        let asked = ScriptedTurn { path: &path, attempt: 1, call: 1, prompt: "\n  Do it\nwell", schema: None };
        assert_eq!(script.reply(&asked), Reply { text: "A scripted reply to: Do it".to_owned(), ..Reply::default() });
        let asked = ScriptedTurn { schema: Some(&schema), ..asked };
        assert_eq!(script.reply(&asked).text, r#"{"verdict":"pass"}"#);
    }
}

#[test]
fn a_wrong_script_says_where_and_what_to_write() {
    let shape = "only one of `reply`, `sequence` and `fail` can be the answer";
    let inside = "does not name a file inside the workspace: write it relative, without `..`";
    for (script, expected) in [
        ("replys: []", "line 1: there is no key `replys` here: did you mean `replies`?".to_owned()),
        (
            "replies:\n  - step: a\n    repyl: b",
            "line 3: there is no key `repyl` here: did you mean `reply`?".to_owned(),
        ),
        (
            "default: {reply: a, usage: {tokens_in: 1}}",
            "line 1: there is no key `tokens_in` here: it can be `input_tokens`, `output_tokens`, `usd`".to_owned(),
        ),
        (
            "replies:\n- {step: a, fail: transiant}",
            "line 2: there is no value `transiant` here: did you mean `transient`?".to_owned(),
        ),
        ("replies:\n- {step: a, reply: x}\n- {step: a, reply: x, fail: failed}", format!("line 3: {shape}")),
        ("replies:\n- {step: a, reply: x, sequence: [y]}", format!("line 2: {shape}")),
        ("replies:\n- {step: a}", "line 2: what is answered? Write `reply`, `sequence` or `fail`".to_owned()),
        ("replies:\n- {step: a, sequence: []}", "line 2: `sequence` is empty".to_owned()),
        ("replies:\n- {step: '', reply: x}", "line 2: `step` is empty: write `*` for every step".to_owned()),
        ("replies:\n- {step: a, attempt: 0, reply: x}", "line 2: `attempt` counts from 1".to_owned()),
        (
            "replies:\n- {step: a, reply: x, after: 5}",
            "line 2: `after: 5` is not a time span: write one such as `200ms` or `1m30s`".to_owned(),
        ),
        (
            "replies:\n- {step: a, fail: failed, retry_after: soon}",
            "line 2: `retry_after: soon` is not a time span: write one such as `200ms` or `1m30s`".to_owned(),
        ),
        (
            "default: {reply: x, message: y}",
            "line 1: `message` and `retry_after` say more about `fail`, which is missing".to_owned(),
        ),
        ("default: {reply: x, writes: {../a: b}}", format!("line 1: `../a` {inside}")),
        ("default: {reply: x, writes: {/etc/a: b}}", format!("line 1: `/etc/a` {inside}")),
        ("default: {reply: x, usage: {usd: -1}}", "line 1: `usd` is an amount of money, 0 or more".to_owned()),
    ] {
        assert_eq!(Script::parse(script).unwrap_err().to_string(), expected, "{script}");
    }
}

#[test]
fn what_is_no_script_at_all_has_a_line_too() {
    for (script, line) in [
        ("default: [", 1),
        ("replies: 5", 1),
        ("replies:\n- reply: x", 2),
        ("default: {reply: a}\ndefault: {reply: b}", 2),
    ] {
        let error = Script::parse(script).unwrap_err();
        assert_eq!(error.line, Some(line), "{script}: {error}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_reading_panic(text in "[a-z\\[\\]{}:,\\-*&!|>'\"# \n0-9]{0,80}") {
        drop(Script::parse(&text));
    }
}
