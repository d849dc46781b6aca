//! Reads the settings about notifications: `[notify]`.
//!
//! Each key counts from the first file that has it: the project's, then the user's. A project may name channels and a
//! link only if a person trusts it: both say where people are led.

use anyhow::{Result, anyhow, bail};
use indexmap::IndexMap;
use longhaul_config::Channel;
use longhaul_core::duration::parse_ms;
use longhaul_core::notification::{NotificationKind, NotifyRules, Zone};
use longhaul_lang::diagnostic::closest;
use toml_edit::{DocumentMut, Item};

use super::entries;

const KEYS: [&str; 11] = [
    "on",
    "channels",
    "quiet",
    "urgent",
    "timezone",
    "remind",
    "reminders",
    "long",
    "link",
    "digest",
    "digest_channels",
];
/// Channels that need no entry in the settings.
const BUILT_IN: [&str; 4] = ["owner", "terminal", "orchestrator", "desktop"];
const REMINDERS_MAX: i64 = 100;

/// Whether a file has these settings.
pub(super) fn is_in(document: &DocumentMut) -> bool {
    document.contains_key("notify")
}

/// Removes the settings of a project that nobody trusts. Returns a warning.
pub(super) fn without(document: &mut DocumentMut) -> Vec<String> {
    document.remove("notify");
    let why = "`notify` says who is notified about runs, and came with the project; it has no effect until you have looked at it and \
               run `longhaul trust`";
    vec![why.to_owned()]
}

/// Adds the keys of a file that no earlier file has set.
pub(super) fn add(document: &DocumentMut, rules: &mut NotifyRules, known: &mut Vec<String>) -> Result<()> {
    let mut fresh = Vec::new();
    for (name, item) in entries(document.get("notify"), "notify")? {
        if !KEYS.contains(&name) {
            bail!("`notify.{name}` is unknown{}", meant(name, &KEYS));
        }
        let mut read = rules.clone();
        set(name, item, &mut read)?;
        if !known.iter().any(|known| known == name) {
            *rules = read;
            fresh.push(name.to_owned());
        }
    }
    known.extend(fresh);
    Ok(())
}

fn set(name: &str, item: &Item, rules: &mut NotifyRules) -> Result<()> {
    match name {
        "on" => rules.on = kinds(name, item)?,
        "urgent" => rules.urgent = kinds(name, item)?,
        "channels" => rules.channels = texts(name, item)?,
        "digest_channels" => rules.digest_channels = texts(name, item)?,
        "quiet" => rules.quiet = Some(text(name, item)?.parse().map_err(|why| anyhow!("`notify.quiet`: {why}"))?),
        "digest" => rules.digest = Some(text(name, item)?.parse().map_err(|why| anyhow!("`notify.digest`: {why}"))?),
        "timezone" => {
            let zone = text(name, item)?;
            let unknown = || anyhow!("`notify.timezone`: `{zone}` is not a time zone such as Europe/Berlin");
            rules.zone = Zone::named(zone).ok_or_else(unknown)?;
        }
        "remind" => rules.remind_ms = Some(span(name, item)?.max(60_000)),
        "long" => rules.long_ms = span(name, item)?,
        "reminders" => {
            let count = item.as_integer().filter(|count| (0..=REMINDERS_MAX).contains(count));
            let count = count.and_then(|count| u32::try_from(count).ok());
            rules.reminders =
                count.ok_or_else(|| anyhow!("`notify.reminders` is not a number from 0 to {REMINDERS_MAX}"))?;
        }
        _ => rules.link = Some(link(text(name, item)?)?),
    }
    Ok(())
}

fn text<'a>(name: &str, item: &'a Item) -> Result<&'a str> {
    item.as_str().filter(|text| !text.is_empty()).ok_or_else(|| anyhow!("`notify.{name}` is not a text"))
}

/// A list of texts. An empty list switches something off.
fn texts(name: &str, item: &Item) -> Result<Vec<String>> {
    let texts = item.as_array().map(|items| items.iter().map(|item| item.as_str().map(str::to_owned)).collect());
    let texts: Option<Option<Vec<String>>> = texts;
    texts.flatten().ok_or_else(|| anyhow!("`notify.{name}` is not a list of texts"))
}

fn kinds(name: &str, item: &Item) -> Result<Vec<NotificationKind>> {
    let kind = |word: String| {
        let unknown = |_| anyhow!("`notify.{name}` names `{word}`{}", meant(&word, NotificationKind::WORDS));
        word.parse().map_err(unknown)
    };
    texts(name, item)?.into_iter().map(kind).collect()
}

fn span(name: &str, item: &Item) -> Result<i64> {
    let ms = item.as_str().and_then(parse_ms).and_then(|ms| i64::try_from(ms).ok());
    ms.ok_or_else(|| anyhow!("`notify.{name}` is not a time span such as 2h"))
}

fn link(text: &str) -> Result<String> {
    let is_web = text.starts_with("https://") || text.starts_with("http://");
    let is_plain = text.chars().all(|c| c.is_ascii_graphic());
    if is_web && is_plain {
        Ok(text.to_owned())
    } else {
        bail!("`notify.link` is not an address such as https://example.com")
    }
}

