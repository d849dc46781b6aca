//! Tests the cost of the real command as a shim for each agent.

use std::fs;
use std::time::Duration;

use longhaul_agents::contract::{Invocation, Stopped};
use longhaul_agents::shim::{AttemptOutcome, Shim, Spec};

/// The limit for an agent that has printed a megabyte and is thinking. The program itself is in memory once for all
/// shims, and large only in builds without optimisation.
const OWN_KB_MAX: u64 = 5_000;

#[tokio::test]
async fn a_shim_is_small_and_does_what_it_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let said = "yes word | head -c 1000000; echo; echo ready; exec sleep 3600";
    let invocation = Invocation {
        program: "/bin/sh".into(),
        args: vec!["-c".to_owned(), said.to_owned()],
        env: Vec::new(),
        keep_env: Vec::new(),
        stdin: Vec::new(),
    };
    let spec = Spec::new(&invocation, folder.path().to_owned(), "run/step@1".to_owned());
    let spec = Spec { grace_alone: Some(Duration::from_secs(60)), ..spec };
    let shim = Shim::new(env!("CARGO_BIN_EXE_longhaul"), &folder.path().join("attempt")).unwrap();
    let attached = shim.start(&spec, &[("PATH".into(), "/bin:/usr/bin".into())], b"").await.unwrap();
    let mut lines = attached.lines(0).unwrap();
    while lines.next().await.unwrap().unwrap().text != "ready" {}
    let (own, all) = (status_kb(attached.pid(), "RssAnon:"), status_kb(attached.pid(), "VmRSS:"));
    println!("a shim takes {own} kB, and {all} kB with what it shares");
    attached.stop(Stopped::Cancelled).await.unwrap();
    let outcome = attached.wait().await.unwrap();
    assert!(matches!(&outcome, AttemptOutcome::Ended(exit) if exit.ended == Some(Stopped::Cancelled)), "{outcome:?}");
    assert!(own < OWN_KB_MAX, "{own} kB");
}

fn status_kb(pid: u32, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let entry = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    entry.trim().trim_end_matches(" kB").parse().unwrap()
}
