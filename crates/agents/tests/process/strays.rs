//! What dead engines left, found at the next start.

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};

use longhaul_agents::process::{Stray, sweep};

use crate::bench::{Bench, eventually, runs};

fn of(engine: &str, script: &str) -> Child {
    let marked = [("LONGHAUL_ENGINE", engine), ("LONGHAUL_ATTEMPT", "run/a@1")];
    Command::new("/bin/sh").args(["-c", script]).envs(marked).spawn().unwrap()
}

#[test]
fn a_sweep_kills_what_dead_engines_left_and_nothing_else() {
    let bench = Bench::new();
    let (dead, live) = (format!("dead-{}", std::process::id()), format!("live-{}", std::process::id()));
    let unmarked = bench.path("unmarked");
    let script = format!(
        "trap '' TERM; env -i /bin/sh -c 'echo $$ > {0}.new; mv {0}.new {0}; exec /bin/sleep 3600'; true",
        unmarked.display()
    );
    let (mut stray, mut other) = (of(&dead, &script), of(&live, "exec sleep 3600"));
    eventually("it has started", || unmarked.exists());
    let found = sweep(|engine| engine == dead);
    assert_eq!(found, [Stray { pid: stray.id(), engine: dead.clone(), attempt: Some("run/a@1".to_owned()) }]);
    assert_eq!(stray.wait().unwrap().signal(), Some(9));
    assert!(!runs(bench.pid_in("unmarked")));
    assert!(runs(other.id()));
    assert_eq!(sweep(|engine| engine == dead), []);
    other.kill().unwrap();
    other.wait().unwrap();
}
