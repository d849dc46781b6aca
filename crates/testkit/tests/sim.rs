//! Seeds of the simulator. A seed that fails prints itself, what did not hold, and the workflow.

use longhaul_testkit::sim::simulate;

#[test]
fn two_thousand_seeds_hold_what_must_hold() {
    let failed: Vec<String> = (0..2_000).filter_map(|seed| simulate(seed).err()).collect();
    assert!(failed.is_empty(), "{} seeds failed; the first:\n{}", failed.len(), failed[0]);
}

#[test]
fn a_seed_gives_the_same_run_every_time() {
    for seed in [1, 7, 99] {
        let lines = |seed| simulate(seed).map(|summary| summary.lines);
        assert_eq!(lines(seed), lines(seed));
    }
}
