//! Tests engines that are killed while an agent works, and engines that attach to it again.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use longhaul_agents::contract::{Exit, Stopped};
use longhaul_agents::process::{ENGINE_VARIABLE, Guard, own_name};
use longhaul_agents::shim::{Attached, Error, ShimFound, Spec, environment};

use crate::shim::bench::{Bench, NONE, block_on, eventually, exit_of, exited, rest, runs, say, script, shim_in, texts};

/// An engine that starts the agent or attaches to it, and prints each line that it read, from the place it was given.
/// Its guard ends what it leaves, except agents.
pub(crate) fn read_until_killed(folder: &Path) {
    let name = own_name();
    let guard = Guard::start(&std::env::current_exe().unwrap(), &name).unwrap();
    say(&format!("guard {}", guard.pid()));
    let mut other = Command::new("sleep").arg("3600").env(ENGINE_VARIABLE, &name).spawn().unwrap();
    say(&format!("other {}", other.id()));
    block_on(async {
        let attached = match shim_in(folder).attach().await.unwrap() {
            ShimFound::Attached(attached) => attached,
            _ => start(folder).await,
        };
        let from = fs::read_to_string(folder.join("from")).map_or(0, |text| text.parse().unwrap());
        let mut lines = attached.lines(from).unwrap();
        while let Some(line) = lines.next().await.unwrap() {
            say(&format!("read {} {}", line.end, line.text));
        }
    });
    other.wait().unwrap();
}

/// An engine that dies at the moment in which the agent starts.
pub(crate) fn start_and_die(folder: &Path) {
    block_on(async {
        let _attached = start(folder).await;
        std::process::abort();
    });
}

async fn start(folder: &Path) -> Attached {
    let spec: Spec = serde_json::from_slice(&fs::read(folder.join("spec")).unwrap()).unwrap();
    shim_in(folder).start(&spec, &environment(&script(""), std::env::vars_os()), b"").await.unwrap()
}

#[test]
fn the_output_is_whole_however_often_the_engine_is_killed() {
    let bench = Bench::new();
    let spec = bench.spec(
        "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo line $i; done; until [ -f go ]; do sleep 0.01; done; exit 7",
    );
    let mut seen = Vec::new();
    for round in 1..=5 {
        let mut engine = bench.engine("engine", &spec);
        while seen.len() < round * 500 {
            let said = engine.hears("read ");
            let (end, text) = said.split_once(' ').unwrap();
            seen.push(text.to_owned());
            fs::write(bench.path("from"), end).unwrap();
        }
        engine.kill();
    }
    let from = fs::read_to_string(bench.path("from")).unwrap().parse().unwrap();
    bench.touch("go");
    block_on(async {
        let attached = bench.attached().await;
        seen.extend(texts(rest(attached.lines(from).unwrap()).await));
        assert_eq!(exit_of(&attached).await, exited(7));
    });
    let expected: Vec<String> = (1..=3000).map(|number| format!("line {number}")).collect();
    assert_eq!(seen, expected);
    assert_eq!(bench.left(), NONE);
}

#[test]
fn what_ends_with_the_engine_is_not_the_agent() {
    let bench = Bench::new();
    let mut engine = bench.engine("engine", &bench.spec("echo ready; exec sleep 3600"));
    let (guard, other): (u32, u32) = (engine.hears("guard ").parse().unwrap(), engine.hears("other ").parse().unwrap());
    engine.hears("ready");
    engine.kill();
    eventually("the guard has done its work", || !runs(guard) && !runs(other));
    assert_eq!(bench.left().len(), 1);
    block_on(async {
        let attached = bench.attached().await;
        attached.stop(Stopped::Cancelled).await.unwrap();
        assert_eq!(exit_of(&attached).await.ended, Some(Stopped::Cancelled));
    });
}

