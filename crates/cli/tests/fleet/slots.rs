//! Tests workers with fewer slots than there is work.

use super::*;

const MANY: &str = r#"
name: work
do:
  - for_each: [1, 2, 3, 4]
    id: all
    parallel: 4
    do:
      - {id: item, run: 'sleep 0.1'}
"#;

const RUNS: [&str; 2] = ["one-of-two", "two-of-two"];

/// The starts (true) and ends of attempts, in order.
fn moments(fleet: &Fleet) -> Vec<(i64, bool)> {
    let mut moments = Vec::new();
    for run in RUNS {
        let told = fleet.told("gamma", &["events", run, "--json"]);
        for line in told.stdout.lines() {
            let event: Value = serde_json::from_str(line).unwrap();
            let at = event["at"].as_i64().unwrap();
            match event["event"].as_str().unwrap() {
                "attempt_claimed" => moments.push((at, true)),
                "attempt_started" if event["host"].is_string() => moments.push((at, true)),
                "attempt_succeeded" => moments.push((at, false)),
                _ => {}
            }
        }
    }
    moments.sort_unstable();
    moments
}

/// A worker leaves what it cannot start to others, and each end makes room for a waiting step: nothing else would wake
/// it.
#[test]
fn a_worker_holds_no_more_steps_than_it_has_slots_and_takes_the_next_when_one_ends() {
    let fleet = Fleet::of(MANY, "");
    for run in RUNS {
        assert_eq!(fleet.told("gamma", &["run", "work.yaml", "--run-id", run, "--queue"]).code, 0);
    }
    let _alpha = fleet.worker("alpha", &["--slots", "1"]);
    let is_done = |run: &&str| {
        let status: Value = serde_json::from_str(&fleet.told("gamma", &["status", run, "--json"]).stdout).unwrap();
        status["status"] == "succeeded"
    };
    until("the end of both", || RUNS.iter().all(is_done));
    let moments = moments(&fleet);
    assert_eq!(moments.len(), 16);
    let mut held = 0;
    for (at, begins) in moments {
        held += if begins { 1 } else { -1 };
        assert!((0..=1).contains(&held), "{held} at {at}");
    }
}

const NOBODY_YET: &str = r#"
name: work
do:
  - {id: one, run: 'echo one >> "$SEEN"', runs_on: rare, workspace: any}
"#;

/// The end of the run withdrew the step from the workers, so there is nothing more to withdraw.
#[test]
fn what_waited_for_a_worker_when_its_run_was_cancelled_is_done_after_a_retry() {
    let fleet = Fleet::of(NOBODY_YET, "");
    fleet.detach("gamma");
    let _alpha = fleet.worker("alpha", &[]);
    until("the wait", || fleet.is("waiting"));
    assert_eq!(fleet.told("gamma", &["cancel", RUN]).code, 0);
    until("the cancel", || fleet.is("cancelled"));
    assert_eq!(fleet.told("gamma", &["retry", RUN]).code, 0);
    until("the wait again", || fleet.is("waiting"));
    let _beta = fleet.worker("beta", &["--labels", "rare"]);
    until("the end", || fleet.is("succeeded"));
    assert_eq!(fleet.seen(), ["one"]);
}
