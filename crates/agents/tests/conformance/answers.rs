//! Tests what an agent is told, and its answers.

use longhaul_agents::answer;
use longhaul_agents::contract::{TranscriptEntry, Turn};
use longhaul_core::plan::ErrorClass;
use serde_json::json;

use crate::conformance::bench::{Bench, Limits};

pub(crate) async fn a_text_is_the_answer(bench: &Bench) {
    let done = bench.play("text Hello there").await;
    assert_eq!(done.class, None);
    assert_eq!(done.ending.text, "Hello there");
    assert!(done.entries.contains(&TranscriptEntry::Result));
}

pub(crate) async fn the_prompt_arrives_as_it_is(bench: &Bench) {
    let prompt = "--help\n$(touch x) 'quoted' \"twice\" ünïcödé\n\n  indented";
    let done = bench.run(&bench.setup("echo"), &bench.turn(prompt), Limits::default()).await;
    assert_eq!(done.ending.text, prompt);
}

/// If an agent has no flag for a persona, the persona comes before the prompt.
pub(crate) async fn a_persona_and_a_long_prompt_arrive(bench: &Bench) {
    let (persona, prompt) = ("You are careful. ".repeat(20_000), "p".repeat(1_000_000));
    let turn = Turn { system: Some(persona.clone()), ..bench.turn(&prompt) };
    let done = bench.run(&bench.setup("echo"), &turn, Limits::default()).await;
    if bench.driver.abilities().system {
        assert_eq!(done.ending.text, prompt);
        assert_eq!(std::fs::read_to_string(bench.path("scratch/system.md")).unwrap(), persona);
    } else {
        assert_eq!(done.ending.text, format!("{persona}\n\n{prompt}"));
    }
}

pub(crate) async fn a_schema_is_met(bench: &Bench) {
    let schema = json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}});
    let turn = Turn { schema: Some(schema), ..bench.turn("count") };
    let done = bench.run(&bench.setup(r#"json {"n":3}"#), &turn, Limits::default()).await;
    let value = done.ending.structured.or_else(|| answer::value(&done.ending.text, &|_| None).ok());
    assert_eq!(value, Some(json!({"n": 3})));
}

pub(crate) async fn an_empty_answer_is_no_success(bench: &Bench) {
    assert_eq!(bench.play("empty").await.class, Some(ErrorClass::Empty));
}

/// An agent with a tool for questions asks with that tool. The others only have words, and words are an answer.
pub(crate) async fn a_question_is_not_an_answer(bench: &Bench) {
    let done = bench.play("ask Red or blue?").await;
    let by_tool = ["claude", "copilot"].contains(&bench.driver.name());
    assert_eq!(done.ending.trouble.question.as_deref(), by_tool.then_some("Red or blue?"));
    assert_eq!(done.class, by_tool.then_some(ErrorClass::Question));
}

pub(crate) async fn the_answer_is_what_comes_after_the_tools(bench: &Bench) {
    let done = bench.play("tool echo from a tool; text done").await;
    assert_eq!((done.ending.text.as_str(), done.class), ("done", None));
    let call = done.entries.iter().find_map(|entry| match entry {
        TranscriptEntry::ToolCall { summary, .. } => Some(summary.as_str()),
        _ => None,
    });
    assert_eq!(call, Some("echo from a tool"));
    let result = done.entries.iter().find(|entry| matches!(entry, TranscriptEntry::ToolResult { .. }));
    assert!(
        matches!(result, Some(TranscriptEntry::ToolResult { ok: true, text, .. }) if text == "from a tool\n"),
        "{result:?}"
    );
}