#[test]
fn an_agent_that_ended_while_nobody_was_there_has_left_word() {
    let bench = Bench::new();
    let mut engine = bench
        .engine("engine", &bench.spec("echo one; until [ -f go ]; do sleep 0.01; done; echo two; echo oh >&2; exit 7"));
    let from = engine.hears("read ").strip_suffix(" one").unwrap().parse().unwrap();
    engine.kill();
    bench.touch("go");
    eventually("it has ended", || bench.of_attempt("exit.json").exists());
    block_on(async {
        // The record is written a moment before the shim exits.
        let exit = match bench.shim().attach().await.unwrap() {
            ShimFound::Attached(attached) => exit_of(&attached).await,
            ShimFound::Ended(exit) => exit,
            ShimFound::Gone => panic!("gone"),
        };
        assert_eq!(exit, Exit { stderr: "oh\n".to_owned(), ..exited(7) });
        assert_eq!(texts(rest(bench.shim().lines(from)).await), ["two"]);
        assert_eq!(bench.shim().stderr_tail().unwrap(), "oh\n");
    });
}

#[test]
fn an_agent_that_nobody_comes_back_for_is_ended() {
    let bench = Bench::new();
    let script = "(setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' &); echo ready; sleep 3600";
    let spec = Spec { grace_alone: Some(Duration::from_millis(50)), ..bench.spec(script) };
    let mut engine = bench.engine("engine", &spec);
    engine.hears("ready");
    assert!(!bench.left().is_empty());
    engine.kill();
    eventually("it is over", || bench.of_attempt("exit.json").exists());
    assert_eq!(bench.left(), NONE);
    eventually("the shim has gone", || {
        crate::shim::bench::carrying("LONGHAUL_ENGINE=shim").is_empty() || !holds_lock(&bench)
    });
    assert_eq!(block_on(bench.ended()).ended, Some(Stopped::Abandoned));
}

fn holds_lock(bench: &Bench) -> bool {
    fs::File::open(bench.of_attempt("shim.lock")).unwrap().try_lock().is_err()
}

#[test]
fn an_agent_is_not_alone_while_an_engine_is_attached() {
    let bench = Bench::new();
    // Ten times as long as it may run without an engine.
    let spec = Spec { grace_alone: Some(Duration::from_millis(50)), ..bench.spec("sleep 0.5; exit 3") };
    assert_eq!(block_on(async { exit_of(&bench.start_spec(&spec).await).await }), exited(3));
}

#[test]
fn an_agent_that_may_be_alone_for_ever_is() {
    let bench = Bench::new();
    let spec = Spec { grace_alone: None, ..bench.spec("sleep 0.2; exit 3") };
    block_on(async { drop(bench.start_spec(&spec).await) });
    eventually("it is over", || bench.of_attempt("exit.json").exists() && !holds_lock(&bench));
    assert_eq!(block_on(bench.ended()), exited(3));
}

#[test]
fn two_engines_can_not_both_be_attached() {
    let bench = Bench::new();
    let mut engine = bench.engine("engine", &bench.spec("echo ready; exec sleep 3600"));
    engine.hears("ready");
    let refused = block_on(bench.shim().attach());
    let pid = format!(":{}:", engine.child.id());
    assert!(matches!(&refused, Err(Error::Held { by, .. }) if by.contains(&pid)), "{refused:?}");
    engine.kill();
    block_on(async {
        let attached = bench.attached().await;
        let refused = bench.shim().attach().await;
        assert!(matches!(&refused, Err(Error::Held { .. })), "{refused:?}");
        attached.stop(Stopped::Cancelled).await.unwrap();
        assert_eq!(exit_of(&attached).await.ended, Some(Stopped::Cancelled));
    });
}

/// An engine that believes that nothing runs would start it again: then it would run twice.
#[test]
fn a_shim_that_has_only_just_begun_is_never_taken_for_gone() {
    for _ in 0..20 {
        let bench = Bench::new();
        let mut engine = bench.engine("hasty", &bench.spec("exit 3"));
        engine.child.wait().unwrap();
        block_on(async {
            let exit = match bench.shim().attach().await.unwrap() {
                ShimFound::Attached(attached) => exit_of(&attached).await,
                ShimFound::Ended(exit) => exit,
                ShimFound::Gone => panic!("gone"),
            };
            assert_eq!(exit, exited(3));
        });
    }
}
