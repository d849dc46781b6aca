//! Tests how agents start and end while an engine is attached.

use std::time::Duration;

use longhaul_agents::contract::{Exit, Stopped};
use longhaul_agents::process::{Command, Files, Mark, run};
use longhaul_agents::shim::{Error, ShimFound, Spec};
use rustix::process::Signal;
use tokio_util::sync::CancellationToken;

use crate::shim::bench::{
    Bench, NONE, block_on, eventually, exit_of, exited, rest, runs, script, signal, texts, until,
};

#[tokio::test]
async fn what_it_is_told_what_it_says_and_how_it_ends_go_through() {
    let bench = Bench::new();
    let spec = bench.spec("cat; pwd; echo oh >&2; exit 3");
    let attached = bench.shim().start(&spec, &[("PATH".into(), "/bin:/usr/bin".into())], b"hello\n").await.unwrap();
    let folder = bench.path("").canonicalize().unwrap();
    let said = texts(rest(attached.lines(0).unwrap()).await);
    assert_eq!(said, ["hello", folder.to_str().unwrap()]);
    let expected = Exit { stderr: "oh\n".to_owned(), ..exited(3) };
    assert_eq!(exit_of(&attached).await, expected);
    assert_eq!(exit_of(&attached).await, expected, "it can be asked again");
    assert_eq!(attached.stderr_tail().unwrap(), "oh\n");
    drop(attached);
    assert_eq!(bench.ended().await, expected);
    assert_eq!(bench.left(), NONE);
}

#[tokio::test]
async fn an_agent_that_is_killed_by_somebody_says_by_which_signal() {
    let bench = Bench::new();
    let attached = bench.start("kill -9 $$").await;
    assert_eq!(exit_of(&attached).await, Exit { code: None, signal: Some(9), ..exited(0) });
}

#[tokio::test]
async fn an_agent_that_can_not_be_started_has_ended_with_the_reason() {
    for (program, code, reason) in [
        ("/no/such/agent", 127, "no program `/no/such/agent` was found"),
        ("/etc/passwd", 126, "`/etc/passwd` is not a program that can be run"),
    ] {
        let bench = Bench::new();
        let spec = Spec { program: program.into(), ..bench.spec("") };
        let exit = exit_of(&bench.start_spec(&spec).await).await;
        assert_eq!((exit.code, exit.ended), (Some(code), None));
        assert!(exit.stderr.starts_with(reason), "{exit:?}");
    }
    let bench = Bench::new();
    let spec = Spec { cwd: bench.path("nowhere"), ..bench.spec("") };
    let exit = exit_of(&bench.start_spec(&spec).await).await;
    assert!(exit.code == Some(125) && exit.stderr.contains("is not a folder"), "{exit:?}");
}

/// Processes in its session and outside of it, and one that ignores signals.
const BROOD: &str = "
    (setsid sh -c 'trap \"\" TERM HUP; echo $$ > a; mv a stubborn; while :; do sleep 1; done' &)
    (setsid env -i sh -c 'echo $$ > b; mv b unmarked; exec sleep 3600' &)
    until [ -f stubborn ] && [ -f unmarked ]; do sleep 0.01; done
    echo ready; sleep 3600";
const POLITE: &str = "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.01; done";
const LONG: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn everything_of_an_agent_that_is_stopped_is_ended_and_the_reason_is_kept() {
    for why in [Stopped::Timeout, Stopped::Cancelled, Stopped::Hung, Stopped::AfterResult] {
        let bench = Bench::new();
        let attached = bench.start(BROOD).await;
        until(&mut attached.lines(0).unwrap(), "ready").await;
        attached.stop(why).await.unwrap();
        let exit = exit_of(&attached).await;
        assert_eq!((exit.code, exit.signal, exit.ended), (None, None, Some(why)));
        assert!(!runs(bench.pid_in("stubborn")) && !runs(bench.pid_in("unmarked")));
        assert_eq!(bench.left(), NONE);
    }
}

/// The record of the end says that we interrupted it, also for an engine that only reads the record.
#[tokio::test]
async fn an_agent_that_obeys_an_interrupt_is_known_to_have_been_silent() {
    let bench = Bench::new();
    let attached = bench.start("trap 'echo bye; exit 1' INT; echo ready; while :; do sleep 0.01; done").await;
    let mut lines = attached.lines(0).unwrap();
    until(&mut lines, "ready").await;
    attached.interrupt().await.unwrap();
    assert_eq!(texts(rest(lines).await), ["bye"]);
    let exit = exit_of(&attached).await;
    assert_eq!((exit.code, exit.ended), (Some(1), Some(Stopped::Hung)));
}

#[tokio::test]
async fn an_agent_that_is_stopped_may_say_good_bye() {
    let bench = Bench::new();
    let attached = bench.start_spec(&Spec { grace: LONG, ..bench.spec(POLITE) }).await;
    let mut lines = attached.lines(0).unwrap();
    until(&mut lines, "ready").await;
    attached.stop(Stopped::Cancelled).await.unwrap();
    assert_eq!(texts(rest(lines).await), ["bye"]);
    assert_eq!(exit_of(&attached).await.ended, Some(Stopped::Cancelled));
}

