//! Tests the leftovers of dead engines, found at the next start.

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};

use longhaul_agents::process::{Stray, sweep};

use crate::process::bench::{Bench, eventually, runs};

fn of(engine: &str, script: &str) -> Child {
    let marked = [("LONGHAUL_ENGINE", engine), ("LONGHAUL_ATTEMPT", "run/a@1")];
    Command::new("/bin/sh").args(["-c", script]).envs(marked).spawn().unwrap()
}

#[test]
fn a_sweep_kills_what_dead_engines_left_and_nothing_else() {
    let bench = Bench::new();
    let (dead, live) = (format!("dead-{}", std::process::id()), format!("live-{}", std::process::id()));
    let unmarked = bench.path("unmarked");
    // Below the stray: one process without a mark, which ends with it, and one of a living engine, which does not.
    let script = format!(
        "trap '' TERM; LONGHAUL_ENGINE={live} sleep 3600 & echo $! > {1}; env -i /bin/sh -c 'echo $$ > {0}.new; mv {0}.new {0}; exec /bin/sleep 3600'; true",
        unmarked.display(),
        bench.path("living").display()
    );
    let (mut stray, mut other) = (of(&dead, &script), of(&live, "exec sleep 3600"));
    eventually("it has started", || unmarked.exists());
    let found = sweep(|engine| engine == dead);
    assert_eq!(found, [Stray { pid: stray.id(), engine: dead.clone(), attempt: Some("run/a@1".to_owned()) }]);
    assert_eq!(stray.wait().unwrap().signal(), Some(9));
    assert!(!runs(bench.pid_in("unmarked")));
    assert!(runs(other.id()) && runs(bench.pid_in("living")));
    assert_eq!(sweep(|engine| engine == dead), []);
    let of_living = sweep(|engine| engine == live);
    assert_eq!(of_living.len(), 2, "{of_living:?}");
    other.wait().unwrap();
}
