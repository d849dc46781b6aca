//! Warns about unknown keys of `config.toml`: most are typing errors.
//!
//! Inside other tables an unknown key is an error. At the top it is a warning, so that a newer version can share the
//! file.

use longhaul_lang::diagnostic::closest;
use toml_edit::{DocumentMut, Item, TableLike};

/// The keys of a project's or user's file.
const TOP: &[&str] = &[
    "agent",
    "agents",
    "approvals",
    "channels",
    "fleet",
    "limits",
    "mcp",
    "models",
    "notices",
    "notify",
    "policy",
    "power",
    "prices",
    "retention",
    "roles",
    "same_folder",
    "sandboxed",
    "store",
    "values",
];
/// The keys of the organisation's file.
const OF_ORGANISATION: &[&str] = &["policy", "roles"];
const LIMITS: &[&str] = &["backends"];

/// Warnings about unknown keys of a project's or user's file.
pub(super) fn of_file(document: &DocumentMut) -> Vec<String> {
    let mut found = passed_over(document.as_table(), "", TOP);
    if let Some(limits) = document.get("limits").and_then(Item::as_table_like) {
        found.extend(passed_over(limits, "limits.", LIMITS));
    }
    found
}

/// Warnings about unknown keys of the organisation's file.
pub(super) fn of_organisation(document: &DocumentMut) -> Vec<String> {
    passed_over(document.as_table(), "", OF_ORGANISATION)
}

fn passed_over(table: &dyn TableLike, before: &str, known: &[&str]) -> Vec<String> {
    let strange = table.iter().map(|(name, _)| name).filter(|name| !known.contains(name));
    strange.map(|name| words(name, before, known)).collect()
}

fn words(name: &str, before: &str, known: &[&str]) -> String {
    match closest(name, known) {
        Some(best) => format!("`{before}{name}` is unknown and has no effect; did you mean `{before}{best}`?"),
        None => format!("`{before}{name}` is unknown and has no effect; known are: {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        of_file(&text.parse().unwrap())
    }

    #[test]
    fn a_slip_is_told_with_what_was_probably_meant() {
        assert_eq!(told("agnet = 'claude'"), ["`agnet` is unknown and has no effect; did you mean `agent`?"]);
        assert_eq!(told("[limit]\nx = 1"), ["`limit` is unknown and has no effect; did you mean `limits`?"]);
        let below = told("[limits]\nbackend = { claude = 1 }");
        assert_eq!(below, ["`limits.backend` is unknown and has no effect; did you mean `limits.backends`?"]);
        assert!(told("[zebra]")[0].contains("known are: agent, agents"));
    }

    #[test]
    fn what_the_page_of_settings_lists_is_known() {
        let page = include_str!("../../../../docs/reference/settings.md");
        let (tables, _) = page.split_once("\n## Channels").unwrap();
        // The table of the kinds of notifications lists no settings.
        let (before, kinds) = tables.split_once("\n| kind |").unwrap();
        let tables = format!("{before}{}", kinds.split_once("\n\n").unwrap().1);
        let keys = tables.lines().filter_map(|line| line.strip_prefix("| `")?.split(['`', '.']).next());
        let keys: Vec<&str> = keys.filter(|key| key.starts_with(|first: char| first.is_ascii_lowercase())).collect();
        assert!(keys.len() > 20, "{keys:?}");
        for key in keys.into_iter().chain(["channels"]) {
            assert_eq!(told(&format!("{key} = 1")), Vec::<String>::new(), "the page lists it");
        }
    }

    #[test]
    fn the_organisation_is_read_for_rules_and_roles_alone() {
        let told = of_organisation(&"agent = 'x'\n[policy]\n[roles]".parse().unwrap());
        assert_eq!(told, ["`agent` is unknown and has no effect; known are: policy, roles"]);
    }
}
