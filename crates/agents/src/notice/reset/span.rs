//! Reads spans of time: `20s`, `2h 13m`, `13h20m5.5s`, `3 days 4 hours and 12 minutes`, `an hour`.

use super::cursor::Cursor;

/// The length in milliseconds.
pub(super) fn read(cursor: &mut Cursor<'_>) -> Option<i64> {
    let mut total = part(cursor)?;
    while let Some(more) = cursor.attempt(|ahead| {
        ahead.spaces();
        if ahead.peek_word() == "and" {
            ahead.word();
            ahead.spaces();
        }
        part(ahead)
    }) {
        total = total.saturating_add(more);
    }
    Some(total)
}

#[expect(clippy::cast_possible_truncation, reason = "no notice speaks of spans beyond the range")]
fn part(cursor: &mut Cursor<'_>) -> Option<i64> {
    let number = cursor.attempt(number).or_else(|| cursor.attempt(article))?;
    cursor.eat(" ");
    Some((number * unit(cursor.word())?).round() as i64)
}

fn number(cursor: &mut Cursor<'_>) -> Option<f64> {
    let digits = cursor.until(|next| !next.is_ascii_digit() && next != '.');
    digits.parse().ok().filter(|number| *number < 1e9)
}

fn article(cursor: &mut Cursor<'_>) -> Option<f64> {
    match cursor.word() {
        "a" | "an" | "one" => Some(1.0),
        _ => None,
    }
}

fn unit(word: &str) -> Option<f64> {
    Some(match word {
        "ms" | "millisecond" | "milliseconds" => 1.0,
        "s" | "sec" | "secs" | "second" | "seconds" => 1e3,
        "m" | "min" | "mins" | "minute" | "minutes" => 60e3,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600e3,
        "d" | "day" | "days" => 86_400e3,
        "w" | "week" | "weeks" => 604_800e3,
        _ => return None,
    })
}