fn meant(word: &str, known: &[&str]) -> String {
    match closest(word, known) {
        Some(best) => format!("; did you mean `{best}`?"),
        None => format!("; known are: {}", known.join(", ")),
    }
}

/// Sets what no file has set, and removes channels that do not exist. Returns warnings about them.
pub(super) fn finish(rules: &mut NotifyRules, known: &[String], channels: &IndexMap<String, Channel>) -> Vec<String> {
    let has = |name: &str| known.iter().any(|known| known == name);
    if !has("channels") {
        rules.channels = vec!["desktop".to_owned()];
    }
    if !has("timezone") {
        rules.zone = system_zone();
    }
    let names: Vec<&str> = channels.keys().map(String::as_str).chain(BUILT_IN).collect();
    let mut warnings = Vec::new();
    for (key, list) in [("channels", &mut rules.channels), ("digest_channels", &mut rules.digest_channels)] {
        let strange = list.iter().filter(|name| !names.contains(&name.as_str()));
        warnings.extend(
            strange.map(|name| format!("`notify.{key}` names `{name}`, which is not a channel{}", meant(name, &names))),
        );
        list.retain(|name| names.contains(&name.as_str()));
        list.dedup();
    }
    warnings
}

/// The time zone of this machine.
fn system_zone() -> Zone {
    let variable = std::env::var("TZ").ok().and_then(|zone| Zone::named(zone.trim_start_matches(':')));
    let link = || {
        let target = std::fs::read_link("/etc/localtime").ok()?;
        Zone::named(target.to_str()?.split_once("zoneinfo/")?.1)
    };
    variable.or_else(link).unwrap_or_else(Zone::utc)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<NotifyRules, String> {
        let (mut rules, mut known) = (NotifyRules::default(), Vec::new());
        add(&text.parse().unwrap(), &mut rules, &mut known).map_err(|error| error.to_string())?;
        Ok(rules)
    }

    #[test]
    fn everything_is_read() {
        let text = "[notify]\non = ['gate', 'failure']\nchannels = ['team']\nquiet = '22:00-07:00'\nurgent = ['failure']\n\
                    timezone = 'Europe/Berlin'\nremind = '2h'\nreminders = 5\nlong = '1h'\nlink = 'https://x.example'\n\
                    digest = '07:30'\ndigest_channels = ['mail']\n";
        let rules = read(text).unwrap();
        assert_eq!(rules.on, [NotificationKind::Gate, NotificationKind::Failure]);
        assert_eq!((rules.channels, rules.digest_channels), (vec!["team".to_owned()], vec!["mail".to_owned()]));
        assert_eq!((rules.remind_ms, rules.reminders, rules.long_ms), (Some(7_200_000), 5, 3_600_000));
        assert_eq!(rules.zone, Zone::named("Europe/Berlin").unwrap());
        assert!(rules.quiet.is_some() && rules.digest.is_some() && rules.link.is_some());
        assert_eq!(read("").unwrap(), NotifyRules::default());
    }

    #[test]
    fn mistakes_are_named_with_what_was_probably_meant() {
        let wrong = [
            ("on = ['gates']", "`notify.on` names `gates`; did you mean `gate`?"),
            ("onn = []", "`notify.onn` is unknown; did you mean `on`?"),
            ("on = 'gate'", "`notify.on` is not a list of texts"),
            ("quiet = '22'", "`notify.quiet`: `22` is not two times of the day such as 22:00-07:00"),
            ("digest = '7'", "`notify.digest`: `7` is not a time of the day such as 07:30"),
            ("timezone = 'Mars'", "`notify.timezone`: `Mars` is not a time zone such as Europe/Berlin"),
            ("remind = 2", "`notify.remind` is not a time span such as 2h"),
            ("reminders = -1", "`notify.reminders` is not a number from 0 to 100"),
            ("link = 'javascript:x'", "`notify.link` is not an address such as https://example.com"),
        ];
        for (line, why) in wrong {
            assert_eq!(read(&format!("[notify]\n{line}")), Err(why.to_owned()));
        }
    }

    #[test]
    fn the_first_file_that_has_a_key_counts() {
        let (mut rules, mut known) = (NotifyRules::default(), Vec::new());
        add(&"[notify]\nchannels = []\n".parse().unwrap(), &mut rules, &mut known).unwrap();
        add(&"[notify]\nchannels = ['team']\nlong = '5m'\n".parse().unwrap(), &mut rules, &mut known).unwrap();
        assert_eq!((rules.channels.len(), rules.long_ms), (0, 300_000));
    }

    #[test]
    fn a_channel_that_does_not_exist_is_named() {
        let mut rules =
            NotifyRules { channels: vec!["desktpo".to_owned(), "terminal".to_owned()], ..NotifyRules::default() };
        let known = ["channels".to_owned(), "timezone".to_owned()];
        let said = finish(&mut rules, &known, &IndexMap::new());
        assert_eq!(said, ["`notify.channels` names `desktpo`, which is not a channel; did you mean `desktop`?"]);
        assert_eq!(rules.channels, ["terminal"]);
        finish(&mut rules, &[], &IndexMap::new());
        assert_eq!(rules.channels, ["desktop"]);
    }
}
