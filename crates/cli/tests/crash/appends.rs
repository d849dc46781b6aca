//! Crashes before and after every append of a run in the foreground.

use std::sync::Mutex;

use crate::trial::{ABORTED, RUN, Reference, Trial, at_once, ends_as, fixtures, reference};

/// One crash: before or after the `number`th append. False if there are not so many.
fn crashes_at(workflow: &str, point: &str, reference: &Reference) -> bool {
    let trial = Trial::new(workflow);
    let told = trial.run(Some(point));
    if told.code != ABORTED {
        assert!([0, 3].contains(&told.code), "{workflow} {point}: {} {}", told.code, told.stderr);
        return false;
    }
    trial.finish();
    ends_as(&trial, reference, &format!("{workflow} {point}"));
    true
}

/// Crashes at every append; answers how many there were.
fn crash_everywhere(workflow: &str) -> usize {
    let reference = reference(workflow);
    assert_eq!(reference.end.status, "success", "{workflow}");
    let mut crashes = 0;
    for number in 1.. {
        let before = crashes_at(workflow, &format!("append:before:{number}"), &reference);
        let after = before && crashes_at(workflow, &format!("append:after:{number}"), &reference);
        crashes += usize::from(before) + usize::from(after);
        if !before {
            break;
        }
    }
    crashes
}

#[test]
fn a_crash_at_any_write_changes_nothing_about_the_end() {
    let mut workflows: Vec<String> = std::fs::read_dir(fixtures())
        .unwrap()
        .filter_map(|entry| Some(entry.unwrap().file_name().to_str()?.strip_suffix(".yaml")?.to_owned()))
        .collect();
    assert!(workflows.len() > 12, "{workflows:?}");
    workflows.sort();
    let crashes = Mutex::new(0);
    at_once(workflows, |workflow| {
        let made = crash_everywhere(&workflow);
        *crashes.lock().unwrap() += made;
    });
    assert!(*crashes.lock().unwrap() > 100);
}

/// The gate is answered by a process that dies, or the process that takes the answer in dies.
#[test]
fn a_crash_around_an_answer_loses_nothing_and_takes_it_once() {
    let reference = reference("gate");
    for side in ["before", "after"] {
        let trial = Trial::new("gate");
        assert_eq!(trial.run(None).code, 3);
        assert_eq!(trial.longhaul(&["approve", RUN], Some(&format!("append:{side}:1"))).code, ABORTED);
        trial.finish();
        ends_as(&trial, &reference, &format!("answer, {side}"));
    }
    for number in 1.. {
        let mut reached = false;
        for side in ["before", "after"] {
            let trial = Trial::new("gate");
            assert_eq!(trial.run(None).code, 3);
            assert_eq!(trial.longhaul(&["approve", RUN], None).code, 0);
            let point = format!("append:{side}:{number}");
            reached |= trial.resume(Some(&point)).code == ABORTED;
            trial.finish();
            ends_as(&trial, &reference, &point);
        }
        if !reached {
            break;
        }
    }
}
