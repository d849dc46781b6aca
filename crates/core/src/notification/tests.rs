//! What is sent, with time as a number: settings and notifications in, messages out.

use super::*;

const MIN: i64 = 60_000;
const HOUR: i64 = 60 * MIN;
/// 2026-11-16 at midnight, UTC.
const DAY: i64 = 1_794_787_200_000;

fn rules() -> NotifyRules {
    NotifyRules { channels: vec!["team".to_owned()], ..NotifyRules::default() }
}

fn pending(run: &str, kind: NotificationKind, since: i64) -> OpenNotification {
    let notification = Notification {
        key: format!("{kind}:ask:{since}"),
        kind,
        step: kind.is_for_person().then(|| "ask".parse().unwrap()),
        text: "Deploy?".to_owned(),
        since,
        due: None,
        choices: Vec::new(),
        labels: Vec::new(),
        told: Vec::new(),
        took_ms: None,
    };
    OpenNotification { run: RunId::new(run).unwrap(), workflow: "night".to_owned(), task: String::new(), notification }
}

/// An engine without a store: it records what it sends.
struct World {
    ledger: NotifyLedger,
    rules: NotifyRules,
    pending: Vec<OpenNotification>,
    has_news: bool,
    /// The channels that fail.
    broken: Vec<String>,
}

impl World {
    fn new(rules: NotifyRules) -> Self {
        let mut ledger = NotifyLedger::default();
        ledger.apply(1, 5, &NotifyEntry::Began { since: 0 });
        Self { ledger, rules, pending: Vec::new(), has_news: true, broken: Vec::new() }
    }

    fn write(&mut self, now: i64, entry: &NotifyEntry) {
        let seq = self.ledger.seq + 1;
        self.ledger.apply(seq, now, entry);
    }

    fn next(&self, now: i64) -> NextNotice {
        let Self { ledger, rules, pending, .. } = self;
        next(Look { ledger, rules, pending, is_full: true, has_news: self.has_news, now })
    }

    fn claim(&mut self, now: i64, outgoing: &Outgoing) {
        let Outgoing { id, keys, title, channels, .. } = outgoing.clone();
        self.write(now, &NotifyEntry::Sending { id, keys, title, channels, by: "w".to_owned(), until: now + 2 * MIN });
    }

    /// Sends everything that is due, and says what: title, channels.
    fn run(&mut self, now: i64) -> (Vec<String>, Option<i64>) {
        let mut sent = Vec::new();
        loop {
            match self.next(now) {
                NextNotice::Wait { until } => return (sent, until),
                NextNotice::Drop { id } => {
                    self.write(now, &NotifyEntry::Dropped { id: id.clone(), why: "over".to_owned() });
                    sent.push(format!("dropped {id}"));
                }
                NextNotice::Report { id, .. } => {
                    self.write(now, &NotifyEntry::Dropped { id: id.clone(), why: "sent".to_owned() });
                    sent.push(id);
                }
                NextNotice::Send(outgoing) => {
                    self.claim(now, &outgoing);
                    sent.push(format!("{} to {}", outgoing.title, outgoing.channels.join(", ")));
                    self.end(now, &outgoing);
                }
            }
        }
    }

    fn end(&mut self, now: i64, outgoing: &Outgoing) {
        let error = |channel: &String| self.broken.contains(channel).then(|| "503".to_owned());
        let result = |channel: &String| ChannelResult { channel: channel.clone(), error: error(channel), again: true };
        let results = outgoing.channels.iter().map(result).collect();
        self.write(now, &NotifyEntry::Sent { id: outgoing.id.clone(), results });
    }
}

const GATE: &str = "night run-1 needs your approval to team";

#[test]
fn a_notification_is_sent_once() {
    let mut world = World::new(rules());
    world.pending = vec![pending("run-1", NotificationKind::Gate, DAY)];
    assert_eq!(world.run(DAY), (vec![GATE.to_owned()], None));
    assert_eq!(world.run(DAY + 100 * HOUR).0, Vec::<String>::new());
    world.pending = vec![pending("run-1", NotificationKind::Gate, DAY + HOUR)];
    assert_eq!(world.run(DAY + HOUR).0, [GATE], "asked again, it is another one");
}

#[test]
fn what_a_killed_engine_left_is_sent_by_another_one_after_its_claim() {
    let mut world = World::new(rules());
    world.pending = vec![pending("run-1", NotificationKind::Gate, DAY)];
    let NextNotice::Send(outgoing) = world.next(DAY) else { panic!() };
    world.claim(DAY, &outgoing);
    assert_eq!(world.run(DAY + MIN), (vec![], Some(DAY + 2 * MIN)));
    let NextNotice::Send(again) = world.next(DAY + 2 * MIN) else { panic!() };
    assert_eq!((&again.id, &again.title, &again.text), (&outgoing.id, &outgoing.title, &outgoing.text));
    assert_eq!(world.run(DAY + 2 * MIN).0, [GATE]);
}

