//! What `config.toml` says about answers.
//!
//! ```toml
//! [approvals]
//! who = "initiator"        # or "anyone", or "role:release"
//! override = true          # whether the user who started a run elsewhere may answer in the place of that
//! [roles]
//! release = ["jane", "bob"]
//! ```

use anyhow::{Context, Result, anyhow, bail};
use indexmap::IndexMap;
use longhaul_core::approval::Approvals;
use toml_edit::{DocumentMut, Item};

use super::entries;

/// What the files say about who may answer.
#[derive(Debug, Default)]
pub(crate) struct Gates {
    /// As the first file has it that says anything.
    pub(crate) approvals: Option<Approvals>,
    /// Users by role.
    pub(crate) roles: IndexMap<String, Vec<String>>,
}

/// The first key that a checkout can not set by itself: who may let work pass.
pub(super) fn sensitive(document: &DocumentMut) -> Option<&'static str> {
    ["approvals", "roles"].into_iter().find(|key| document.contains_key(key))
}

/// Adds what a file says about names that are not known yet.
pub(super) fn add(document: &DocumentMut, gates: &mut Gates) -> Result<()> {
    if let Some(item) = document.get("approvals") {
        let approvals = approvals(item)?;
        gates.approvals.get_or_insert(approvals);
    }
    for (role, item) in entries(document.get("roles"), "roles")? {
        let users = item.as_array().map(|users| users.iter().map(|user| user.as_str().map(str::to_owned)).collect());
        let users: Option<Vec<String>> = users.flatten();
        let users = users.ok_or_else(|| anyhow!("`roles.{role}` is not a list of users"))?;
        gates.roles.entry(role.to_owned()).or_insert(users);
    }
    Ok(())
}

fn approvals(item: &Item) -> Result<Approvals> {
    let mut approvals = Approvals::default();
    for (name, item) in entries(Some(item), "approvals")? {
        match name {
            "who" => {
                let who = item.as_str().context("`approvals.who` is not a text")?;
                approvals.who = who.parse().map_err(|why| anyhow!("`approvals.who`: {why}"))?;
            }
            "override" => {
                approvals.strict = !item.as_bool().context("`approvals.override` is neither true nor false")?;
            }
            _ => bail!("`approvals.{name}` is unknown; known are: who, override"),
        }
    }
    Ok(approvals)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Gates> {
        let mut gates = Gates::default();
        add(&text.parse()?, &mut gates)?;
        Ok(gates)
    }

    #[test]
    fn answers_and_roles_are_read() {
        let gates = read("[approvals]\nwho = 'role:ops'\noverride = false\n[roles]\nops = ['jane']").unwrap();
        let approvals = gates.approvals.unwrap();
        assert_eq!((approvals.who.to_string(), approvals.strict), ("role:ops".to_owned(), true));
        assert_eq!(gates.roles["ops"], ["jane"]);
        assert_eq!(read("").unwrap().approvals, None);
    }

    #[test]
    fn mistakes_are_named_by_their_key() {
        let complaint = |text: &str| read(text).unwrap_err().to_string();
        assert_eq!(complaint("[approvals]\nwho = 'x'"), "`approvals.who`: `x` is not initiator, anyone or role:NAME");
        assert_eq!(complaint("[approvals]\nwhom = 'x'"), "`approvals.whom` is unknown; known are: who, override");
        assert_eq!(complaint("[roles]\nops = 'jane'"), "`roles.ops` is not a list of users");
    }
}
