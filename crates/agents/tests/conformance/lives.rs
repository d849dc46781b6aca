//! Tests how programs end that do not end by themselves, and what they leave behind.

use std::time::Duration;

use longhaul_agents::contract::Stopped;
use longhaul_core::plan::ErrorClass;

use crate::conformance::bench::{Bench, Done, Limits};

async fn ended(bench: &Bench, scenario: &str, limits: Limits) -> Done {
    let done = bench.run(&bench.setup(scenario), &bench.turn("do it"), limits).await;
    assert!(done.survivors.is_empty());
    assert_eq!(done.ending.text, "");
    done
}

fn soon() -> Limits {
    Limits { timeout: Some(Duration::from_millis(700)), ..Limits::default() }
}

pub(crate) async fn one_that_hangs_is_ended_in_time(bench: &Bench) {
    let done = ended(bench, "hang", soon()).await;
    assert_eq!((done.exit.ended, done.class), (Some(Stopped::Timeout), Some(ErrorClass::Timeout)));
}

pub(crate) async fn one_that_is_cancelled_ends(bench: &Bench) {
    let done = ended(bench, "orphan; hang", Limits { cancel: true, ..Limits::default() }).await;
    assert_eq!(done.exit.ended, Some(Stopped::Cancelled));
    assert!(done.class.is_some());
}

pub(crate) async fn one_that_will_not_go_is_made_to(bench: &Bench) {
    let done = ended(bench, "stubborn", soon()).await;
    assert_eq!(done.class, Some(ErrorClass::Timeout));
}

/// The program succeeded; its leftover process in another session is still ended.
pub(crate) async fn an_orphan_is_ended(bench: &Bench) {
    let done = bench.play("orphan; text done").await;
    assert_eq!((done.ending.text.as_str(), done.class), ("done", None));
    let orphan: u32 = std::fs::read_to_string(bench.path("space/orphan.pid")).unwrap().trim().parse().unwrap();
    assert!(!lives(orphan), "{orphan} is still there");
}

fn lives(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

pub(crate) async fn one_that_dies_is_not_a_success(bench: &Bench) {
    let done = bench.play("crash").await;
    assert_eq!((done.exit.signal, done.class), (Some(9), Some(ErrorClass::Killed)));
}
