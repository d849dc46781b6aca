//! The agent that does a project's prompts where nobody is named, as a line of its settings.
//!
//! **Invariant:** a choice that somebody made is left as it is; only a line of ours is ever taken out.

use longhaul_agents::contract::{Agent, Setup};
use longhaul_agents::drivers;

/// What our line ends with.
const OURS: &str = "# who does prompts that name nobody; by longhaul init";

/// What needs more than a program: an address, a key that is paid by use. Nobody is put there without being asked.
const NOT_BY_ITSELF: [&str; 3] = ["anthropic", "openai", "acp"];

/// Programs of this machine that can do prompts, in the order in which they would be taken.
pub(crate) fn installed() -> Vec<&'static dyn Agent> {
    let usual = Setup::default();
    let programs = drivers::ALL.iter().filter(|agent| !NOT_BY_ITSELF.contains(&agent.name()));
    programs.filter(|agent| agent.find(&usual).is_ok()).copied().collect()
}

/// The settings with an agent; `None` if they name one already, or cannot be read.
pub(crate) fn put(text: &str, agent: &str) -> Option<String> {
    let settings: toml_edit::DocumentMut = text.parse().ok()?;
    if settings.contains_key("agent") {
        return None;
    }
    // Before the first table, where a key belongs to the file.
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
