//! Kills the engine at every write, as with a store in a file; the same must hold.

use std::sync::Mutex;

use longhaul_store::conformance::server;

use crate::crash::trial::{ABORTED, Reference, Trial, at_once, ends_as, reference};

/// One crash. False if there are fewer writes.
fn crashes_at(workflow: &str, point: &str, reference: &Reference) -> bool {
    let trial = Trial::new(workflow).kept_in(&server::shared().address());
    let told = trial.run(Some(point));
    if told.code != ABORTED {
        assert!([0, 3].contains(&told.code), "{workflow} {point}: {} {}", told.code, told.stderr);
        return false;
    }
    trial.finish();
    ends_as(&trial, reference, &format!("{workflow} {point}"));
    true
}

#[test]
fn a_crash_at_any_write_changes_nothing_about_the_end() {
    let crashes = Mutex::new(0);
    at_once(vec!["each", "gate", "retry", "prompts"], |workflow| {
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
    assert!(*crashes.lock().unwrap() > 30);
}
