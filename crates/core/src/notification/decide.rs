//! Which message is sent next: a function of the ledger, the open notifications, the settings and the time.

use std::collections::HashSet;

use super::ledger::{MessageRecord, NotifyLedger};
use super::{Notification, NotificationKind, NotifyRules, OpenNotification, texts};
use crate::id::RunId;
use crate::path::StepPath;

/// A notification that is older was missed, and is not sent any more.
const STALE_MS: i64 = 7 * 24 * 3_600_000;
/// A step may wait this long for a worker before people hear of it.
const WORKER_MS: i64 = 60_000;
/// A shorter wait for a limit is not worth a message.
const LIMIT_MS: i64 = 5 * 60_000;
/// More notifications at once become one message.
const ALONE_MAX: usize = 3;
/// The most notifications in one message.
const TOGETHER_MAX: usize = 200;
/// A report that could not be sent in this time is left out.
const REPORT_MS: i64 = 12 * 3_600_000;
const DAY_MS: i64 = 24 * 3_600_000;

/// Everything that the decision depends on.
#[derive(Debug, Clone, Copy)]
pub struct Look<'a> {
    /// What was sent.
    pub ledger: &'a NotifyLedger,
    /// The settings.
    pub rules: &'a NotifyRules,
    /// The open notifications of the runs that were looked at. Those of every message that is not sent yet must be
    /// among them.
    pub pending: &'a [OpenNotification],
    /// Whether all runs were looked at. Only then reminders, summaries and reports are due.
    pub is_full: bool,
    /// Whether there is something to report: a run that is open, or that ended within a day.
    pub has_news: bool,
    /// The time.
    pub now: i64,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum NextNotice {
    /// Claim this message and send it.
    Send(Box<Outgoing>),
    /// This message is about nothing that is still open.
    Drop {
        /// The message.
        id: String,
    },
    /// Claim the report of the time since this moment, and send it.
    Report {
        /// The message.
        id: String,
        /// The channels.
        channels: Vec<String>,
        /// The start of the time.
        since: i64,
    },
    /// Look at all runs again at this time, or when something happens.
    Wait {
        /// When.
        until: Option<i64>,
    },
}

/// A message.
#[derive(Debug, Clone, PartialEq)]
pub struct Outgoing {
    /// Names it.
    pub id: String,
    /// The notifications in it.
    pub keys: Vec<String>,
    /// The channels that have not got it yet.
    pub channels: Vec<String>,
    /// Its title.
    pub title: String,
    /// Its text.
    pub text: String,
    /// What it is about, if it is one thing.
    pub kind: Option<NotificationKind>,
    /// The run, if it is one.
    pub run: Option<RunId>,
    /// The step, if it is one.
    pub step: Option<StepPath>,
    /// The command to type.
    pub command: Option<String>,
    /// The page in the dashboard.
    pub link: Option<String>,
}

/// What to do next.
pub fn next(look: Look<'_>) -> NextNotice {
    if look.rules.is_off() {
        return NextNotice::Wait { until: None };
    }
    let mut wakes: Vec<i64> = Vec::new();
    if let Some(step) = unsent(look, &mut wakes).or_else(|| report(look, &mut wakes)) {
        return step;
    }
    let chosen = chosen(look, &mut wakes);
    let crowd = look.ledger.crowded_until(look.now).filter(|_| !chosen.is_empty());
    wakes.extend(crowd);
    match crowd.map_or_else(|| message(look, &chosen), |_| None) {
        Some(outgoing) => NextNotice::Send(Box::new(outgoing)),
        None => NextNotice::Wait { until: wakes.into_iter().min() },
    }
}

/// A message that a channel has not got yet, and whose time has come.
fn unsent(look: Look<'_>, wakes: &mut Vec<i64>) -> Option<NextNotice> {
    for message in look.ledger.unsent() {
        let due = message.next.unwrap_or(look.now);
        if due > look.now {
            wakes.push(due);
            continue;
        }
        return Some(again(look, message));
    }
    None
}

fn again(look: Look<'_>, message: &MessageRecord) -> NextNotice {
    let (id, channels) = (message.id.clone(), message.open_channels());
    if let Some(since) = report_since(look, &id) {
        return NextNotice::Report { id, channels, since };
    }
    let still: Vec<&OpenNotification> = look.pending.iter().filter(|one| message.keys.contains(&one.key())).collect();
    match still.is_empty() {
        true => NextNotice::Drop { id },
        false => NextNotice::Send(Box::new(Outgoing { id, channels, ..outgoing(look, &still) })),
    }
}

/// The report, if its time has come.
fn report(look: Look<'_>, wakes: &mut Vec<i64>) -> Option<NextNotice> {
    let (rules, now) = (look.rules, look.now);
    let at = rules.digest.filter(|_| look.has_news && !rules.report_channels().is_empty())?;
    wakes.extend(rules.zone.next(at, now));
    let due = rules
        .zone
        .last(at, now)
        .filter(|due| now - due < REPORT_MS && look.ledger.began.is_some_and(|began| began <= *due))?;
    let id = format!("{REPORT}{}", rules.zone.date(due));
    if !look.is_full || look.ledger.message(&id).is_some() {
        return None;
    }
    Some(NextNotice::Report { id, channels: rules.report_channels().to_vec(), since: due - DAY_MS })
}

