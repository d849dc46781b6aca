//! Writes the default agent for prompts as a line of a project's settings.
//!
//! **Invariant:** `init` keeps a choice that the user made, and removes only its own line.

use longhaul_agents::contract::{Agent, AgentSetup};
use longhaul_agents::drivers;

/// The end of our line.
const OURS: &str = "# who does prompts that name nobody; by longhaul init";

/// Agents that need an address or a key with a price per use. `init` never chooses them without asking.
const NOT_BY_ITSELF: [&str; 3] = ["anthropic", "openai", "acp"];

/// Installed programs that can do prompts, in the order of preference.
pub(crate) fn installed() -> Vec<&'static dyn Agent> {
    let usual = AgentSetup::default();
    let programs = drivers::ALL.iter().filter(|agent| !NOT_BY_ITSELF.contains(&agent.name()));
    programs.filter(|agent| agent.find(&usual).is_ok()).copied().collect()
}

/// The settings with an agent; `None` if they already name one, or cannot be read.
pub(crate) fn put(text: &str, agent: &str) -> Option<String> {
    let settings: toml_edit::DocumentMut = text.parse().ok()?;
    if settings.contains_key("agent") {
        return None;
    }
    // Before the first table, where a key belongs to the whole file.
    Some(format!("agent = \"{agent}\"  {OURS}\n{text}"))
}

/// The settings without our line; `None` if there is none.
pub(crate) fn take(text: &str) -> Option<String> {
    let is_ours = |line: &&str| line.starts_with("agent = ") && line.ends_with(OURS);
    let rest: String = text.lines().filter(|line| !is_ours(line)).map(|line| format!("{line}\n")).collect();
    text.lines().any(|line| is_ours(&line)).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_is_put_once_and_taken_out_again() {
        let before = "# mine\n[agents.claude]\nmodel = \"opus\"\n";
        let after = put(before, "claude").unwrap();
        let settings: toml_edit::DocumentMut = after.parse().unwrap();
        assert_eq!(settings["agent"].as_str(), Some("claude"));
        assert_eq!(put(&after, "codex"), None);
        assert_eq!(take(&after).as_deref(), Some(before));
        assert_eq!(take("agent = \"claude\"\n"), None);
        assert_eq!(put("agent = \"codex\"\n", "claude"), None);
        assert_eq!(put("not toml [", "claude"), None);
    }
}
