//! Tests that histories of earlier versions still replay: to the same end, with nothing left to decide.

use std::path::PathBuf;

use longhaul_core::decide::{Planner, decide};
use longhaul_core::event::Envelope;
use longhaul_core::index::Index;
use longhaul_core::plan::Plan;
use longhaul_core::state::State;
use serde_json::Value;

fn histories() -> Vec<PathBuf> {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/histories"));
    let versions = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    versions.flat_map(|version| std::fs::read_dir(version).unwrap().map(|entry| entry.unwrap().path())).collect()
}

#[test]
fn every_recorded_history_replays_to_its_end() {
    let histories = histories();
    assert!(histories.len() >= 10, "{histories:?}");
    for file in histories {
        let record: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let plan: Plan = serde_json::from_value(record["plan"].clone()).unwrap();
        let events: Vec<Envelope> = serde_json::from_value(record["events"].clone()).unwrap();
        let index = Index::of(&plan);
        let mut state = State::default();
        for envelope in &events {
            let applied = state.apply(&plan, &index, envelope);
            assert!(applied.is_ok(), "{} at event {}: {applied:?}", file.display(), envelope.seq);
        }
        assert_eq!(state.status().word(), record["status"], "{}", file.display());
        let finished = state.finished.as_ref().map(|finished| serde_json::to_value(&finished.outputs).unwrap());
        assert_eq!(finished.unwrap_or_default(), record["outputs"], "{}", file.display());
        assert_eq!(decide(Planner { plan: &plan, index: &index }, &state), None, "{}", file.display());
    }
}