#[test]
fn an_answered_question_is_not_sent_any_more() {
    let mut world = World::new(rules());
    world.pending = vec![pending("run-1", NotificationKind::Gate, DAY)];
    world.broken = vec!["team".to_owned()];
    assert_eq!(world.run(DAY), (vec![GATE.to_owned()], Some(DAY + 30_000)));
    world.pending.clear();
    assert_eq!(world.run(DAY + MIN).0, [format!("dropped run-1/gate:ask:{DAY}")]);
    assert_eq!(world.run(DAY + HOUR), (vec![], None));
}

#[test]
fn only_the_channel_that_failed_is_tried_again_and_at_last_given_up() {
    let mut world = World::new(NotifyRules { channels: vec!["team".to_owned(), "mail".to_owned()], ..rules() });
    world.pending = vec![pending("run-1", NotificationKind::Gate, DAY)];
    world.broken = vec!["mail".to_owned()];
    let (mut sent, mut next) = world.run(DAY);
    while let Some(now) = next {
        let (more, then) = world.run(now);
        sent.extend(more);
        next = then;
    }
    let tries =
        ["team, mail", "mail", "mail", "mail", "mail"].map(|to| format!("night run-1 needs your approval to {to}"));
    assert_eq!(sent, tries);
    assert!(world.ledger.messages().next().unwrap().channels[1].failed);
}

#[test]
fn many_at_once_are_one_message() {
    let mut world = World::new(rules());
    let kinds = [NotificationKind::Gate, NotificationKind::Stuck, NotificationKind::Failure, NotificationKind::Budget];
    world.pending = kinds.iter().zip(1..).map(|(kind, at)| pending(&format!("run-{at}"), *kind, DAY + at)).collect();
    let NextNotice::Send(outgoing) = world.next(DAY + MIN) else { panic!() };
    let lines: Vec<&str> = outgoing.text.lines().collect();
    assert_eq!(lines.len(), 4);
    assert_eq!(
        lines[1],
        "run-2 ask (night) cannot continue, and needs your decision: Deploy?; longhaul answer run-2 ask retry|skip|fail"
    );
    assert_eq!(world.run(DAY + MIN).0, ["Longhaul: 3 need you, 1 failed to team"]);
}

#[test]
fn a_flood_becomes_one_message_after_ten() {
    let mut world = World::new(rules());
    let mut sent = Vec::new();
    for at in 0..64 {
        world.pending.push(pending("run-1", NotificationKind::Stuck, DAY + at * 5_000));
        sent.extend(world.run(DAY + at * 5_000).0);
    }
    assert_eq!(sent.len(), 10);
    let (late, _) = world.run(DAY + 11 * MIN);
    assert_eq!(late, ["Longhaul: 54 need you to team"]);
}

#[test]
fn quiet_hours_hold_back_and_end_with_one_message() {
    let quiet = Some("22:00-07:00".parse().unwrap());
    let mut world = World::new(NotifyRules { quiet, urgent: vec![NotificationKind::Failure], ..rules() });
    let night = DAY + 23 * HOUR;
    world.pending = vec![pending("run-1", NotificationKind::Gate, night)];
    let morning = DAY + 31 * HOUR;
    assert_eq!(world.run(night), (vec![], Some(morning)));
    world.pending.push(pending("run-2", NotificationKind::Failure, night + HOUR));
    assert_eq!(world.run(night + HOUR).0, ["night run-2 failed to team"], "it breaks through");
    world.pending.push(pending("run-3", NotificationKind::Question, night + 2 * HOUR));
    assert_eq!(world.run(night + 2 * HOUR).0, Vec::<String>::new());
    assert_eq!(world.run(morning).0, ["Longhaul: 2 need you to team"]);
    assert_eq!(world.run(morning + HOUR).0, Vec::<String>::new());
}

#[test]
fn reminders_are_counted_and_a_machine_that_slept_sends_one() {
    let mut world = World::new(NotifyRules { remind_ms: Some(2 * HOUR), reminders: 2, ..rules() });
    world.pending =
        vec![pending("run-1", NotificationKind::Gate, DAY), pending("run-2", NotificationKind::Failure, DAY)];
    assert_eq!(world.run(DAY).1, Some(DAY + 2 * HOUR));
    assert_eq!(world.run(DAY + 2 * HOUR - 1).0, Vec::<String>::new());
    // Nothing ran for ten hours: one reminder, not five.
    let (sent, next) = world.run(DAY + 10 * HOUR);
    assert_eq!((sent, next), (vec![format!("Reminder: {GATE}")], Some(DAY + 12 * HOUR)));
    assert_eq!(world.run(DAY + 12 * HOUR), (vec![format!("Reminder: {GATE}")], None));
    assert_eq!(world.run(DAY + 99 * HOUR).0, Vec::<String>::new());
}

