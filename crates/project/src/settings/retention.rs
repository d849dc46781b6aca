//! Reads the settings about finished runs: `[retention]`.

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, anyhow};
use longhaul_config::Retention;
use longhaul_core::duration::parse_ms;
use toml_edit::{DocumentMut, Item};

use super::entries;

/// A checkout may set what is removed only if a person trusts it.
pub(super) fn sensitive(document: &DocumentMut) -> Option<&'static str> {
    document.get("retention").map(|_| "retention")
}

/// Adds the entries of a file, unless an earlier file has set them. Paths are relative to its folder.
pub(super) fn add(document: &DocumentMut, folder: &Path, known: &mut Retention) -> Result<()> {
    let mut retention = Retention::default();
    for (name, item) in entries(document.get("retention"), "retention")? {
        match name {
            "finished" => retention.finished = Some(age(item)?),
            "keep" => retention.keep = keep(item)?,
            "archive" => retention.archive = Some(folder.join(text(item)?)),
            other => {
                return Err(anyhow!("`retention.{other}` is not a setting; there are finished, keep and archive"));
            }
        }
    }
    let is_said = document.get("retention").is_some();
    if is_said && retention.finished.is_none() {
        return Err(anyhow!("`retention.finished` is missing: how long to keep finished runs, such as 90d"));
    }
    if is_said && known.finished.is_none() {
        *known = retention;
    }
    Ok(())
}

fn age(item: &Item) -> Result<Duration> {
    let ms = item.as_str().and_then(parse_ms);
    ms.map(Duration::from_millis).ok_or_else(|| anyhow!("`retention.finished` is not a time such as \"90d\""))
}

fn keep(item: &Item) -> Result<usize> {
    let number = item.as_integer().and_then(|number| usize::try_from(number).ok());
    number.ok_or_else(|| anyhow!("`retention.keep` is not a number from 0 on"))
}

fn text(item: &Item) -> Result<&str> {
    item.as_str().filter(|text| !text.is_empty()).ok_or_else(|| anyhow!("`retention.archive` is not a folder"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Retention, String> {
        let mut retention = Retention::default();
        add(&text.parse().unwrap(), Path::new("/p/.longhaul"), &mut retention).map_err(|error| error.to_string())?;
        Ok(retention)
    }

    #[test]
    fn how_long_and_where_to_is_read() {
        let retention = of("[retention]\nfinished = '90d'\nkeep = 1000\narchive = 'archive'\n").unwrap();
        assert_eq!(retention.finished, Some(Duration::from_secs(90 * 24 * 3600)));
        assert_eq!((retention.keep, retention.archive), (1000, Some("/p/.longhaul/archive".into())));
        assert_eq!(of(""), Ok(Retention::default()));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = [
            ("[retention]\nkeep = 3", "`retention.finished` is missing: how long to keep finished runs, such as 90d"),
            ("[retention]\nfinished = 3", "`retention.finished` is not a time such as \"90d\""),
            ("[retention]\nfinished = '1d'\nkeep = -1", "`retention.keep` is not a number from 0 on"),
            (
                "[retention]\nfinished = '1d'\nage = 1",
                "`retention.age` is not a setting; there are finished, keep and archive",
            ),
        ];
        for (text, why) in wrong {
            assert_eq!(of(text), Err(why.to_owned()));
        }
    }

    #[test]
    fn who_has_said_it_first_has_said_all_of_it() {
        let mut retention = of("[retention]\nfinished = '1d'\n").unwrap();
        add(&"[retention]\nfinished = '2d'\nkeep = 7\n".parse().unwrap(), Path::new(""), &mut retention).unwrap();
        assert_eq!((retention.finished, retention.keep), (Some(Duration::from_secs(24 * 3600)), 0));
    }
}
