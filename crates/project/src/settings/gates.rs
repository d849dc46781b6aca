//! What `config.toml` says about answers and consent.
//!
//! ```toml
//! [approvals]
//! who = "initiator"        # or "anyone", or "role:release"
//! override = true          # whether the user who started a run elsewhere may answer in the place of that
//! [roles]
//! release = ["jane", "bob"]
//! [policy]
//! run_ceiling = "3h"       # how long starting a run is consent to what it does
//! risk = { medium = "allow", high = "ask", critical = "deny" }
//! services = { github = "ask" }
//! actions = { "github:merge" = "deny" }
//! ```

use anyhow::{Context, Result, anyhow, bail};
use indexmap::IndexMap;
use longhaul_core::approval::Approvals;
use longhaul_core::duration::parse_ms;
use longhaul_core::plan::Risk;
use longhaul_core::policy::{Authority, Policy, Rule, Subject, Verdict};
use toml_edit::{DocumentMut, Item};

use super::entries;

/// What the files say about who may answer.
#[derive(Debug, Default)]
pub struct Gates {
    /// As the first file has it that says anything.
    pub approvals: Option<Approvals>,
    /// Users by role.
    pub roles: IndexMap<String, Vec<String>>,
    /// What may be done.
    pub policy: Policy,
    /// How long starting a run is consent, where a file says so.
    pub run_ceiling_ms: Option<i64>,
}

/// The first key that a checkout cannot set by itself: who may let work pass.
pub(super) fn sensitive(document: &DocumentMut) -> Option<&'static str> {
    ["approvals", "roles", "policy"].into_iter().find(|key| document.contains_key(key))
}

/// Adds what a file says about names that are not known yet.
pub(super) fn add(document: &DocumentMut, gates: &mut Gates) -> Result<()> {
    if let Some(item) = document.get("approvals") {
        let approvals = approvals(item)?;
        gates.approvals.get_or_insert(approvals);
    }
    add_roles(document, gates)?;
    add_policy(document, Authority::User, gates)
}

/// Adds the roles of a file that are not known yet: the organisation's file is read first, so its roles are as it says.
pub(super) fn add_roles(document: &DocumentMut, gates: &mut Gates) -> Result<()> {
    for (role, item) in entries(document.get("roles"), "roles")? {
        let users = item.as_array().map(|users| users.iter().map(|user| user.as_str().map(str::to_owned)).collect());
        let users: Option<Vec<String>> = users.flatten();
        let users = users.ok_or_else(|| anyhow!("`roles.{role}` is not a list of users"))?;
        gates.roles.entry(role.to_owned()).or_insert(users);
    }
    Ok(())
}

/// Adds the rules of a file. All count: of two that are alike the stricter.
pub(super) fn add_policy(document: &DocumentMut, by: Authority, gates: &mut Gates) -> Result<()> {
    for (name, item) in entries(document.get("policy"), "policy")? {
        match name {
            "run_ceiling" => {
                let span = item.as_str().and_then(parse_ms).and_then(|ms| i64::try_from(ms).ok());
                let span = span.context("`policy.run_ceiling` is not a time span such as 3h")?;
                gates.run_ceiling_ms.get_or_insert(span);
            }
            "risk" | "services" | "actions" => {
                for (on, verdict) in entries(Some(item), &format!("policy.{name}"))? {
                    gates.policy.rules.push(rule(by, name, on, verdict)?);
                }
            }
            _ => bail!("`policy.{name}` is unknown; known are: risk, services, actions, run_ceiling"),
        }
    }
    Ok(())
}

fn rule(by: Authority, kind: &str, on: &str, verdict: &Item) -> Result<Rule> {
    let key = format!("policy.{kind}.{on}");
    let verdict = verdict.as_str().and_then(Verdict::read);
    let verdict = verdict.with_context(|| format!("`{key}` must be allow, ask or deny"))?;
    let on = match kind {
        "risk" => {
            Subject::Risk(Risk::read(on).with_context(|| format!("`{key}`: a risk is low, medium, high or critical"))?)
        }
        "services" => Subject::Service(on.to_owned()),
        _ => Subject::Action(on.to_owned()),
    };
    Ok(Rule { by, on, verdict })
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
    fn rules_are_read() {
        let text = "[policy]\nrun_ceiling = '1h'\nrisk = { high = 'deny' }\nservices = { github = 'ask' }\nactions = { 'db:drop' = 'allow' }";
        let gates = read(text).unwrap();
        let rules: Vec<String> = gates.policy.rules.iter().map(ToString::to_string).collect();
        assert_eq!(rules, ["user: deny high risk", "user: ask everything of github", "user: allow db:drop"]);
        assert_eq!(gates.run_ceiling_ms, Some(3_600_000));
    }

    #[test]
    fn mistakes_are_named_by_their_key() {
        let complaint = |text: &str| read(text).unwrap_err().to_string();
        assert_eq!(complaint("[approvals]\nwho = 'x'"), "`approvals.who`: `x` is not initiator, anyone or role:NAME");
        assert_eq!(complaint("[approvals]\nwhom = 'x'"), "`approvals.whom` is unknown; known are: who, override");
        assert_eq!(complaint("[policy.risk]\nhigh = 'no'"), "`policy.risk.high` must be allow, ask or deny");
        assert!(complaint("[policy.risk]\nhuge = 'deny'").starts_with("`policy.risk.huge`: a risk is low"));
        assert!(complaint("[policy]\nrisks = 1").starts_with("`policy.risks` is unknown"));
        assert_eq!(complaint("[roles]\nops = 'jane'"), "`roles.ops` is not a list of users");
    }
}
