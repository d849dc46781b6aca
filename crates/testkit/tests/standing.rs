//! Where a run stands, in a word and a line: text in, text out.

use longhaul_core::view::{Brief, Standing, StandingWord, brief, standing};
use longhaul_testkit::VirtualWorld;

const NOW: i64 = 10_000;

/// The standing of a run after ten seconds, as a line and the command.
fn stands(workflow: &str, script: &str) -> String {
    told(&standing_of(workflow, script))
}

fn standing_of(workflow: &str, script: &str) -> Standing {
    let mut world = VirtualWorld::new(workflow, script).unwrap();
    let zero = world.now();
    world.run_for(NOW).unwrap();
    let mut stands = standing("r-1", &world.plan, &world.state);
    // The clock of tests does not start at 0.
    stands.until = stands.until.map(|until| until - zero);
    stands.since = stands.since.map(|since| since - zero);
    stands
}

fn told(stands: &Standing) -> String {
    let until = stands.until.map_or_else(String::new, |until| format!(" until +{}s", until / 1000));
    let since = stands.since.map_or_else(String::new, |since| format!(" since +{}s", since / 1000));
    let command = stands.command.as_ref().map_or_else(String::new, |command| format!(" | {command}"));
    format!("{}{since}{until}: {}{command}", stands.is.for_people(), stands.text)
}

#[test]
fn a_run_that_needs_nobody_says_what_it_does_or_until_when_it_waits() {
    assert_eq!(stands("do: [{id: a, run: 'true'}]", "a -> hang"), "running: a");
    assert_eq!(stands("do: [{id: nap, wait: 1h}]", ""), "waiting until +3600s: `nap` sleeps");
    assert_eq!(stands("do: [{id: ear, wait: {event: push}}]", ""), "waiting: `ear` waits for the signal `push`");
    let again = "do: [{id: a, run: 'true', retry: {max: 3, backoff: 1h}}]";
    let failed = stands(again, "a@1 -> fail transient no network");
    assert!(failed.starts_with("waiting until +3"), "{failed}");
    assert!(failed.contains("no network"), "{failed}");
}

#[test]
fn a_question_is_told_in_one_line_with_the_command_to_type() {
    let gate = "do: [{id: go, approve: \"Deploy\\n to   production?\"}]";
    let expected = "needs you since +0s: Deploy to production? | longhaul approve r-1 go   or   longhaul deny r-1 go";
    assert_eq!(stands(gate, ""), expected);
    let ask = "do: [{id: which, ask: 'Which one?'}]";
    assert_eq!(stands(ask, ""), "needs you since +0s: Which one? | longhaul answer r-1 which VALUE");
    let beside = "steps: [{id: a, run: 'true'}, {id: go, approve: 'Go?'}]";
    assert!(stands(beside, "a -> hang").starts_with("needs you"), "another step is running");
}

#[test]
fn a_question_is_cut_and_has_no_control_characters() {
    let long = format!("do: [{{id: go, approve: \"\\e[31m{}\"}}]", "x".repeat(5000));
    let stands = standing_of(&long, "");
    assert_eq!(stands.text.chars().count(), 201);
    assert!(stands.text.ends_with('…') && !stands.text.contains('\u{1b}'));
}

#[test]
fn a_stopped_run_says_who_stopped_it_and_how_to_continue() {
    let gate = "do: [{id: go, approve: 'Go?'}]";
    assert_eq!(stands(gate, "at 5s stop"), "stopped since +5s: stopped by ana | longhaul resume r-1");
    assert!(stands(gate, "at 5s stop\nat 6s resume").starts_with("needs you"));
    assert!(stands(gate, "at 5s stop\nat 6s pause").starts_with("stopped"), "a stop is stronger than a pause");
    assert_eq!(stands(gate, "at 5s pause").split(':').next(), Some("paused"));
}

#[test]
fn at_a_limit_the_command_raises_the_limit() {
    let limited = "limits: {steps: 1, on_exceed: ask}\ndo: [{id: a, run: 'true'}, {id: b, run: 'true'}]";
    let told = stands(limited, "");
    assert!(told.starts_with("needs you") && told.ends_with("| longhaul budget r-1 --steps +50"), "{told}");
    let by_hand = stands("do: [{id: go, approve: 'Go?'}]", "at 5s pause");
    assert!(by_hand.ends_with("| longhaul unpause r-1"), "{by_hand}");
}

#[test]
fn a_run_that_is_over_says_why() {
    let fails = "do: [{id: a, run: 'true'}]";
    assert!(stands(fails, "a -> fail failed exit code 3").starts_with("failed: "));
    assert_eq!(stands(fails, "a -> fail failed exit code 3").split(" | ").nth(1), Some("longhaul retry r-1"));
    assert_eq!(stands(fails, ""), "succeeded: ");
    assert!(stands(fails, "a -> hang\nat 1s cancel").starts_with("cancelled"));
}

#[test]
fn without_an_engine_a_run_that_would_continue_does_not() {
    let alone = |workflow: &str, script: &str| told(&standing_of(workflow, script).attended("r-1", false));
    let busy = alone("do: [{id: a, run: 'true'}]", "a -> hang");
    assert_eq!(busy, "no engine: no engine is running it; a | longhaul resume r-1");
    let asleep = alone("do: [{id: nap, wait: 1h}]", "");
    assert_eq!(asleep, "no engine until +3600s: no engine is running it; `nap` sleeps | longhaul resume r-1");
    assert!(alone("do: [{id: go, approve: 'Go?'}]", "").starts_with("needs you"));
    assert!(alone("do: [{id: go, approve: 'Go?'}]", "at 1s stop").starts_with("stopped"));
    assert!(alone("do: [{id: a, run: 'true'}]", "").starts_with("succeeded"));
}

#[test]
fn a_row_of_an_earlier_version_has_a_standing_too() {
    let old: Brief =
        serde_json::from_str(r#"{"task":"t","done":1,"started_at":2,"usd":0.5,"waits":"`go` waits"}"#).unwrap();
    let stands = old.standing_of("waiting");
    assert_eq!((stands.is, stands.text.as_str()), (StandingWord::Waiting, "`go` waits"));
    assert_eq!(old.standing_of("odd").is, StandingWord::Running);
    let mut world = VirtualWorld::new("do: [{id: go, approve: 'Go?'}]", "").unwrap();
    world.run_for(NOW).unwrap();
    let written = serde_json::to_string(&brief("r-1", &world.plan, &world.state)).unwrap();
    let read: Brief = serde_json::from_str(&written).unwrap();
    assert_eq!(read.standing_of("waiting").is, StandingWord::NeedsYou);
    assert_eq!(read.standing_of("cancelled").is, StandingWord::Cancelled, "it was given up without being read");
}
