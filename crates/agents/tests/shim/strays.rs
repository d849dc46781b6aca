//! Tests shims that are killed themselves, and agents that leave processes of every kind behind.

use std::fs;

use longhaul_agents::contract::Stopped;
use longhaul_agents::process::{is_dead, sweep};
use longhaul_agents::shim::{AttemptOutcome, ShimFound};
use rustix::process::Signal;

use crate::shim::bench::{Bench, Engine, NONE, block_on, eventually, exit_of, rest, runs, signal, texts, until};

/// Processes that forked twice into their own session; one of them ignores signals.
const BROOD: &str = "
    (setsid sh -c 'trap \"\" TERM HUP INT; (echo $$ > a; mv a deaf); while :; do sleep 1; done' &)
    (setsid sh -c 'setsid sleep 3600 & echo $! > b; mv b twice; exec sleep 3600' &)
    until [ -f deaf ] && [ -f twice ]; do sleep 0.01; done; echo ready; ";

#[test]
fn what_a_killed_shim_leaves_is_ended_by_whoever_waits_for_it() {
    let bench = Bench::new();
    block_on(async {
        let attached = bench.start(&format!("{BROOD} sleep 3600")).await;
        let mut lines = attached.lines(0).unwrap();
        until(&mut lines, "ready").await;
        signal(attached.pid(), Signal::KILL);
        assert_eq!(attached.wait().await.unwrap(), AttemptOutcome::Gone);
        assert_eq!(lines.next().await.unwrap(), None);
        assert!(!runs(bench.pid_in("deaf")) && !runs(bench.pid_in("twice")));
        assert_eq!(bench.left(), NONE);
        drop(attached);
        assert!(matches!(bench.shim().attach().await.unwrap(), ShimFound::Gone));
        assert_eq!(texts(rest(bench.shim().lines(0)).await), ["ready"]);
    });
}

#[test]
fn what_a_shim_leaves_that_dies_with_its_engine_is_ended_by_the_next_and_what_lives_is_spared() {
    let (dead, live) = (Bench::new(), Bench::new());
    let script = format!("{BROOD} sleep 3600");
    let mut engines = [dead.engine("engine", &dead.spec(&script)), live.engine("engine", &live.spec(&script))];
    engines.iter_mut().for_each(|engine| drop(engine.hears("ready")));
    engines.into_iter().for_each(Engine::kill);
    let begun: serde_json::Value = serde_json::from_slice(&fs::read(dead.of_attempt("shim.json")).unwrap()).unwrap();
    let shim = u32::try_from(begun["pid"].as_u64().unwrap()).unwrap();
    signal(shim, Signal::KILL);
    eventually("the shim has gone", || !runs(shim));
    let before = live.left();
    sweep(is_dead);
    assert_eq!(dead.left(), NONE);
    assert!(!runs(dead.pid_in("deaf")) && !runs(dead.pid_in("twice")));
    // Its `sleep` processes come and go.
    assert!(runs(live.pid_in("deaf")) && runs(live.pid_in("twice")) && live.left().len() >= before.len() - 1);
    block_on(async {
        assert!(matches!(dead.shim().attach().await.unwrap(), ShimFound::Gone));
        let attached = live.attached().await;
        attached.stop(Stopped::Cancelled).await.unwrap();
        assert_eq!(exit_of(&attached).await.ended, Some(Stopped::Cancelled));
    });
    assert_eq!(live.left(), NONE);
}

#[test]
fn two_hundred_agents_leave_no_survivor() {
    std::thread::scope(|scope| {
        for part in 0..4 {
            scope.spawn(move || (0..50).for_each(|number| one_round(part + number)));
        }
    });
}

/// It ends by itself, is stopped, or loses its shim.
fn one_round(number: usize) {
    let bench = Bench::new();
    block_on(async {
        let way = ["", "sleep 3600", "sleep 3600"][number % 3];
        let attached = bench.start(&format!("{BROOD} {way}")).await;
        until(&mut attached.lines(0).unwrap(), "ready").await;
        match number % 3 {
            0 => {}
            1 => attached.stop(Stopped::Hung).await.unwrap(),
            _ => signal(attached.pid(), Signal::KILL),
        }
        let outcome = attached.wait().await.unwrap();
        assert_eq!(matches!(outcome, AttemptOutcome::Gone), number % 3 == 2, "{outcome:?}");
        let left: Vec<u32> =
            ["deaf", "twice"].map(|name| bench.pid_in(name)).into_iter().filter(|pid| runs(*pid)).collect();
        assert_eq!((left, bench.left()), (vec![], vec![]), "round {number}");
    });
}
