//! The registry as a script: a line does something, and the result follows.

use serde_json::json;

use super::schedule::{Times, bucket};
use super::trigger::{Schedule, Target, Trigger, TriggerDefinition};
use super::*;
use crate::rejection::Rejection;

const DAY: i64 = 24 * 60 * 60 * 1000;

fn text(words: &str) -> WorkflowText {
    let hash = |kind: &str| format!("sha256:{:0<64}", format!("{kind}{}", words.len()).replace(' ', ""));
    WorkflowText {
        text: words.to_owned(),
        hash: hash("aaaaaaa"),
        raw: hash("bbbbbbb"),
        self_modification: !words.contains("closed"),
    }
}

fn hash_of(words: &str) -> String {
    text(words).hash
}

/// A registry that applies its own entries.
#[derive(Default)]
struct Desk {
    shelf: Registry,
    now: i64,
}

impl Desk {
    fn take(&mut self, entries: Result<Vec<RegistryEntry>, Rejection>) -> String {
        match entries {
            Err(rejection) => rejection.to_string(),
            Ok(entries) => {
                for entry in &entries {
                    let written = serde_json::to_string(entry).unwrap();
                    let read: RegistryEntry = serde_json::from_str(&written).unwrap();
                    assert_eq!(read, *entry, "{written}");
                    self.shelf.apply(self.shelf.seq + 1, self.now, &read);
                }
                format!("{} written", entries.len())
            }
        }
    }

    fn save(&mut self, words: &str, base: Option<&str>) -> String {
        let change = Change { text: Some(text(words)), base: base.map(str::to_owned), ..Change::default() };
        let entries = self.shelf.save("deploy", &change);
        self.take(entries)
    }

    fn rollback(&mut self, hash: &str) -> String {
        let entry = self.shelf.rollback("deploy", hash, &Change::default());
        self.take(entry.map(|entry| entry.into_iter().collect()))
    }

    fn propose(&mut self, words: &str, base: &str) -> String {
        let proposing = Proposing {
            base: base.to_owned(),
            text: text(words),
            diff: None,
            run: Some("run-1".to_owned()),
            session: Some("s-1".to_owned()),
            by: None,
            expires_at: self.now + EXPIRY_MS,
        };
        let entry = self.shelf.propose("deploy", proposing, self.now);
        self.take(entry.map(|entry| vec![entry]))
    }

    fn review(&mut self, id: u64, approve: bool, from: &[&str]) -> String {
        let from: Vec<String> = from.iter().map(|from| (*from).to_owned()).collect();
        let entry = self.shelf.review("deploy", id, approve, &Change::default(), &from, self.now);
        self.take(entry.map(|entry| vec![entry]))
    }

    fn apply(&mut self, id: u64) -> String {
        let entry = self.shelf.apply_proposal("deploy", id, &Change::default(), self.now);
        self.take(entry.map(|entry| vec![entry]))
    }

    fn arm(&mut self, trigger: Trigger) -> String {
        let arming = Arming { id: None, trigger, by: Some("jane".to_owned()) };
        let decided = self.shelf.arm(&arming);
        self.take(decided.map(|(_, entry)| entry.into_iter().collect()))
    }

    fn kept(&self) -> String {
        let (_, kept) = self.shelf.workflow("deploy").unwrap();
        let versions: Vec<&str> = kept.versions.iter().map(|version| version.text.text.as_str()).collect();
        format!("{} of {} at {}", kept.current().text.text, versions.join("|"), kept.version)
    }
}

fn schedule(cron: &str, zone: &str) -> Schedule {
    Schedule {
        cron: cron.to_owned(),
        timezone: zone.to_owned(),
        both_days: false,
        target: Target::Workflow,
        prompt: None,
        variables: indexmap::IndexMap::new(),
    }
}

fn trigger(name: &str, kind: TriggerDefinition) -> Trigger {
    Trigger {
        name: name.to_owned(),
        enabled: true,
        workflow: Some("deploy".to_owned()),
        task: None,
        kind,
        mapping: indexmap::IndexMap::new(),
    }
}

fn at(text: &str) -> i64 {
    schedule::at(text).unwrap()
}

#[test]
fn every_text_is_kept_once_and_one_of_them_is_current() {
    let mut desk = Desk::default();
    assert_eq!(desk.save("one", None), "1 written");
    assert_eq!(desk.save("one", None), "0 written");
    assert_eq!(desk.save("three", Some(&hash_of("one"))), "1 written");
    assert_eq!(desk.kept(), "three of one|three at 1.0.1");
    assert_eq!(desk.rollback(&hash_of("one")), "1 written");
    assert_eq!(desk.kept(), "one of one|three at 1.0.2");
    assert_eq!(desk.rollback(&text("one").raw), "0 written", "it is there already");
    assert!(desk.rollback("sha256:ffffffffff").contains("has no version"));
}

#[test]
fn nothing_is_written_over_what_the_writer_has_not_seen() {
    let mut desk = Desk::default();
    assert!(desk.save("one", Some("sha256:aaaaaaa3")).contains("to base a change on"));
    desk.save("one", None);
    desk.save("three", None);
    let said = desk.save("fiver", Some(&hash_of("one")));
    assert!(said.starts_with("`deploy` has changed since") && said.contains(&hash_of("three")), "{said}");
    assert_eq!(desk.kept(), "three of one|three at 1.0.1");
    assert_eq!(desk.save("fivers", Some(&text("three").raw)), "1 written", "the hash of the text will do");
}

