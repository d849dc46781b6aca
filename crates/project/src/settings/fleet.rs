//! What the settings say about several workers: `[fleet]`.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use longhaul_agents::drivers;
use longhaul_core::decide::{agent_label, agent_of_label};
use longhaul_core::duration::parse_ms;
use longhaul_core::event::Gone;
use longhaul_lang::diagnostic::closest;
use longhaul_runtime::{Backends, SCRIPTED};
use longhaul_store::Caps;
use toml_edit::{DocumentMut, Item};

use super::entries;
use crate::identity::git;

/// How workers work together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fleet {
    /// How many attempts all of them make at once.
    pub caps: Caps,
    /// What the project is called, where its history does not tell which one it is.
    pub project: Option<String>,
    /// How long a machine may be silent before a run that needs it asks what to do.
    pub host_grace_ms: Option<i64>,
    /// What is done about one that is silent for longer.
    pub when_host_gone: Option<Gone>,
    /// The git remote to which the files of runs are sent, so that other machines can continue with them.
    pub carry: Option<String>,
}

impl Fleet {
    /// What it says that cannot have the effect that is meant, in words.
    pub(super) fn without_effect(&self, root: &Path, backends: &Backends) -> Vec<String> {
        let carry = match (&self.carry, self.when_host_gone) {
            (None, Some(Gone::Rebuild)) => Some(
                "`fleet.when_host_gone` is \"rebuild\" and `fleet.carry` is not set: no files are recorded, so runs ask".to_owned(),
            ),
            (Some(remote), _) if is_name(remote) && !is_remote(root, remote) => Some(format!(
                "`fleet.carry` is `{remote}`, and git knows no such remote here: files are not sent; git remote lists those that there are"
            )),
            _ => None,
        };
        carry.into_iter().chain(self.caps.labels.keys().filter_map(|label| not_an_agent(label, backends))).collect()
    }
}

fn is_remote(root: &Path, name: &str) -> bool {
    git(root, &["config", "--get-regexp", &format!(r"^remote\.{name}\.")]).is_some()
}

/// Says of a cap that it is on an agent that nobody has.
fn not_an_agent(label: &str, backends: &Backends) -> Option<String> {
    let name = agent_of_label(label)?;
    let own = drivers::ALL.iter().map(|driver| driver.name()).chain([SCRIPTED]);
    let known: Vec<&str> = own.chain(backends.profiles.keys().map(String::as_str)).collect();
    if known.contains(&name) {
        return None;
    }
    let meant =
        closest(name, &known).map_or_else(String::new, |best| format!("; did you mean `fleet.backends.{best}`?"));
    Some(format!("`fleet.backends.{name}` is about no agent that there is{meant}"))
}

/// Where files are sent is not for a checkout to say, unless a person has looked at it. A remote that git knows by name is
/// one that a person has set up.
pub(super) fn sensitive(document: &DocumentMut) -> Option<&'static str> {
    let carry = document.get("fleet").and_then(Item::as_table_like)?.get("carry")?.as_str()?;
    (!is_name(carry)).then_some("fleet.carry")
}

fn is_name(remote: &str) -> bool {
    !remote.is_empty() && remote.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-".contains(letter))
}

