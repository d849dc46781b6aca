//! Reads days: `Oct 9`, `Jan 1st, 2100`, `10 July 2026`, `2026-10-09`, `Monday`, `tomorrow`.

use jiff::civil::{Date, Time, Weekday};
use jiff::{Timestamp, ToSpan};

use super::Now;
use super::cursor::Cursor;

/// A day, as the text names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Day {
    /// A number of days from today.
    Ahead(i64),
    /// The next day with this name.
    Next(Weekday),
    /// A date; a missing year is guessed.
    Date { year: Option<i16>, month: i8, day: i8 },
}

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [(&str, Weekday); 7] = [
    ("mon", Weekday::Monday),
    ("tue", Weekday::Tuesday),
    ("wed", Weekday::Wednesday),
    ("thu", Weekday::Thursday),
    ("fri", Weekday::Friday),
    ("sat", Weekday::Saturday),
    ("sun", Weekday::Sunday),
];
/// A date without a year that is further in the past belongs to next year.
const LONG_PAST_DAYS: i32 = 180;

/// Reads a day.
pub(super) fn day(cursor: &mut Cursor<'_>) -> Option<Day> {
    let weekday = cursor.attempt(weekday);
    cursor.spaces();
    cursor
        .attempt(month_first)
        .or_else(|| cursor.attempt(day_first))
        .or_else(|| cursor.attempt(year_first))
        .or(weekday.map(Day::Next))
        .or_else(|| cursor.attempt(named))
}

fn named(cursor: &mut Cursor<'_>) -> Option<Day> {
    match cursor.word() {
        "today" | "tonight" => Some(Day::Ahead(0)),
        "tomorrow" => Some(Day::Ahead(1)),
        _ => None,
    }
}

fn weekday(cursor: &mut Cursor<'_>) -> Option<Weekday> {
    let word = cursor.word();
    WEEKDAYS.iter().find(|(short, _)| word.starts_with(short)).map(|(_, day)| *day)
}

fn month(cursor: &mut Cursor<'_>) -> Option<i8> {
    let word = cursor.word();
    let at = MONTHS.iter().position(|short| word.starts_with(short))?;
    i8::try_from(at + 1).ok()
}

fn month_first(cursor: &mut Cursor<'_>) -> Option<Day> {
    let month = month(cursor)?;
    cursor.spaces();
    let day = numbered(cursor)?;
    Some(Day::Date { year: cursor.attempt(year), month, day })
}

fn day_first(cursor: &mut Cursor<'_>) -> Option<Day> {
    let day = numbered(cursor)?;
    cursor.spaces();
    let month = month(cursor)?;
    Some(Day::Date { year: cursor.attempt(year), month, day })
}

fn year_first(cursor: &mut Cursor<'_>) -> Option<Day> {
    let year = cursor.digits().parse().ok().filter(|year| *year > 1969)?;
    let month = cursor.eat("-").then(|| cursor.digits())?.parse().ok()?;
    let day = cursor.eat("-").then(|| cursor.digits())?.parse().ok()?;
    if !cursor.eat("t") {
        cursor.eat(" ");
    }
    Some(Day::Date { year: Some(year), month, day })
}

/// `9` or `9th`; not `9pm`, not `9:00`.
fn numbered(cursor: &mut Cursor<'_>) -> Option<i8> {
    let digits = cursor.digits();
    let ending = cursor.word();
    let is_day = matches!(ending, "" | "st" | "nd" | "rd" | "th") && !cursor.eat(":");
    digits.parse().ok().filter(|_| digits.len() <= 2 && is_day)
}

fn year(cursor: &mut Cursor<'_>) -> Option<i16> {
    cursor.spaces();
    let digits = cursor.digits();
    digits.parse().ok().filter(|_| digits.len() == 4)
}

impl Day {
    /// The moment of this day. Without a time it is the start of the day. Today's weekday without a time gives nothing.
    pub(super) fn moment(self, time: Option<Time>, now: Now<'_>) -> Option<i64> {
        let today = Timestamp::from_millisecond(now.ms).ok()?.to_zoned(now.zone.clone()).date();
        let at = |date: Date| {
            // A clock time that daylight saving time skips becomes the one an hour later.
            let zoned = date.to_datetime(time.unwrap_or(Time::midnight())).to_zoned(now.zone.clone());
            zoned.ok().map(|zoned| zoned.timestamp().as_millisecond())
        };
        match self {
            Self::Ahead(days) => at(today.checked_add(days.days()).ok()?),
            Self::Next(weekday) if weekday == today.weekday() => {
                time?;
                let this = at(today)?;
                if this >= now.ms { Some(this) } else { at(today.checked_add(7.days()).ok()?) }
            }
            Self::Next(weekday) => at(today.nth_weekday(1, weekday).ok()?),
            Self::Date { year, month, day } => {
                let this = Date::new(year.unwrap_or(today.year()), month, day).ok()?;
                let gone = (today - this).get_days();
                let next = year.is_none() && gone > LONG_PAST_DAYS;
                at(if next { Date::new(today.year() + 1, month, day).ok()? } else { this })
            }
        }
    }
}
