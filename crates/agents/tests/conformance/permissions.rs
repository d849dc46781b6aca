//! Tests what an agent may do and see.

use longhaul_agents::contract::{AgentAuth, AgentSetup, Permission, TranscriptEntry, Turn};
use serde_json::json;

use crate::conformance::bench::{Bench, Limits};

pub(crate) async fn a_tool_that_was_not_allowed_is_told(bench: &Bench) {
    let done = bench.play("deny rm -rf /; text I could not").await;
    assert_eq!(done.ending.denied.len(), 1);
    let denied = TranscriptEntry::Denied { name: done.ending.denied[0].clone() };
    assert!(done.entries.contains(&denied), "{:?}", done.entries);
    assert!(done.entries.iter().any(|entry| matches!(entry, TranscriptEntry::ToolResult { ok: false, .. })));
    assert_eq!(done.class, None, "what came of it is the answer's to say");
}

/// The stand-in refuses flags that the real program does not have, and refuses to skip permissions as root outside a
/// sandbox.
pub(crate) async fn every_permission_makes_a_command_line_that_is_understood(bench: &Bench) {
    let can = bench.driver.abilities();
    for permission in [Permission::ReadOnly, Permission::Edit, Permission::Full] {
        for (sandboxed, trusted) in [(false, false), (true, false), (true, true)] {
            let bench = Bench::new(bench.driver.name());
            let turn = Turn {
                permission,
                sandboxed,
                trusted,
                schema: Some(json!({"type": "object"})),
                effort: Some("high".to_owned()),
                dirs: vec!["/more".into()],
                budget_usd: Some(2.0),
                tools: can.tools.then(|| vec!["Bash".to_owned()]),
                ..bench.turn("do it")
            };
            let done = bench.run(&bench.setup("text ok"), &turn, Limits::default()).await;
            assert_eq!(done.ending.text, "ok", "{permission:?} {sandboxed}: {}", done.exit.stderr);
        }
    }
}

pub(crate) async fn no_variable_reaches_it_that_nobody_named(bench: &Bench) {
    let file = bench.path("seen");
    let scenario = format!("env {}; text ok", file.display());
    let setup = AgentSetup { auth: AgentAuth::Key, key_env: Some("OTHER_KEY".to_owned()), ..bench.setup(&scenario) };
    bench.run(&setup, &bench.turn("do it"), Limits::default()).await;
    let seen = std::fs::read_to_string(file).unwrap();
    assert!(seen.contains("TERM=dumb") && seen.contains("LONGHAUL_ATTEMPT="), "{seen}");
    assert!(!seen.contains("canary") && !seen.contains("sk-key"), "{seen}");
}
