//! Formats money, tokens and times for people.

use longhaul_core::event::Usage;
use longhaul_core::view::{Cost, Forecast, Limit};

/// `$0.03, 8.2k tokens`; `None` if nothing was used.
pub(crate) fn usage(usage: &Usage) -> Option<String> {
    let money = match usage {
        Usage { usd_unknown: true, .. } => Some("cost not known".to_owned()),
        Usage { usd, .. } if *usd > 0.0 => Some(format!("{}{}", least(usage), dollars(*usd))),
        _ => None,
    };
    let least = if usage.usd_unknown { least(usage) } else { "" };
    let tokens = Some(usage.tokens()).filter(|tokens| *tokens > 0);
    let tokens = tokens.map(|tokens| format!("{least}{} tokens", short(tokens)));
    let words: Vec<String> = money.into_iter().chain(tokens).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// The prefix of an incomplete sum.
fn least(usage: &Usage) -> &'static str {
    if usage.at_least { "at least " } else { "" }
}

/// Tokens and money, each for a column; zero values are left out.
pub(crate) fn columns(usage: &Usage) -> Vec<String> {
    let tokens = Some(usage.tokens()).filter(|tokens| *tokens > 0).map(short);
    let money = Some(usage.usd).filter(|usd| *usd > 0.0).map(|usd| format!("${usd:.2}"));
    tokens.into_iter().chain(money).collect()
}

/// `0.8s`, `42s`, `3m12s`, `2h05m`, `3d04h`.
pub(crate) fn span(ms: i64) -> String {
    let seconds = ms.max(0) / 1000;
    match seconds {
        0..10 => format!("{}.{}s", seconds, ms.max(0) % 1000 / 100),
        10..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{}h{:02}m", seconds / 3_600, seconds % 3_600 / 60),
        _ => format!("{}d{:02}h", seconds / 86_400, seconds % 86_400 / 3_600),
    }
}

/// The spent, reserved and assumed amounts, and the limit; `None` for a run that has neither limits nor costs.
pub(crate) fn budget(cost: &Cost) -> Option<String> {
    let [spent, aside, assumed] = [&cost.total, &cost.set_aside, &cost.assumed];
    let line = |of: &dyn Fn(&Usage) -> String, limit: Option<String>| {
        let limit = limit.unwrap_or_else(|| "no limit".to_owned());
        format!("{} spent, {} set aside, {} assumed, {limit}", of(spent), of(aside), of(assumed))
    };
    let Limit { usd, tokens } = cost.limit;
    let nothing = [spent, aside, assumed].iter().all(|usage| **usage == Usage::default());
    if usd.is_none() && tokens.is_none() && nothing {
        return None;
    }
    let unknown = if cost.total.is_all() { "" } else { " (some cost is not known)" };
    let money = line(&|usage| dollars(usage.usd), usd.map(|usd| format!("limit {}", dollars(usd))));
    let tokens = line(&|usage| short(usage.tokens()), tokens.map(|tokens| format!("limit {}", short(tokens))));
    Some(format!("money:  {money}{unknown}\n  tokens: {tokens}"))
}

/// The expected cost, in one line.
pub(crate) fn forecast(forecast: &Forecast) -> String {
    let Forecast { turns, or_more, at_once, usd, limit } = *forecast;
    let money = usd.map_or_else(String::new, |usd| format!(", {} if they cost as much as earlier ones", about(usd)));
    let least = if or_more { "at least " } else { "" };
    let tokens = limit.tokens.map(|tokens| format!("{} tokens", short(tokens)));
    let limits: Vec<String> = limit.usd.map(dollars).into_iter().chain(tokens).collect();
    let limits = if limits.is_empty() { "no limits".to_owned() } else { format!("limits: {}", limits.join(", ")) };
    format!("{least}{turns} agent turns to come, up to {at_once} at once{money}; {limits}")
}

/// An amount of money that is only estimated.
fn about(usd: f64) -> String {
    format!("about {}", dollars(usd))
}

fn dollars(usd: f64) -> String {
    if usd > 0.0 && usd < 0.005 { "under $0.01".to_owned() } else { format!("${usd:.2}") }
}

/// `812`, `8.2k`, `1.3M`.
fn short(count: u64) -> String {
    let scaled = |unit: f64, letter: &str| {
        let text = format!("{:.1}", count as f64 / unit);
        format!("{}{letter}", text.strip_suffix(".0").unwrap_or(&text))
    };
    match count {
        0..=999 => count.to_string(),
        1_000..=999_949 => scaled(1e3, "k"),
        _ => scaled(1e6, "M"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(tokens: u64, usd: f64, usd_unknown: bool) -> Usage {
        Usage { input_tokens: tokens, usd, usd_unknown, ..Usage::default() }
    }

    #[test]
    fn amounts_are_short_and_say_what_is_not_known() {
        let words = |tokens, usd, unknown| usage(&used(tokens, usd, unknown)).unwrap_or_else(|| "nothing".to_owned());
        assert_eq!(words(8_150, 0.031, false), "$0.03, 8.2k tokens");
        assert_eq!(words(999, 0.0, true), "cost not known, 999 tokens");
        assert_eq!(words(500_000, 0.0, false), "500k tokens");
        assert_eq!(words(999_950, 0.001, false), "under $0.01, 1M tokens");
        assert_eq!(words(0, 0.0, false), "nothing");
        let cut = |usd, unknown| usage(&Usage { at_least: true, ..used(8_150, usd, unknown) });
        assert_eq!(cut(0.031, false).as_deref(), Some("at least $0.03, 8.2k tokens"));
        assert_eq!(cut(0.0, true).as_deref(), Some("cost not known, at least 8.2k tokens"));
    }

    #[test]
    fn a_forecast_names_the_limits_or_that_there_are_none() {
        let limit = Limit { usd: Some(5.0), tokens: Some(500_000) };
        let to_come = Forecast { turns: 120, or_more: false, at_once: 16, usd: None, limit };
        assert_eq!(forecast(&to_come), "120 agent turns to come, up to 16 at once; limits: $5.00, 500k tokens");
        let priced = Forecast { usd: Some(12.0), ..to_come };
        let words = "120 agent turns to come, up to 16 at once, about $12.00 if they cost as much as earlier ones; limits: $5.00, 500k tokens";
        assert_eq!(forecast(&priced), words);
        let to_come = Forecast { or_more: true, limit: Limit { usd: None, tokens: None }, ..to_come };
        assert_eq!(forecast(&to_come), "at least 120 agent turns to come, up to 16 at once; no limits");
    }
}
