//! Tests that a reader neither panics nor makes an answer of garbage, whatever a program prints.

use std::path::Path;

use longhaul_agents::contract::{Exit, Reader};
use longhaul_agents::drivers;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::turn;

fn exit() -> Exit {
    Exit { code: Some(0), signal: None, ended: None, stderr: String::new() }
}

fn readers() -> Vec<Box<dyn Reader>> {
    drivers::ALL.iter().map(|agent| agent.reader(&turn(Path::new("/nowhere")))).collect()
}

/// Values that have the keys of real events, with anything in them.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        prop::sample::select(WORDS).prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(KEYS), inner), 0..8)
                .prop_map(|pairs| pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Value>()),
        ]
    })
}

const WORDS: &[&str] = &[
    "system",
    "assistant",
    "user",
    "result",
    "error",
    "item.completed",
    "item.started",
    "turn.completed",
    "turn.failed",
    "thread.started",
    "tool_use",
    "tool_result",
    "text",
    "init",
    "api_retry",
    "status",
    "command_execution",
    "file_change",
    "assistant.message",
    "tool.execution_start",
    "tool.execution_complete",
    "session.error",
    "message",
    "step_finish",
    "rate_limit_event",
    "rejected",
    "AskUserQuestion",
    "Reconnecting... 1/5 (",
    "unexpected status ",
    "denied",
];
const KEYS: &[&str] = &[
    "type",
    "subtype",
    "session_id",
    "sessionID",
    "thread_id",
    "message",
    "content",
    "text",
    "data",
    "item",
    "id",
    "usage",
    "error",
    "errors",
    "code",
    "status",
    "name",
    "input",
    "tool_use_id",
    "is_error",
    "permission_denials",
    "modelUsage",
    "input_tokens",
    "total_cost_usd",
    "rate_limit_info",
    "resetsAt",
    "questions",
    "part",
    "state",
    "tokens",
    "stats",
    "toolCallId",
    "result",
    "role",
    "delta",
    "parameters",
    "tool_id",
    "tool_name",
    "changes",
    "command",
    "model",
];

proptest! {
    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let text = String::from_utf8_lossy(&bytes);
        for mut reader in readers() {
            for line in text.split('\n') {
                reader.line(line);
            }
            let ending = reader.finish(&exit());
            prop_assert_eq!(ending.text, "");
        }
    }

    #[test]
    fn any_events_are_read(events in prop::collection::vec((prop::sample::select(WORDS), value()), 1..12)) {
        for mut reader in readers() {
            for (kind, event) in &events {
                let mut event = event.clone();
                if let Some(fields) = event.as_object_mut() {
                    fields.insert("type".to_owned(), json!(kind));
                }
                reader.line(&event.to_string());
            }
            reader.finish(&exit());
        }
    }
}

#[test]
fn a_huge_line_that_is_no_event_is_not_kept() {
    let huge = "x".repeat(4 << 20);
    for mut reader in readers() {
        for _ in 0..3 {
            for entry in reader.line(&huge) {
                assert!(serde_json::to_string(&entry).unwrap().len() < 1000);
            }
        }
        let failed = Exit { code: Some(1), ..exit() };
        assert!(reader.finish(&failed).trouble.message.len() < 10_000);
    }
}

#[test]
fn a_deeply_nested_line_is_no_event() {
    let nested = format!("{{\"type\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    for mut reader in readers() {
        reader.line(&nested);
        assert_eq!(reader.finish(&exit()).text, "");
    }
}
