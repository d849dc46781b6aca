//! Times of the day in a time zone.

use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use crate::registry::schedule::zone;

const DAY_MS: i64 = 24 * 3_600_000;

/// A time of the day: minutes since midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayTime(u16);

impl std::str::FromStr for DayTime {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a time of the day such as 07:30");
        let (hour, minute) = text.trim().split_once(':').ok_or_else(wrong)?;
        let number = |digits: &str, max: u16| {
            let fits = (1..=2).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit());
            digits.parse::<u16>().ok().filter(|number| fits && *number <= max)
        };
        let (hour, minute) = (number(hour, 23).ok_or_else(wrong)?, number(minute, 59).ok_or_else(wrong)?);
        Ok(Self(hour * 60 + minute))
    }
}

/// A time zone.
#[derive(Debug, Clone)]
pub struct Zone(TimeZone);

impl Zone {
    /// The time zone of this name, such as `Europe/Berlin`.
    pub fn named(name: &str) -> Option<Self> {
        zone(name).map(Self)
    }

    /// Coordinated universal time.
    pub fn utc() -> Self {
        Self(TimeZone::UTC)
    }

    /// The last time that it was `time` here, at `now` or before.
    pub fn last(&self, time: DayTime, now: i64) -> Option<i64> {
        self.around(time, now).into_iter().filter(|at| *at <= now).max()
    }

    /// The next time that it is `time` here, after `now`.
    pub fn next(&self, time: DayTime, now: i64) -> Option<i64> {
        self.around(time, now).into_iter().filter(|at| *at > now).min()
    }

    /// The date here, such as `2026-11-16`.
    pub fn date(&self, at: i64) -> String {
        let moment = Timestamp::from_millisecond(at).map(|at| at.to_zoned(self.0.clone()).date().to_string());
        moment.unwrap_or_else(|_| at.to_string())
    }

    /// The time here, such as `2026-11-16 07:30`.
    pub fn moment(&self, at: i64) -> String {
        let Ok(at) = Timestamp::from_millisecond(at) else { return at.to_string() };
        let local = at.to_zoned(self.0.clone());
        format!("{} {:02}:{:02}", local.date(), local.hour(), local.minute())
    }

    /// `time` of the days around a moment. A time that a clock change skips is moved to after it.
    fn around(&self, time: DayTime, now: i64) -> Vec<i64> {
        let today = Timestamp::from_millisecond(now).map(|now| now.to_zoned(self.0.clone()).date());
        let hours = (i8::try_from(time.0 / 60), i8::try_from(time.0 % 60));
        let (Ok(today), (Ok(hour), Ok(minute))) = (today, hours) else { return Vec::new() };
        let of_day = |days: i64| {
            let day = today.checked_add(Span::new().days(days)).ok()?;
            let moment = day.at(hour, minute, 0, 0).to_zoned(self.0.clone()).ok()?;
            Some(moment.timestamp().as_millisecond())
        };
        (-2..=2).filter_map(of_day).collect()
    }
}

impl PartialEq for Zone {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

/// The hours of a day in which people are left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuietHours {
    from: DayTime,
    to: DayTime,
}

impl std::str::FromStr for QuietHours {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not two times of the day such as 22:00-07:00");
        let (from, to) = text.split_once('-').ok_or_else(wrong)?;
        let (from, to) = (from.parse().map_err(|_| wrong())?, to.parse().map_err(|_| wrong())?);
        if from == to { Err(format!("`{text}` begins and ends at the same time")) } else { Ok(Self { from, to }) }
    }
}

impl QuietHours {
    /// The end of the quiet hours, if they are now.
    pub fn until(&self, zone: &Zone, now: i64) -> Option<i64> {
        let is_quiet = zone.last(self.from, now)? > zone.last(self.to, now)?;
        if is_quiet { zone.next(self.to, now) } else { None }
    }

    /// Whether the quiet hours held back something of this time until a moment that is now past.
    pub fn held(&self, zone: &Zone, since: i64, now: i64) -> bool {
        zone.last(self.to, now)
            .is_some_and(|end| since < end && self.until(zone, end - 1).is_some() && end - since < DAY_MS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> i64 {
        text.parse::<Timestamp>().unwrap().as_millisecond()
    }

    #[test]
    fn quiet_hours_pass_midnight_and_follow_the_zone() {
        let (berlin, quiet) = (Zone::named("Europe/Berlin").unwrap(), "22:00-07:00".parse::<QuietHours>().unwrap());
        let until = |text: &str| quiet.until(&berlin, at(text)).map(|ms| berlin.moment(ms));
        assert_eq!(until("2026-11-16T20:59:00Z"), None);
        assert_eq!(until("2026-11-16T21:00:00Z").as_deref(), Some("2026-11-17 07:00"));
        assert_eq!(until("2026-11-17T05:59:59Z").as_deref(), Some("2026-11-17 07:00"));
        assert_eq!(until("2026-11-17T06:00:00Z"), None);
        let noon = "12:00-13:30".parse::<QuietHours>().unwrap();
        assert_eq!(noon.until(&Zone::utc(), at("2026-11-17T12:00:00Z")), Some(at("2026-11-17T13:30:00Z")));
        assert_eq!(noon.until(&Zone::utc(), at("2026-11-17T11:59:00Z")), None);
    }

    #[test]
    fn a_changed_clock_keeps_the_times_of_the_day() {
        let (berlin, quiet) = (Zone::named("Europe/Berlin").unwrap(), "22:00-02:30".parse::<QuietHours>().unwrap());
        // At 02:00 of this day the clock went to 03:00.
        let end = quiet.until(&berlin, at("2026-03-28T22:00:00Z")).unwrap();
        assert_eq!(berlin.moment(end), "2026-03-29 03:30");
        assert_eq!(quiet.until(&berlin, end), None);
    }

    #[test]
    fn held_is_what_began_in_the_last_quiet_hours() {
        let (zone, quiet) = (Zone::utc(), "22:00-07:00".parse::<QuietHours>().unwrap());
        let now = at("2026-11-17T07:00:10Z");
        assert!(quiet.held(&zone, at("2026-11-17T03:00:00Z"), now));
        assert!(!quiet.held(&zone, at("2026-11-17T07:00:05Z"), now));
        assert!(!quiet.held(&zone, at("2026-11-14T03:00:00Z"), now));
    }

    #[test]
    fn wrong_times_are_named() {
        for text in ["22:00", "22-7", "24:00-07:00", "07:00-07:00", "+1:00-2:00", "1:00-2:60", ""] {
            assert!(text.parse::<QuietHours>().is_err(), "{text}");
        }
        assert_eq!("7:5".parse::<DayTime>(), Ok(DayTime(425)));
        assert_eq!("noon".parse::<DayTime>().unwrap_err(), "`noon` is not a time of the day such as 07:30");
    }
}
