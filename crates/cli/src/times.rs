//! Shows when something happened, in the time zone of the user.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::ui;

/// Writes times in one zone, and the date whenever it changes.
#[derive(Debug)]
pub(crate) struct Times {
    zone: TimeZone,
    day: String,
}

impl Times {
    /// Local times, or UTC.
    pub(crate) fn new(utc: bool) -> Self {
        let zone = if utc { TimeZone::UTC } else { longhaul_runtime::local_zone() };
        Self { zone, day: String::new() }
    }

    /// The time of day, and the date before it if it is another day than at the last call.
    pub(crate) fn stamp(&mut self, ms: i64) -> (Option<String>, String) {
        let Ok(moment) = Timestamp::from_millisecond(ms) else { return (None, ms.to_string()) };
        let moment = moment.to_zoned(self.zone.clone());
        let day = moment.strftime("%Y-%m-%d").to_string();
        let is_new = day != self.day;
        self.day.clone_from(&day);
        (is_new.then_some(day), moment.strftime("%H:%M:%S").to_string())
    }

    /// Lines with the time of day before the first, under the date if it is a new one.
    pub(crate) fn before(&mut self, ms: i64, lines: &str) -> String {
        let (day, time) = self.stamp(ms);
        let day = day.map_or_else(String::new, |day| format!("{}\n", ui::dim(day)));
        format!("{day}{} {lines}", ui::dim(time))
    }
}

/// A moment as programs read it: RFC 3339, UTC.
pub(crate) fn rfc3339(ms: i64) -> String {
    longhaul_core::explain::moment(ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_is_written_once_a_day() {
        let mut times = Times::new(true);
        assert_eq!(times.stamp(1_794_843_849_653), (Some("2026-11-16".to_owned()), "15:44:09".to_owned()));
        assert_eq!(times.stamp(1_794_843_850_000), (None, "15:44:10".to_owned()));
        assert_eq!(times.stamp(1_794_880_000_000).0.as_deref(), Some("2026-11-17"));
        assert_eq!(times.stamp(i64::MAX), (None, i64::MAX.to_string()));
    }
}
