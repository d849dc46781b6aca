//! Reads from the words of a notice when a limit ends.
//!
//! It reads clock times (`resets 3pm (Europe/Berlin)`), dates (`Oct 9 at 5pm`), days (`Monday`, `tomorrow at 9`), spans
//! (`in 2h 13m`, `after 13h20m5s`), seconds since 1970 and RFC 3339. A clock time that has passed means its next
//! occurrence; a date that has passed means now.
//!
//! **Invariant:** the result lies between now and eight days from now. A later time is cut to that. A time that is
//! absurdly far away, or that cannot be read, gives nothing.

mod calendar;
mod cursor;
mod span;
mod zones;

use calendar::Day;
use cursor::Cursor;
use jiff::tz::TimeZone;

/// The time and the zone in which a notice is read.
#[derive(Debug, Clone, Copy)]
pub struct Now<'a> {
    /// Milliseconds since 1970.
    pub ms: i64,
    /// The zone of clock times that do not name one.
    pub zone: &'a TimeZone,
}

const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;
/// The longest wait before another try.
const AHEAD_MS_MAX: i64 = 8 * DAY_MS;
/// A later date is a mistake: no limit lasts that long.
const BELIEVED_MS_MAX: i64 = 370 * DAY_MS;
/// A notice is read a little later than it was written. A clock time that passed within this span means now, not
/// tomorrow.
const JUST_PASSED_MS: i64 = 10 * MINUTE_MS;

/// Words that come before a time.
const CUES: [&str; 20] = [
    "reset",
    "resets",
    "reset_at",
    "resets_at",
    "resetting",
    "renew",
    "renews",
    "refreshed",
    "try again",
    "trying again",
    "retry",
    "retrying",
    "retry-after",
    "retry_after",
    "retryafter",
    "retrydelay",
    "regain access",
    "available",
    "wait",
    "until",
];

/// The first time in plain text.
pub(super) fn moment(plain: &str, now: Now<'_>) -> Option<i64> {
    let after_cues = plain.char_indices().filter_map(|(at, _)| cue(plain, at));
    let mut read = after_cues.filter_map(|rest| Cursor::new(rest).moment(now));
    read.next().and_then(|ms| believed(ms, now.ms))
}

/// A known time, limited to between now and eight days from now.
pub(super) fn believed(ms: i64, now_ms: i64) -> Option<i64> {
    (ms.saturating_sub(now_ms) <= BELIEVED_MS_MAX).then(|| ms.clamp(now_ms, now_ms.saturating_add(AHEAD_MS_MAX)))
}

/// The text after a cue, if there is one at this place.
fn cue(plain: &str, at: usize) -> Option<&str> {
    let rest = &plain[at..];
    if let Some(digits) = rest.strip_prefix('|') {
        return digits.starts_with(|next: char| next.is_ascii_digit()).then_some(digits);
    }
    let inside_word = plain[..at].ends_with(char::is_alphanumeric);
    let after = |word: &&str| {
        let after = rest.strip_prefix(*word)?;
        (!after.starts_with(|next: char| next.is_alphanumeric() || next == '_')).then_some(after)
    };
    CUES.iter().filter(|_| !inside_word).find_map(after)
}

impl Cursor<'_> {
    fn moment(mut self, now: Now<'_>) -> Option<i64> {
        let lead = self.lead();
        self.attempt(Self::epoch)
            .or_else(|| self.attempt(|cursor| cursor.timestamp()))
            .or_else(|| self.attempt(|cursor| span::read(cursor)).map(|span| now.ms.saturating_add(span)))
            .or_else(|| {
                self.attempt(|cursor| cursor.seconds().filter(|_| !lead.at)).map(|span| now.ms.saturating_add(span))
            })
            .or_else(|| self.attempt(|cursor| cursor.dated(now)))
            .or_else(|| self.attempt(|cursor| cursor.timed(now, lead.at)))
    }

    /// Ten digits are seconds since 1970, thirteen are milliseconds.
    fn epoch(&mut self) -> Option<i64> {
        let digits = self.digits();
        let number: i64 = digits.parse().ok()?;
        match digits.len() {
            10 => number.checked_mul(1000),
            13 => Some(number),
            _ => None,
        }
    }

    fn timestamp(&mut self) -> Option<i64> {
        let word = self.until(|next| next == ' ' || next == '"' || next == '\'' || next == ')' || next == ',');
        let moment: jiff::Timestamp = word.trim_end_matches('.').parse().ok()?;
        Some(moment.as_millisecond())
    }

    /// `retry-after: 30`: a single number at the end of the text.
    fn seconds(&mut self) -> Option<i64> {
        let number: i64 = self.digits().parse().ok()?;
        (self.at_end() && (1..=691_200).contains(&number)).then_some(number * 1000)
    }

    /// A day, and perhaps a time on it.
    fn dated(&mut self, now: Now<'_>) -> Option<i64> {
        let day = calendar::day(self)?;
        self.lead();
        let time = self.attempt(|cursor| cursor.time(true));
        let named = zones::read(self);
        let zone = named.as_ref().unwrap_or(now.zone);
        day.moment(time, Now { ms: now.ms, zone })
    }

    /// A time today, or tomorrow if it has passed.
    fn timed(&mut self, now: Now<'_>, hour_will_do: bool) -> Option<i64> {
        let time = self.time(hour_will_do)?;
        let named = zones::read(self);
        let here = Now { ms: now.ms, zone: named.as_ref().unwrap_or(now.zone) };
        let today = Day::Ahead(0).moment(Some(time), here)?;
        match now.ms - today {
            late if late <= JUST_PASSED_MS => Some(today),
            _ => Day::Ahead(1).moment(Some(time), here),
        }
    }
}
