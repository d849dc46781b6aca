//! Time spans as people write them: `90s`, `2h`, `1d12h`.

/// Units, largest first, in milliseconds.
const UNITS: [(&str, u64); 6] =
    [("w", 604_800_000), ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// A time span in milliseconds. A bare number has no unit and is not one.
pub fn parse_ms(text: &str) -> Option<u64> {
    let mut rest = text.trim();
    let mut total: u64 = 0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).filter(|at| *at > 0)?;
        let amount: u64 = rest[..digits].parse().ok()?;
        let letters = rest[digits..].find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len() - digits);
        let (_, unit_ms) = UNITS.iter().find(|(unit, _)| *unit == &rest[digits..digits + letters])?;
        total = total.checked_add(amount.checked_mul(*unit_ms)?)?;
        rest = &rest[digits + letters..];
    }
    Some(total)
}

/// The shortest way to write a time span.
pub fn format_ms(ms: u64) -> String {
    let mut rest = ms;
    let mut text = String::new();
    for (unit, unit_ms) in UNITS.into_iter().filter(|(unit, _)| *unit != "w") {
        if rest >= unit_ms {
            text.push_str(&format!("{}{unit}", rest / unit_ms));
            rest %= unit_ms;
        }
    }
    if text.is_empty() { "0s".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_as_written() {
        assert_eq!(parse_ms("90s"), Some(90_000));
        assert_eq!(parse_ms("1d12h"), Some(129_600_000));
        assert_eq!(parse_ms("250ms"), Some(250));
        assert_eq!(parse_ms("0s"), Some(0));
        for bad in ["", "5", "h", "5 h", "5x", "-5s", "1.5h", "99999999999999999999w", "5hours", "5é"] {
            assert_eq!(parse_ms(bad), None, "{bad}");
        }
    }

    #[test]
    fn spans_print_as_they_would_be_written() {
        for text in ["90ms", "1m30s", "7d", "1d12h", "0s"] {
            assert_eq!(format_ms(parse_ms(text).unwrap()), text);
        }
    }
}
