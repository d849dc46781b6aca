//! Tests output that is large, broken, or not part of the stream.

use longhaul_agents::contract::TranscriptEntry;

use crate::conformance::bench::Bench;

pub(crate) async fn a_huge_output_is_read(bench: &Bench) {
    let done = bench.play("huge 24; text still here").await;
    assert_eq!((done.ending.text.as_str(), done.class), ("still here", None));
    let size = done.entries.iter().find_map(|entry| match entry {
        TranscriptEntry::ToolResult { text, .. } => Some(text.len()),
        _ => None,
    });
    assert_eq!(size, Some(24 << 20));
}

pub(crate) async fn broken_text_is_read(bench: &Bench) {
    let done = bench.play("broken; text still here").await;
    assert_eq!((done.ending.text.as_str(), done.class), ("still here", None));
}

pub(crate) async fn lines_that_are_no_events_are_read(bench: &Bench) {
    let done = bench.play("noise; text still here; noise").await;
    assert_eq!((done.ending.text.as_str(), done.class), ("still here", None));
    assert!(done.entries.contains(&TranscriptEntry::Notice { text: "warn: something that is no event".to_owned() }));
}
