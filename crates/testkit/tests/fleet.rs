//! Tests a fleet in virtual time. `longhaul-sim --fleet 100 100000 1` is the long form.
use std::sync::Arc;

use longhaul_store::conformance::server;
use longhaul_store::{Postgres, PostgresOptions, Sqlite, SqliteOptions, Synchronous};
use longhaul_testkit::fleet::{FleetReport, Size, play, play_on};

fn played(seed: u64) -> FleetReport {
    play(seed, Size { workers: 20, runs: 400 }).unwrap()
}

#[test]
fn every_run_ends_whoever_dies_or_sleeps() {
    for seed in 0..2 {
        let report = played(seed);
        assert!(report.deaths > 10 && report.refused > 0 && report.lost > 10, "{report:?}");
        assert!(report.claimed > 400, "{report:?}");
    }
}

#[test]
fn a_seed_gives_the_same_fleet_every_time() {
    assert_eq!(played(7), played(7));
}

/// Whichever store keeps the tasks, the same workers get the same ones, and the same late results are refused.
#[test]
fn a_fleet_is_the_same_whatever_keeps_its_runs() {
    let (size, folder) = (Size { workers: 6, runs: 40 }, tempfile::tempdir().unwrap());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let _inside = runtime.enter();
    for seed in 0..2 {
        let reference = play(seed, size).unwrap();
        assert!(reference.lost > 0 && reference.claimed > 40, "{reference:?}");
        let options = SqliteOptions { synchronous: Synchronous::Normal, ..SqliteOptions::default() };
        let file = Sqlite::open(folder.path().join(format!("{seed}.db")), options).unwrap();
        assert_eq!(play_on(Arc::new(file), seed, size), Ok(reference), "in a file");
        let address = server::shared().address().parse().unwrap();
        let database = runtime.block_on(Postgres::open(&address, PostgresOptions::default())).unwrap();
        assert_eq!(play_on(Arc::new(database), seed, size), Ok(reference), "in a database");
    }
}