#[test]
fn names_can_stand_in_a_path() {
    let shelf = Registry::default();
    for name in ["", "../x", "a/b", ".hidden", "-x", "a b"] {
        let change = Change { text: Some(text("one")), ..Change::default() };
        assert!(shelf.save(name, &change).is_err(), "{name:?}");
    }
}

#[test]
fn a_proposal_goes_from_hand_to_hand() {
    let mut desk = Desk::default();
    desk.save("one", None);
    assert!(desk.propose("three", &hash_of("fivefive")).contains("has changed since"));
    assert_eq!(desk.propose("three", &hash_of("one")), "1 written");
    assert!(desk.apply(2).contains("is pending; only an approved one"));
    assert!(desk.review(2, true, &["s-1"]).contains("cannot approve its own proposals"));
    assert!(desk.review(2, true, &["run-1"]).contains("cannot approve its own proposals"));
    assert_eq!(desk.review(2, true, &[]), "1 written");
    assert!(desk.review(2, false, &[]).contains("is approved; only a pending one"));
    assert_eq!(desk.apply(2), "1 written");
    assert_eq!(desk.kept(), "three of one|three at 1.0.1");
    assert_eq!(desk.apply(2), "proposal 2 is already applied");
}

#[test]
fn a_proposal_fits_only_what_it_was_made_for_and_not_for_ever() {
    let mut desk = Desk::default();
    desk.save("one", None);
    desk.propose("three", &hash_of("one"));
    desk.review(2, true, &[]);
    desk.save("fiver", None);
    assert!(desk.apply(2).contains("has changed since"));
    desk.propose("seven77", &hash_of("fiver"));
    desk.now += 15 * DAY;
    assert!(desk.review(5, true, &[]).contains("is expired"));
    assert_eq!(desk.shelf.proposal(5).unwrap().status(desk.now).word(), "expired");
    desk.save("closed", None);
    assert!(desk.propose("x", &hash_of("closed")).contains("takes no proposals"));
}

#[test]
fn triggers_are_known_by_their_names() {
    let mut desk = Desk::default();
    let every = |cron: &str| trigger("Nightly", TriggerDefinition::Schedule(schedule(cron, "UTC")));
    assert_eq!(desk.arm(every("0 2 * * *")), "1 written");
    assert_eq!(desk.arm(every("0 2 * * *")), "0 written");
    let other_case = Trigger { name: "nightly".to_owned(), ..every("0 3 * * *") };
    assert_eq!(desk.arm(other_case), "1 written");
    assert_eq!(desk.shelf.triggers().count(), 1);
    assert!(desk.arm(every("0 2 31 2 *")).contains("a time that never comes"));
    assert!(desk.arm(every("hourly")).contains("is not a cron line"));
    assert!(desk.arm(every("* * * * * *")).contains("is not a cron line"), "five fields, and no seconds");
    let nowhere = trigger("x", TriggerDefinition::Schedule(schedule("0 2 * * *", "Mars/Olympus")));
    assert!(desk.arm(nowhere).contains("is not a time zone"));
}

#[test]
fn days_fit_as_cron_has_always_done_it() {
    let mut line = schedule("0 0 13 * 5", "UTC");
    let first = |line: &Schedule| bucket(Times::of(line).unwrap().after(at("2026-11-01T00:00:00Z")).unwrap());
    assert_eq!(first(&line), "2026-11-06T00:00", "the first Friday or 13th");
    line.both_days = true;
    assert_eq!(first(&line), "2026-11-13T00:00", "the first Friday that is a 13th");
}

#[test]
fn lines_are_meant_in_their_time_zone() {
    let times = Times::of(&schedule("30 9 * * *", "America/Denver")).unwrap();
    let next: Vec<String> = times.next(at("2026-10-31T00:00:00Z"), 3).into_iter().map(bucket).collect();
    assert_eq!(next, ["2026-10-31T15:30", "2026-11-01T16:30", "2026-11-02T16:30"], "the clocks go back that night");
}

#[test]
fn variables_come_from_the_schedule_the_mapping_and_the_caller() {
    let mut mapped = trigger("x", TriggerDefinition::Manual {});
    mapped.mapping.insert("title".to_owned(), "$.issue.title".to_owned());
    mapped.mapping.insert("none".to_owned(), "$.issue.nothing.at.all".to_owned());
    let given = indexmap::IndexMap::from([("by".to_owned(), json!("jane"))]);
    let variables = mapped.variables(&json!({"issue": {"title": "T"}}), &given);
    assert_eq!(json!(variables), json!({"title": "T", "by": "jane"}));
    mapped.mapping.insert("bad".to_owned(), "issue".to_owned());
    assert!(Desk::default().arm(mapped).contains("write a path"));
}

#[test]
fn secrets_are_not_shown() {
    let webhook =
        trigger::Webhook { path: "hook".to_owned(), method: "POST".to_owned(), secret: Some("hush".to_owned()) };
    let shown = trigger("x", TriggerDefinition::Webhook(webhook)).shown().to_string();
    assert!(shown.contains("has_secret") && !shown.contains("hush"), "{shown}");
}

#[test]
fn the_mapping_of_a_webhook_is_checked() {
    let webhook = trigger::Webhook { path: "hook".to_owned(), method: "POST".to_owned(), secret: None };
    let mut mapped = trigger("x", TriggerDefinition::Webhook(webhook));
    assert_eq!(mapped.rejection().map(|rejection| rejection.to_string()), None);
    mapped.mapping.insert("bad".to_owned(), "issue".to_owned());
    assert!(mapped.rejection().unwrap().to_string().contains("write a path such as"));
}
