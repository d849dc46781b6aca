//! What the settings say about several workers: `[fleet]`.

use anyhow::{Context, Result, anyhow};
use longhaul_core::decide::agent_label;
use longhaul_core::duration::parse_ms;
use longhaul_store::Caps;
use toml_edit::{DocumentMut, Item};

use super::entries;

/// How workers work together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fleet {
    /// How many attempts all of them make at once.
    pub caps: Caps,
    /// How long a machine may be silent before a run that needs it asks what to do.
    pub host_grace_ms: Option<i64>,
}

/// Adds what a file says that is not known yet.
pub(super) fn add(document: &DocumentMut, fleet: &mut Fleet) -> Result<()> {
    for (name, item) in entries(document.get("fleet"), "fleet")? {
        match name {
            "max" => fleet.caps.all = Some(fleet.caps.all.map_or_else(|| max(item, "fleet.max"), Ok)?),
            "labels" => maxima(item, "fleet.labels", str::to_owned, &mut fleet.caps)?,
            "backends" => maxima(item, "fleet.backends", agent_label, &mut fleet.caps)?,
            "host_grace" => fleet.host_grace_ms = Some(fleet.host_grace_ms.map_or_else(|| grace(item), Ok)?),
            other => {
                return Err(anyhow!(
                    "`fleet.{other}` is not a setting; there are max, labels, backends and host_grace"
                ));
            }
        }
    }
    Ok(())
}

/// Tables that each say a `max`, counted under a label.
fn maxima(item: &Item, of: &str, label: fn(&str) -> String, caps: &mut Caps) -> Result<()> {
    for (name, item) in entries(Some(item), of)? {
        let key = format!("{of}.{name}");
        let table = item.as_table_like().ok_or_else(|| anyhow!("`{key}` is not a table"))?;
        let max = max(table.get("max").with_context(|| format!("`{key}.max` is missing"))?, &format!("{key}.max"))?;
        caps.labels.entry(label(name)).or_insert(max);
    }
    Ok(())
}

fn max(item: &Item, key: &str) -> Result<u32> {
    let number = item.as_integer().and_then(|number| u32::try_from(number).ok()).filter(|number| *number > 0);
    number.ok_or_else(|| anyhow!("`{key}` is not a number from 1 on"))
}

fn grace(item: &Item) -> Result<i64> {
    let ms = item.as_str().and_then(parse_ms).and_then(|ms| i64::try_from(ms).ok());
    ms.ok_or_else(|| anyhow!("`fleet.host_grace` is not a time such as \"10m\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Fleet, String> {
        let mut fleet = Fleet::default();
        add(&text.parse().unwrap(), &mut fleet).map_err(|error| error.to_string())?;
        Ok(fleet)
    }

    #[test]
    fn caps_and_grace_are_read() {
        let maxima = "[fleet.labels.gpu]\nmax = 2\n[fleet.backends.claude]\nmax = 3\n";
        let fleet = of(&format!("[fleet]\nmax = 40\nhost_grace = '5m'\n{maxima}")).unwrap();
        let labels = [("gpu".to_owned(), 2), ("agent:claude".to_owned(), 3)].into();
        assert_eq!(fleet.caps, Caps { all: Some(40), labels });
        assert_eq!(fleet.host_grace_ms, Some(300_000));
        assert_eq!(of(""), Ok(Fleet::default()));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = [
            ("[fleet]\nmax = 0", "`fleet.max` is not a number from 1 on"),
            ("[fleet]\nmux = 1", "`fleet.mux` is not a setting; there are max, labels, backends and host_grace"),
            ("[fleet.labels]\ngpu = 1", "`fleet.labels.gpu` is not a table"),
            ("[fleet.labels.gpu]\n", "`fleet.labels.gpu.max` is missing"),
            ("[fleet]\nhost_grace = 5", "`fleet.host_grace` is not a time such as \"10m\""),
        ];
        for (text, why) in wrong {
            assert_eq!(of(text), Err(why.to_owned()));
        }
    }
}
