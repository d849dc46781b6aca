//! Checks what must hold for every run, whatever went wrong.

use std::collections::HashMap;

use serde_json::Value;

use super::visitor::Acknowledged;
use crate::crash::trial::is_sound;

/// The run is sound, no result in it is stale, and it ended as it should.
pub(crate) fn holds(run: &str, events: &[Value], acknowledged: &Acknowledged) {
    assert!(!events.is_empty(), "{run}: it was acknowledged, and is not there");
    is_sound(events);
    none_is_stale(run, events);
    let ends: Vec<&Value> = events.iter().filter(|event| event["event"] == "run_finished").collect();
    assert_eq!(ends.len(), 1, "{run}: {ends:?}");
    let meant = if acknowledged.endless.contains(run) { "cancelled" } else { "success" };
    assert_eq!(ends[0]["outcome"], meant, "{run}: {}", ends[0]);
    let answers = events.iter().filter(|event| event["event"] == "answered" && event["path"] == "ok").count();
    assert!(answers <= 1, "{run}: answered {answers} times");
    assert!(
        answers == 1 || !acknowledged.answered.contains(run),
        "{run}: an answer was acknowledged, and is not there"
    );
}

/// Every result is of the newest attempt of its step.
fn none_is_stale(run: &str, events: &[Value]) {
    let mut newest: HashMap<&str, u64> = HashMap::new();
    for event in events {
        let (Some(path), Some(attempt)) = (event["path"].as_str(), event["attempt"].as_u64()) else { continue };
        match event["event"].as_str() {
            Some("attempt_started") => {
                let before = newest.insert(path, attempt).unwrap_or(0);
                assert_eq!(attempt, before + 1, "{run}: {event}");
            }
            Some("attempt_succeeded" | "attempt_failed" | "attempt_stopped") => {
                assert_eq!(newest.get(path), Some(&attempt), "{run}: {event}");
            }
            _ => {}
        }
    }
}
