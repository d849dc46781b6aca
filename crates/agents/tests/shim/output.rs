//! Tests that the whole output of an agent is kept, in little memory.

use std::fs;

use longhaul_agents::contract::Stopped;

use crate::shim::bench::{Bench, exit_of, exited, rest, texts, until};

#[tokio::test]
async fn a_line_comes_when_it_is_whole_and_the_last_when_nothing_follows() {
    let bench = Bench::new();
    let attached = bench.start("printf 'one\\ntw'; until [ -f go ]; do sleep 0.01; done; printf 'o\\nthr\\377e'").await;
    let mut lines = attached.lines(0).unwrap();
    assert_eq!(lines.next().await.unwrap().unwrap().text, "one");
    tokio::select! {
        biased;
        line = lines.next() => panic!("{line:?}"),
        () = async { while fs::metadata(bench.of_attempt("stdout")).unwrap().len() < 6 { tokio::task::yield_now().await } } => {}
    }
    bench.touch("go");
    assert_eq!(texts(rest(lines).await), ["two", "thr\u{FFFD}e"]);
    assert_eq!(texts(rest(attached.lines(4).unwrap()).await), ["two", "thr\u{FFFD}e"]);
    assert_eq!(texts(rest(bench.shim().lines(8)).await), ["thr\u{FFFD}e"]);
    assert_eq!(texts(rest(bench.shim().lines(1000)).await), [""; 0]);
}

#[tokio::test]
async fn a_hundred_megabytes_pass_through_little_memory() {
    let bench = Bench::new();
    let line = "x".repeat(99);
    let attached = bench
        .start(&format!("yes {line} | head -c 100000000; yes {line} | head -c 1000000 >&2; echo ready; until [ -f go ]; do sleep 0.01; done"))
        .await;
    let mut lines = attached.lines(0).unwrap();
    for _ in 0..1_000_000 {
        assert_eq!(lines.next().await.unwrap().unwrap().text, line);
    }
    until(&mut lines, "ready").await;
    let peak = peak_kb(attached.pid());
    bench.touch("go");
    let exit = exit_of(&attached).await;
    assert_eq!((exit.code, exit.stderr.len()), (Some(0), 16 << 10));
    assert_eq!(fs::metadata(bench.of_attempt("stdout")).unwrap().len(), 100_000_006);
    println!("peak of the shim within the test binary: {peak} kB");
    assert!(peak < 32_000, "{peak} kB");
}

fn peak_kb(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}

#[tokio::test]
async fn an_output_that_is_too_large_for_the_disk_is_cut_and_the_agent_goes_on() {
    let bench = Bench::new();
    let mut spec = bench.spec("yes abc | head -c 1000; exit 4");
    spec.disk_bytes_max = 10;
    let attached = bench.start_spec(&spec).await;
    assert_eq!(texts(rest(attached.lines(0).unwrap()).await), ["abc", "abc", "ab"]);
    assert_eq!(exit_of(&attached).await, exited(4));
}

#[tokio::test]
async fn several_can_read_and_none_need() {
    let bench = Bench::new();
    let attached = bench.start("echo a; echo ready; exec sleep 3600").await;
    let (mut one, mut other) = (attached.lines(0).unwrap(), attached.lines(2).unwrap());
    assert_eq!(until(&mut one, "ready").await.end, 8);
    assert_eq!(other.next().await.unwrap().unwrap().text, "ready");
    attached.stop(Stopped::Cancelled).await.unwrap();
    exit_of(&attached).await;
    assert_eq!((one.next().await.unwrap(), other.next().await.unwrap()), (None, None));
}
