//! A fleet in virtual time. `longhaul-sim --fleet 100 100000 1` is the long form.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use longhaul_testkit::fleet::{Report, Size, play};

fn played(seed: u64) -> Report {
    play(seed, Size { workers: 20, runs: 1_000 }).unwrap()
}

#[test]
fn every_run_ends_whoever_dies_or_sleeps() {
    for seed in 0..3 {
        let report = played(seed);
        assert!(report.deaths > 10 && report.refused > 0 && report.lost > 10, "{report:?}");
        assert!(report.claimed > 1_000, "{report:?}");
    }
}

#[test]
fn a_seed_gives_the_same_fleet_every_time() {
    assert_eq!(played(7), played(7));
}
