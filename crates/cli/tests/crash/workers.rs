//! Tests workers that die, and which runs the next one continues by itself.

use std::process::Stdio;
use std::sync::Mutex;

use crate::crash::trial::{ABORTED, RUN, Reference, Trial, at_once, ends_as, reference, until};

fn detach(trial: &Trial, file: &str, run: &str) {
    let told = trial.longhaul(&["run", file, "the task", "--run-id", run, "--queue"], None);
    assert_eq!(told.code, 0, "{}", told.stderr);
}

/// One crash of the worker that drives a run; another worker finishes it. False if the point was not reached.
fn crashes_at(workflow: &str, point: &str, reference: &Reference) -> bool {
    let trial = Trial::new(workflow);
    detach(&trial, &format!("{workflow}.yaml"), RUN);
    let mut worker = trial.worker(Some(point));
    until("the end of the worker or of the run", || worker.code().is_some() || trial.is_over(RUN));
    let code = worker.stop();
    assert!([Some(0), Some(ABORTED)].contains(&code), "{workflow} {point}: {code:?}");
    if !trial.is_over(RUN) {
        let next = trial.worker(None);
        until("the end of the run", || trial.is_over(RUN));
        assert_eq!(next.stop(), Some(0));
    }
    ends_as(&trial, reference, &format!("{workflow} {point}"));
    code == Some(ABORTED)
}

#[test]
fn a_worker_that_dies_at_any_write_is_replaced_by_the_next() {
    let crashes = Mutex::new(0);
    at_once(vec!["each", "retry", "wait"], |workflow| {
        let reference = reference(workflow);
        for number in 1.. {
            let sides = ["before", "after"].map(|side| format!("append:{side}:{number}"));
            let reached = sides.map(|point| crashes_at(workflow, &point, &reference));
            *crashes.lock().unwrap() += usize::from(reached[0]) + usize::from(reached[1]);
            if reached == [false, false] {
                break;
            }
        }
    });
    assert!(*crashes.lock().unwrap() > 20);
}

const ALONE: &str = r#"
name: alone
concurrency: {group: all, max: 1, when_full: queue}
do: [{id: a, run: 'echo a >> "$LOG"'}]
"#;

#[test]
fn a_worker_takes_up_runs_that_are_queued() {
    let trial = Trial::of("alone", ALONE);
    for run in ["run-1", "run-2", "run-3"] {
        detach(&trial, "alone.yaml", run);
    }
    assert_eq!(trial.status("run-3"), "queued");
    let worker = trial.worker(None);
    until("the last of the queue", || trial.is_over("run-3"));
    assert_eq!(worker.stop(), Some(0));
    for run in ["run-1", "run-2", "run-3"] {
        assert_eq!(trial.status(run), "succeeded");
    }
}

const NAP: &str = r#"
name: nap
do:
  - {id: nap, wait: 1s}
  - {id: after, run: 'echo after >> "$LOG"'}
"#;

#[test]
fn a_worker_takes_up_runs_that_waited_while_nobody_was_there() {
    let trial = Trial::of("nap", NAP);
    detach(&trial, "nap.yaml", RUN);
    let mut command = trial.command(&["resume", RUN], None);
    let mut engine = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("the nap", || trial.status(RUN) == "waiting" || trial.is_over(RUN));
    engine.kill().unwrap();
    engine.wait().unwrap();
    let worker = trial.worker(None);
    until("the end", || trial.is_over(RUN));
    assert_eq!(worker.stop(), Some(0));
    assert_eq!(trial.log()["after"], 1);
}
