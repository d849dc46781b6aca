//! Crashes at the writes that are no appends: snapshots, leases, and runs that are forgotten.

use crate::crash::trial::{ABORTED, RUN, Trial, at_once, end, is_sound, lost};

/// Continues only once it is let, so that the engine reaches its point whatever else the machine does.
const HELD: &str = r#"
name: held
do:
  - {id: all, for_each: "range(300) | list", do: [{id: keep, set: {n: item}}]}
  - {id: slow, run: 'echo slow >> "$LOG"; until test -e go; do sleep 0.01; done; echo done', output: end}
outputs: {end: end}
"#;

#[test]
fn a_crash_around_a_snapshot_or_a_lease_changes_nothing_about_the_end() {
    let calls = ["save_snapshot:before:1", "save_snapshot:after:1", "renew:before:1", "renew:after:1", "renew:after:2"];
    at_once(calls.to_vec(), |point| {
        let trial = Trial::of("held", HELD);
        let mut run = trial.command(&["run", "held.yaml", "--run-id", RUN], Some(point));
        let status = run.env("LONGHAUL_LEASE_MS", "4000").output().unwrap();
        assert_eq!(crate::binary::told(status).code, ABORTED, "{point}");
        std::fs::write(trial.path().join("go"), "").unwrap();
        assert_eq!(trial.resume(None).code, 0, "{point}");
        let events = trial.events();
        is_sound(&events);
        assert_eq!(end(&events).outputs["end"], "done", "{point}");
        assert!(trial.log()["slow"] <= 1 + lost(&events), "{point}");
    });
}

#[test]
fn a_run_that_is_forgotten_half_is_forgotten_whole_the_next_time() {
    for point in ["remove:before:1", "remove:after:1"] {
        let trial = Trial::new("chain");
        trial.finish();
        let files = crate::binary::state(trial.command(&[], None)).join("runs").join(RUN);
        assert!(files.exists());
        assert_eq!(trial.longhaul(&["prune", "--older", "0s", "--yes"], Some(point)).code, ABORTED, "{point}");
        assert_eq!(trial.longhaul(&["prune", "--older", "0s", "--yes"], None).code, 0, "{point}");
        assert_eq!(trial.longhaul(&["runs"], None).stdout.matches(RUN).count(), 0, "{point}");
        assert!(!files.exists(), "{point}");
    }
}
