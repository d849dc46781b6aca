//! Tests crashes around the end of a failed run: the notification is still sent.

use crate::crash::trial::{ABORTED, RUN, Trial, is_sound, until};

const SAD: &str = r#"
name: sad
on_failure: {notify: hook}
do: [{id: a, run: 'echo a >> "$LOG"; exit 3'}]
"#;
const HOOK: &str = r#"
[channels.hook]
kind = "command"
command = ["sh", "-c", "echo told >> \"$LOG\""]
"#;

fn sad() -> Trial {
    let trial = Trial::of("sad", SAD);
    let home = trial.path().join("no-such-home/.longhaul");
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join("config.toml"), HOOK).unwrap();
    trial
}

fn told(trial: &Trial) -> usize {
    trial.log().get("told").copied().unwrap_or(0)
}

fn count(trial: &Trial, event: &str) -> usize {
    trial.events().iter().filter(|found| found["event"] == event).count()
}

/// Sent at least once, and again only for an attempt whose end is unknown.
fn tells(trial: &Trial, at: &str) {
    is_sound(&trial.events());
    let begun = count(trial, "on_failure_started");
    assert!((1..=begun).contains(&told(trial)), "{at}: told {} times, begun {begun} times", told(trial));
    assert_eq!(trial.events().last().unwrap()["event"], "on_failure_ended", "{at}");
    assert_eq!(count(trial, "run_finished"), 1, "{at}");
}

#[test]
fn a_crash_around_a_failure_does_not_keep_it_secret() {
    let mut crashes = 0;
    for number in 1.. {
        let mut reached = false;
        for side in ["before", "after"] {
            let (trial, point) = (sad(), format!("append:{side}:{number}"));
            reached |= trial.run(Some(&point)).code == ABORTED;
            assert_eq!(trial.resume(None).code, 1, "{point}");
            tells(&trial, &point);
            let before = told(&trial);
            assert_eq!(trial.resume(None).code, 1, "{point}");
            assert_eq!(told(&trial), before, "{point}: told again although it is known how it ended");
        }
        if !reached {
            break;
        }
        crashes += 1;
    }
    // The start, the attempt, its end with the end of the run, and the end of `on_failure`.
    assert!(crashes >= 4, "{crashes}");
}

#[test]
fn a_worker_finds_what_a_failed_run_still_has_to_say() {
    let trial = sad();
    assert_eq!(trial.run(Some("append:after:3")).code, ABORTED);
    assert_eq!((trial.status(RUN).as_str(), told(&trial)), ("failed", 0));
    let worker = trial.worker(None);
    until("the end of what is said", || count(&trial, "on_failure_ended") == 1);
    assert_eq!(worker.stop(), Some(0));
    tells(&trial, "worker");
}
