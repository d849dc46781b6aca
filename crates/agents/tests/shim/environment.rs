//! Tests which variables of the engine an agent sees, and which reach the disk.

use std::collections::BTreeMap;
use std::fs;

use longhaul_agents::contract::Invocation;
use longhaul_agents::shim::environment;

use crate::shim::bench::{Bench, exit_of, exited, script};

const CANARY: &str = "canary-1f7a";
const KEY: &str = "key-93bd";

#[tokio::test]
async fn an_agent_sees_what_was_meant_for_it_and_secrets_stay_off_the_disk() {
    let bench = Bench::new();
    let invocation = Invocation {
        env: vec![("AGENT_MODE".to_owned(), "fast".to_owned())],
        keep_env: vec!["AGENT_*".to_owned()],
        ..script("env -0 > seen; cat /proc/$PPID/environ > shim_has; echo $AGENT_KEY; echo $AGENT_KEY >&2")
    };
    let ours = [
        ("PATH", "/bin:/usr/bin"),
        ("AGENT_KEY", KEY),
        ("AGENT_MODE", "slow"),
        ("CLOUD_TOKEN", CANARY),
        ("LONGHAUL_ENGINE", "outer"),
    ];
    let env = environment(&invocation, ours.map(|(name, value)| (name.into(), value.into())));
    let mut spec = bench.spec("");
    (spec.args, spec.secret_env) = (invocation.args.clone(), vec!["AGENT_KEY".to_owned()]);
    let attached = bench.shim().start(&spec, &env, b"").await.unwrap();
    let exit = exit_of(&attached).await;
    assert_eq!((exit.code, exit.stderr.as_str()), (exited(0).code, "•••\n"));

    let shim = entries(&bench, "shim_has");
    let expected = [("AGENT_KEY", KEY), ("AGENT_MODE", "fast"), ("LONGHAUL_ENGINE", "shim"), ("PATH", "/bin:/usr/bin")];
    assert_eq!(shim, BTreeMap::from(expected.map(|(name, value)| (name.to_owned(), value.to_owned()))));
    let agent = entries(&bench, "seen");
    let begun: serde_json::Value = serde_json::from_slice(&fs::read(bench.of_attempt("shim.json")).unwrap()).unwrap();
    assert_eq!(
        (agent["LONGHAUL_ENGINE"].as_str(), agent["LONGHAUL_ATTEMPT"].as_str()),
        (begun["name"].as_str().unwrap(), spec.attempt.as_str())
    );
    for seen in [shim, agent] {
        assert!(!seen.values().any(|value| value.contains(CANARY)), "{seen:?}");
    }
    for file in fs::read_dir(bench.path("attempt")).unwrap().flatten() {
        let text = String::from_utf8_lossy(&fs::read(file.path()).unwrap()).into_owned();
        assert!(!text.contains(KEY) && !text.contains(CANARY), "{}", file.path().display());
    }
}

fn entries(bench: &Bench, name: &str) -> BTreeMap<String, String> {
    let text = String::from_utf8(fs::read(bench.path(name)).unwrap()).unwrap();
    let entries = text.split_terminator('\0').map(|entry| entry.split_once('=').unwrap());
    entries.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[tokio::test]
async fn what_is_kept_of_an_attempt_is_for_nobody_else() {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::new();
    let attached = bench.start("echo out; echo err >&2").await;
    attached.stop(longhaul_agents::contract::Stopped::Cancelled).await.unwrap();
    attached.wait().await.unwrap();
    for file in fs::read_dir(bench.path("attempt")).unwrap().flatten() {
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o077, 0, "{}", file.path().display());
    }
}
