//! Processes that are stopped for a while, or told that their terminal is gone: what they had begun continues. And runs that only decide:
//! they end, and can be stopped before.

use std::process::Stdio;
use std::time::Duration;

use super::{Background, until};
use crate::binary::project::{Project, RUN};

/// Short, so that a test can sleep through it.
const LEASE_MS: u64 = 800;

/// Steps of several kinds that continue until somebody says `go`.
const PATIENT: &str = r#"
name: patient
do:
  - id: both
    parallel:
      one: [{id: long, run: 'echo long >> "$LOG"; until test -e go; do sleep 0.05; done'}]
      two: [{id: other, run: 'echo other >> "$LOG"; until test -e go; do sleep 0.05; done', on_error: continue}]
  - {id: last, run: 'echo last >> "$LOG"'}
"#;

fn start(project: &Project) -> Background {
    let mut command = project.command(&["run", "w.yaml", "--run-id", RUN]);
    command.env("LONGHAUL_LEASE_MS", LEASE_MS.to_string()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let run = Background(Some(command.spawn().unwrap()));
    until("both steps", || project.log().len() == 2);
    run
}

/// The lid is closed and opened, or Ctrl-Z and `fg`: nobody else was there.
#[test]
fn what_nobody_took_over_goes_on_however_long_its_process_slept() {
    for pause_ms in [LEASE_MS * 3 / 4, LEASE_MS, LEASE_MS * 3] {
        let project = Project::new(PATIENT);
        let run = start(&project);
        run.signal("STOP");
        std::thread::sleep(Duration::from_millis(pause_ms));
        run.signal("CONT");
        // What is renewed now, and what is renewed after that.
        std::thread::sleep(Duration::from_millis(LEASE_MS * 2));
        std::fs::write(project.path("go"), "").unwrap();
        let told = run.end();
        assert_eq!(told.code, 0, "after {pause_ms} ms: {}{}", told.stdout, told.stderr);
        assert_eq!(project.log().len(), 3, "after {pause_ms} ms: {:?}", project.log());
        assert_eq!((project.count("attempt_stopped"), project.count("attempt_failed")), (0, 0));
    }
}

#[test]
fn a_run_under_nohup_outlives_its_terminal() {
    let project = Project::new(PATIENT);
    let inner = project.command(&["run", "w.yaml", "--run-id", RUN]);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "trap '' HUP; exec \"$@\"", "sh"]).arg(inner.get_program()).args(inner.get_args());
    shell.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.current_dir(inner.get_current_dir().unwrap());
    let run = Background(Some(shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()));
    until("both steps", || project.log().len() == 2);
    run.signal("HUP");
    std::fs::write(project.path("go"), "").unwrap();
    let told = run.end();
    assert_eq!(told.code, 0, "{}{}", told.stdout, told.stderr);
    assert_eq!(project.count("attempt_stopped"), 0);
}

/// As in a container that shares its name and its folders with the machine. Needs what only root may do; where that is not permitted,
/// nothing is tried.
#[test]
fn an_engine_in_another_process_namespace_is_not_cleared_up_after() {
    const UNSHARED: [&str; 3] = ["--pid", "--fork", "--mount-proc"];
    if !std::process::Command::new("unshare")
        .args(UNSHARED)
        .arg("true")
        .output()
        .is_ok_and(|done| done.status.success())
    {
        eprintln!("not tried: no process namespace can be made here");
        return;
    }
    let project = Project::new(PATIENT);
    let inner = project.command(&["run", "w.yaml", "--run-id", RUN]);
    let mut outer = std::process::Command::new("unshare");
    outer.args(UNSHARED).arg(inner.get_program()).args(inner.get_args()).current_dir(inner.get_current_dir().unwrap());
    outer.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let run = Background(Some(outer.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()));
    until("both steps", || project.log().len() == 2);
    // Whoever starts an engine clears up after those that are dead.
    let beside = Project::new("name: beside\ndo: [{id: one, run: 'true'}]\n");
    assert_eq!(beside.run().code, 0);
    std::fs::write(project.path("go"), "").unwrap();
    let told = run.end();
    assert_eq!(told.code, 0, "{}{}", told.stdout, told.stderr);
    assert_eq!(project.log().len(), 3);
}

#[test]
fn nodes_that_only_lead_to_each_other_end_with_a_sentence() {
    let project = Project::new(
        "name: spin\nstart: a\ninputs: {x: {type: string, default: q}}\nnodes:\n  \
         - {id: a, next: [{when: \"inputs.x == 'never'\", to: z}, {to: b}]}\n  \
         - {id: b, next: [{when: \"inputs.x == 'never'\", to: z}, {to: a}]}\n  - {id: z, end: success}\n",
    );
    let checked = project.longhaul(&["check", "w.yaml"]);
    assert!(checked.stdout.contains("warning[LH0218]: `a`, `b` can lead to each other"), "{}", checked.stdout);
    let told = project.run();
    assert_eq!(told.code, 1, "{}{}", told.stdout, told.stderr);
    let said = "after 5000 rounds without any work the run was ended";
    assert!(told.stderr.contains(said) || told.stdout.contains(said), "{}{}", told.stdout, told.stderr);
    // Whoever starts it again has the same once more, and no more than that.
    let events = project.events().len();
    project.longhaul(&["retry", RUN]);
    assert!((events..3 * events).contains(&project.events().len()), "{events}, then {}", project.events().len());
}

/// Much is decided here, and nothing is done.
fn many() -> Project {
    Project::new(
        "name: many\ndo:\n  - {id: list, run: 'seq 6000; echo list >> \"$LOG\"', output: {as: items, parse: lines}}\n  \
         - {id: each, for_each: items, parallel: 6000, do: [{id: one, set: {x: 1}}, {id: two, set: {x: 2}}]}\n",
    )
}

#[test]
fn a_run_that_only_decides_can_be_stopped() {
    let project = many();
    let run = project.start(&["run", "w.yaml", "--run-id", RUN]);
    until("what there is to decide about", || project.log().len() == 1);
    run.signal("TERM");
    let told = run.end();
    assert_eq!(told.code, 130, "{}{}", told.stdout, told.stderr);
    assert_eq!(project.count("run_finished"), 0);
    project.ok(&["resume", RUN]);
    assert_eq!((project.count("body_opened"), project.count("run_finished")), (6000, 1));
}

#[test]
fn what_is_decided_at_once_is_written_in_pieces() {
    let project = many();
    let mut command = project.command(&["run", "w.yaml", "--run-id", RUN]);
    assert!(!command.env("LONGHAUL_FAILPOINT", "append:after:3").output().unwrap().status.success());
    let opened = project.count("body_opened");
    assert!((1..6000).contains(&opened), "{opened}");
    project.ok(&["resume", RUN]);
    assert_eq!((project.count("body_opened"), project.count("run_finished")), (6000, 1));
}