#[tokio::test]
async fn a_shim_that_is_stopped_before_it_is_up_says_so_as_well() {
    for _ in 0..5 {
        let bench = Bench::new();
        let attached = bench.start("exec sleep 3600").await;
        attached.stop(Stopped::Cancelled).await.unwrap();
        attached.stop(Stopped::Cancelled).await.unwrap();
        assert_eq!(exit_of(&attached).await.ended, Some(Stopped::Cancelled));
        attached.stop(Stopped::Cancelled).await.unwrap();
        assert_eq!(bench.left(), NONE);
    }
}

#[tokio::test]
async fn an_agent_that_takes_too_long_is_ended_by_its_shim() {
    let bench = Bench::new();
    let spec = Spec { timeout: Some(Duration::from_millis(50)), ..bench.spec("sleep 3600 & sleep 3600") };
    assert_eq!(exit_of(&bench.start_spec(&spec).await).await.ended, Some(Stopped::Timeout));
    assert_eq!(bench.left(), NONE);
}

#[tokio::test]
async fn a_signal_from_a_stranger_ends_the_agent_in_order_but_is_no_reason_of_ours() {
    let bench = Bench::new();
    let attached = bench.start_spec(&Spec { grace: LONG, ..bench.spec(POLITE) }).await;
    let mut lines = attached.lines(0).unwrap();
    until(&mut lines, "ready").await;
    [Signal::INT, Signal::HUP, Signal::TERM].into_iter().for_each(|one| signal(attached.pid(), one));
    let exit = exit_of(&attached).await;
    assert_eq!((exit.code, exit.signal, exit.ended), (None, Some(15), None));
    assert_eq!(texts(rest(lines).await), ["bye"]);
}

#[tokio::test]
async fn an_interrupt_is_for_the_agent_alone() {
    let bench = Bench::new();
    let attached = bench
        .start(
            "sh -c 'trap \"echo no\" INT; trap \"exit 0\" TERM; echo ready; while :; do sleep 0.01; done' &
             trap 'echo yes; kill $!; wait; exit 5' INT; wait",
        )
        .await;
    let mut lines = attached.lines(0).unwrap();
    until(&mut lines, "ready").await;
    attached.interrupt().await.unwrap();
    assert_eq!(exit_of(&attached).await, Exit { ended: Some(Stopped::Hung), ..exited(5) });
    assert_eq!(texts(rest(lines).await), ["yes"]);
    attached.interrupt().await.unwrap();
}

#[tokio::test]
async fn work_of_everything_below_is_seen_as_processor_time() {
    let bench = Bench::new();
    let attached = bench.start("(setsid env -i sh -c 'while :; do :; done' &); exec sleep 3600").await;
    eventually("ticks", || attached.cpu_ticks() >= 20);
    attached.stop(Stopped::Cancelled).await.unwrap();
    exit_of(&attached).await;
    assert_eq!(attached.cpu_ticks(), 0);
}

#[tokio::test]
async fn a_folder_is_for_one_attempt() {
    let bench = Bench::new();
    assert!(matches!(bench.shim().attach().await.unwrap(), ShimFound::Gone));
    assert!(!bench.path("attempt").exists(), "looking leaves nothing behind");
    exit_of(&bench.start("true").await).await;
    let again = bench.shim().start(&bench.spec("true"), &[], b"").await;
    assert!(matches!(again, Err(Error::Used { .. })), "{again:?}");
}

#[tokio::test]
async fn what_a_shim_did_not_write_is_not_believed() {
    let bench = Bench::new();
    let attached = bench.start("true").await;
    exit_of(&attached).await;
    std::fs::write(bench.of_attempt("exit.json"), r#"{"pid":1,"at_ms":1,"exit":{"code":0}"#).unwrap();
    let damaged = attached.wait().await;
    assert!(matches!(damaged, Err(Error::Damaged { .. })), "{damaged:?}");
}

/// A shim is a child of the engine in its own session, like leftovers of commands.
#[test]
fn a_shim_is_no_leftover_of_a_command_that_runs_beside_it() {
    let bench = Bench::new();
    block_on(async {
        let files = Files { stdout: bench.path("out"), stderr: bench.path("err") };
        let mark = Mark { engine: "engine".to_owned(), attempt: "other".to_owned() };
        let mut command = Command::new("/bin/sh", files, mark);
        command.args =
            script("touch began; until [ -f go ]; do sleep 0.01; done").args.into_iter().map(Into::into).collect();
        command.cwd = Some(bench.path(""));
        let beside = async {
            while !bench.path("began").exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            let attached = bench.start("echo ready; exec sleep 3600").await;
            until(&mut attached.lines(0).unwrap(), "ready").await;
            drop(attached);
            bench.touch("go");
        };
        let (output, ()) = tokio::join!(run(command, CancellationToken::new(), |_| {}), beside);
        output.unwrap();
        assert_eq!(bench.left().len(), 1);
        let attached = bench.attached().await;
        attached.stop(Stopped::Cancelled).await.unwrap();
        assert_eq!(exit_of(&attached).await.ended, Some(Stopped::Cancelled));
    });
}
