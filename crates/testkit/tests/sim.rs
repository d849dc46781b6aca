//! Runs seeds of the simulator. A failing seed prints itself, the broken invariant, and the workflow.

use std::ops::Range;

use longhaul_testkit::sim::{simulate, simulate_all, simulate_edits};

fn hold(seeds: Range<u64>) {
    let failed: Vec<String> = simulate_all(seeds).filter_map(Result::err).collect();
    assert!(failed.is_empty(), "{} seeds failed; the first:\n{}", failed.len(), failed[0]);
}

// Two halves, so that two cores share the work.

#[test]
fn the_first_thousand_seeds_hold_what_must_hold() {
    hold(0..1_000);
}

#[test]
fn the_second_thousand_seeds_hold_what_must_hold() {
    hold(1_000..2_000);
}

#[test]
fn a_kept_result_never_has_a_changed_meaning() {
    let runs: Vec<Result<_, String>> = (0..300).map(simulate_edits).collect();
    let failed: Vec<&String> = runs.iter().filter_map(|run| run.as_ref().err()).collect();
    assert!(failed.is_empty(), "{} seeds failed; the first:\n{}", failed.len(), failed[0]);
    let kept = runs.iter().flatten().flat_map(|run| &run.lines).filter(|line| line.contains("keeps ")).count();
    assert!(kept > 300, "only {kept} results were kept");
}

#[test]
fn a_seed_gives_the_same_run_every_time() {
    for seed in [1, 7, 99] {
        let lines = |seed| simulate(seed).map(|summary| summary.lines);
        assert_eq!(lines(seed), lines(seed));
    }
}