const REPORT: &str = "digest:";

fn report_since(look: Look<'_>, id: &str) -> Option<i64> {
    let at = look.rules.digest.filter(|_| id.starts_with(REPORT))?;
    Some(look.rules.zone.last(at, look.now)? - DAY_MS)
}

/// A notification to send, for the first time or again.
#[derive(Clone, Copy)]
struct Chosen<'a> {
    pending: &'a OpenNotification,
    /// The number of the reminder; 0 for the first message.
    reminder: u32,
}

/// The notifications that are due. Notes when others become due.
fn chosen<'a>(look: Look<'a>, wakes: &mut Vec<i64>) -> Vec<Chosen<'a>> {
    let mut seen = HashSet::new();
    let mut chosen = Vec::new();
    for pending in look.pending.iter().filter(|one| is_wanted(look, &one.notification)) {
        let key = pending.key();
        let told = look.ledger.told(&key);
        let (due, reminder) = match told {
            None => (first_due(&pending.notification), 0),
            Some(told) => {
                let Some(due) = reminder_due(look, &pending.notification, told.last, told.times) else { continue };
                (due, told.times)
            }
        };
        let quiet = look.rules.quiet.filter(|_| !look.rules.urgent.contains(&pending.notification.kind));
        let due = quiet.and_then(|quiet| quiet.until(&look.rules.zone, look.now)).map_or(due, |end| due.max(end));
        if due > look.now {
            wakes.push(due);
        } else if seen.insert(key) {
            chosen.push(Chosen { pending, reminder });
        }
    }
    chosen
}

fn is_wanted(look: Look<'_>, about: &Notification) -> bool {
    let rules = look.rules;
    let is_short = about.kind == NotificationKind::Success && about.took_ms.is_some_and(|took| took < rules.long_ms)
        || about.kind == NotificationKind::Limit && about.due.is_some_and(|due| due - look.now < LIMIT_MS);
    let is_old = about.since < look.now - STALE_MS || look.ledger.began.is_some_and(|began| about.since < began);
    let has_channel = rules.channels.iter().any(|channel| !about.told.contains(channel));
    rules.on.contains(&about.kind) && !is_short && !is_old && has_channel
}

fn first_due(about: &Notification) -> i64 {
    if about.kind == NotificationKind::Worker { about.since.saturating_add(WORKER_MS) } else { about.since }
}

fn reminder_due(look: Look<'_>, about: &Notification, last: i64, times: u32) -> Option<i64> {
    let pause = look.rules.remind_ms.filter(|_| look.is_full && about.kind.is_for_person())?;
    (times <= look.rules.reminders).then(|| last.saturating_add(pause))
}

/// The next message. A few notifications are sent one by one; many, and those that quiet hours held back, together.
fn message(look: Look<'_>, chosen: &[Chosen<'_>]) -> Option<Outgoing> {
    let first = chosen.first()?;
    let is_held = |one: &Chosen<'_>| {
        look.rules.quiet.is_some_and(|quiet| quiet.held(&look.rules.zone, one.pending.notification.since, look.now))
    };
    let together = chosen.len() > ALONE_MAX || (chosen.len() > 1 && chosen.iter().any(is_held));
    let group: Vec<&Chosen<'_>> = if together { chosen.iter().take(TOGETHER_MAX).collect() } else { vec![first] };
    let again = group.iter().all(|one| one.reminder > 0);
    let pending: Vec<&OpenNotification> = group.iter().map(|one| one.pending).collect();
    let outgoing = outgoing(look, &pending);
    let id = id(&group);
    let title = match (again, pending.as_slice()) {
        (false, _) => outgoing.title,
        (true, [one]) => texts::title(one, true),
        (true, several) => texts::title_of_several(several, true),
    };
    Some(Outgoing { id, title, ..outgoing })
}

/// The name of a message: that of its notification, or a hash of all of them.
fn id(group: &[&Chosen<'_>]) -> String {
    let name = |one: &Chosen<'_>| match one.reminder {
        0 => one.pending.key(),
        number => format!("{}#{number}", one.pending.key()),
    };
    match group {
        [one] => name(one),
        several => {
            let names: Vec<String> = several.iter().map(|one| name(one)).collect();
            format!("summary:{}", &blake3::hash(names.join("\n").as_bytes()).to_hex()[..24])
        }
    }
}

fn outgoing(look: Look<'_>, pending: &[&OpenNotification]) -> Outgoing {
    let keys: Vec<String> = pending.iter().map(|one| one.key()).collect();
    let channels = look.rules.channels.clone();
    let several = Outgoing {
        id: String::new(),
        keys,
        channels,
        title: texts::title_of_several(pending, false),
        text: texts::several(pending, look.rules),
        kind: None,
        run: None,
        step: None,
        command: None,
        link: look.rules.link.clone(),
    };
    let [one] = pending else { return several };
    let about = &one.notification;
    Outgoing {
        channels: several.channels.into_iter().filter(|channel| !about.told.contains(channel)).collect(),
        title: texts::title(one, false),
        text: texts::single(one, look.rules),
        kind: Some(about.kind),
        run: Some(one.run.clone()),
        step: about.step.clone(),
        command: Some(texts::command(one)),
        link: texts::link(one, look.rules),
        ..several
    }
}