#[test]
fn what_nobody_wants_is_not_sent() {
    let mut world =
        World::new(NotifyRules { on: vec![NotificationKind::Failure, NotificationKind::Success], ..rules() });
    let took = |ms: i64| {
        let mut one = pending("run-1", NotificationKind::Success, DAY + ms);
        one.notification.took_ms = Some(ms);
        one
    };
    let mut told = pending("run-2", NotificationKind::Failure, DAY);
    told.notification.told = vec!["team".to_owned()];
    world.pending = vec![pending("run-3", NotificationKind::Gate, DAY), took(9 * MIN), told];
    assert_eq!(world.run(DAY + HOUR).0, Vec::<String>::new());
    world.pending = vec![took(10 * MIN)];
    assert_eq!(world.run(DAY + HOUR).0, ["night run-1 succeeded to team"]);
}

#[test]
fn what_the_workflow_tells_one_channel_goes_to_the_others() {
    let mut world = World::new(NotifyRules { channels: vec!["team".to_owned(), "desktop".to_owned()], ..rules() });
    let mut failure = pending("run-1", NotificationKind::Failure, DAY);
    failure.notification.told = vec!["team".to_owned()];
    world.pending = vec![failure];
    assert_eq!(world.run(DAY).0, ["night run-1 failed to desktop"]);
}

#[test]
fn what_is_older_than_the_ledger_or_a_week_is_not_sent() {
    let mut world = World::new(rules());
    world.ledger = NotifyLedger::default();
    world.ledger.apply(1, DAY + 5, &NotifyEntry::Began { since: DAY });
    world.pending = vec![pending("run-1", NotificationKind::Gate, DAY - 1)];
    assert_eq!(world.run(DAY).0, Vec::<String>::new());
    world.pending = vec![pending("run-1", NotificationKind::Gate, DAY)];
    assert_eq!(world.run(DAY + 8 * 24 * HOUR).0, Vec::<String>::new());
}

#[test]
fn a_worker_may_come_and_a_short_limit_may_end() {
    let mut world = World::new(rules());
    let mut limit = pending("run-1", NotificationKind::Limit, DAY);
    limit.notification.due = Some(DAY + 6 * MIN);
    world.pending = vec![pending("run-2", NotificationKind::Worker, DAY), limit];
    assert_eq!(world.run(DAY), (vec!["night run-1 waits for a usage limit to team".to_owned()], Some(DAY + MIN)));
    assert_eq!(world.run(DAY + MIN).0, ["night run-2 waits for a worker that is not there to team"]);
    world.pending[1].notification.key = "limit:2".to_owned();
    assert_eq!(world.run(DAY + 2 * MIN).0, Vec::<String>::new(), "it ends in four minutes");
}

#[test]
fn the_report_is_sent_once_a_day_and_made_up_for() {
    let mut world = World::new(NotifyRules { digest: Some("07:30".parse().unwrap()), ..rules() });
    let due = DAY + 7 * HOUR + 30 * MIN;
    assert_eq!(world.run(due - MIN).1, Some(due));
    assert_eq!(world.run(due + 3 * HOUR).0, ["digest:2026-11-16"]);
    assert_eq!(world.run(due + 4 * HOUR).0, Vec::<String>::new());
    assert_eq!(world.run(due + 24 * HOUR + 13 * HOUR).0, Vec::<String>::new(), "too late");
    world.has_news = false;
    assert_eq!(world.run(due + 48 * HOUR), (vec![], None), "nobody waits for an empty report");
}

#[test]
fn without_a_channel_nothing_is_due() {
    let mut world = World::new(NotifyRules::default());
    world.pending = vec![pending("run-1", NotificationKind::Gate, DAY)];
    assert_eq!(world.run(DAY), (vec![], None));
}

#[test]
fn a_message_says_what_to_type_and_where_to_look() {
    let link = Some("https://haul.example/".to_owned());
    let mut world = World::new(NotifyRules { link, zone: Zone::named("Europe/Berlin").unwrap(), ..rules() });
    let mut gate = pending("run-1", NotificationKind::Gate, DAY);
    gate.notification.step = Some("each[2]/ask".parse().unwrap());
    gate.notification.due = Some(DAY + HOUR);
    gate.task = "Clean\nup".to_owned();
    world.pending = vec![gate];
    let NextNotice::Send(outgoing) = world.next(DAY) else { panic!() };
    let text = "Deploy?\nTask: Clean up\nStep: each[2]/ask\nUntil: 2026-11-16 02:00\nlonghaul approve run-1 'each[2]/ask'\nhttps://haul.example/runs/run-1";
    assert_eq!(outgoing.text, text);
}