/// Adds what a file says that is not known yet.
pub(super) fn add(document: &DocumentMut, fleet: &mut Fleet) -> Result<()> {
    for (name, item) in entries(document.get("fleet"), "fleet")? {
        match name {
            "max" => fleet.caps.all = Some(fleet.caps.all.map_or_else(|| max(item, "fleet.max"), Ok)?),
            "labels" => maxima(item, "fleet.labels", str::to_owned, &mut fleet.caps)?,
            "backends" => maxima(item, "fleet.backends", agent_label, &mut fleet.caps)?,
            "project" => fleet.project = Some(fleet.project.take().map_or_else(|| called(item), Ok)?),
            "host_grace" => fleet.host_grace_ms = Some(fleet.host_grace_ms.map_or_else(|| grace(item), Ok)?),
            "when_host_gone" => fleet.when_host_gone = Some(fleet.when_host_gone.map_or_else(|| gone(item), Ok)?),
            "carry" => fleet.carry = Some(fleet.carry.take().map_or_else(|| remote(item), Ok)?),
            other => {
                return Err(anyhow!(
                    "`fleet.{other}` is not a setting; there are max, labels, backends, project, host_grace, when_host_gone and carry"
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

fn gone(item: &Item) -> Result<Gone> {
    match item.as_str() {
        Some("ask") => Ok(Gone::Ask),
        Some("rebuild") => Ok(Gone::Rebuild),
        _ => Err(anyhow!("`fleet.when_host_gone` is neither \"ask\" nor \"rebuild\"")),
    }
}

/// A name or an address of a repository. Git takes what begins with a dash for an option, and `ext::` for a command.
fn remote(item: &Item) -> Result<String> {
    let is_one = |text: &&str| !text.is_empty() && !text.starts_with('-') && !text.contains(char::is_control);
    let remote = item.as_str().filter(is_one).filter(|text| !text.contains("::"));
    remote.map(str::to_owned).ok_or_else(|| anyhow!("`fleet.carry` is neither a remote of git nor an address of one"))
}

fn called(item: &Item) -> Result<String> {
    let name = item.as_str().filter(|name| !name.trim().is_empty());
    name.map(str::to_owned).ok_or_else(|| anyhow!("`fleet.project` is not a name"))
}

fn grace(item: &Item) -> Result<i64> {
    let ms = item.as_str().and_then(parse_ms).and_then(|ms| i64::try_from(ms).ok());
    // Without any, every machine would be given up between two signs of life.
    ms.filter(|ms| *ms > 0).ok_or_else(|| anyhow!("`fleet.host_grace` is not a time such as \"10m\""))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

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
    fn where_files_are_sent_is_looked_at_unless_git_knows_it_by_name() {
        let fleet = of("[fleet]\nwhen_host_gone = 'rebuild'\ncarry = 'origin'\n").unwrap();
        assert_eq!((fleet.when_host_gone, fleet.carry.as_deref()), (Some(Gone::Rebuild), Some("origin")));
        let key = |carry: &str| sensitive(&format!("[fleet]\ncarry = '{carry}'\n").parse().unwrap());
        assert_eq!(key("origin"), None);
        assert_eq!(key("https://example.com/repo.git"), Some("fleet.carry"));
        assert_eq!(key("../elsewhere"), Some("fleet.carry"));
        assert_eq!(sensitive(&"[fleet]\nmax = 1\n".parse().unwrap()), None);
    }

    #[test]
    fn what_can_have_no_effect_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let git = |args: &[&str]| Command::new("git").arg("-C").arg(folder.path()).args(args).output().unwrap();
        let told = |text: &str| of(text).unwrap().without_effect(folder.path(), &Backends::default()).join("; ");
        git(&["init", "--quiet"]);
        assert!(told("[fleet]\ncarry = 'origin'\n").contains("git knows no such remote here"));
        git(&["remote", "add", "origin", "/somewhere"]);
        assert_eq!(told("[fleet]\ncarry = 'origin'\nwhen_host_gone = 'rebuild'\n"), "");
        assert!(
            told("[fleet]\ncarry = 'orign'\n").contains("`fleet.carry` is `orign`, and git knows no such remote here")
        );
        assert!(told("[fleet]\nwhen_host_gone = 'rebuild'\n").contains("`fleet.carry` is not set"));
        assert_eq!(told("[fleet]\ncarry = '/an/address'\nwhen_host_gone = 'rebuild'\n"), "");
        assert_eq!(told("[fleet.backends.claude]\nmax = 1\n[fleet.backends.scripted]\nmax = 1\n"), "");
        let said = "`fleet.backends.claud` is about no agent that there is; did you mean `fleet.backends.claude`?";
        assert_eq!(told("[fleet.backends.claud]\nmax = 1\n"), said);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = [
            ("[fleet]\nmax = 0", "`fleet.max` is not a number from 1 on"),
            (
                "[fleet]\nmux = 1",
                "`fleet.mux` is not a setting; there are max, labels, backends, project, host_grace, when_host_gone and carry",
            ),
            ("[fleet]\nwhen_host_gone = 'cry'", "`fleet.when_host_gone` is neither \"ask\" nor \"rebuild\""),
            ("[fleet]\ncarry = '--upload-pack=x'", "`fleet.carry` is neither a remote of git nor an address of one"),
            ("[fleet]\ncarry = 'ext::sh -c x'", "`fleet.carry` is neither a remote of git nor an address of one"),
            ("[fleet]\nproject = ''", "`fleet.project` is not a name"),
            ("[fleet.labels]\ngpu = 1", "`fleet.labels.gpu` is not a table"),
            ("[fleet.labels.gpu]\n", "`fleet.labels.gpu.max` is missing"),
            ("[fleet]\nhost_grace = '0s'", "`fleet.host_grace` is not a time such as \"10m\""),
            ("[fleet]\nhost_grace = 5", "`fleet.host_grace` is not a time such as \"10m\""),
        ];
        for (text, why) in wrong {
            assert_eq!(of(text), Err(why.to_owned()));
        }
    }
}
