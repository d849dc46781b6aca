//! Decides who pays for a turn: the agent's own login, or a key. It decides before the turn, from the settings only.
//!
//! **Invariant:** a turn with a login gets no key, and no login is sent to an address from the settings.

use super::command::Command;
use crate::contract::{AgentAuth, AgentSetup, InstalledAgent, UnsupportedTurn};

/// Who pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Payer {
    Login,
    Key,
}

/// Who pays for the turns of an agent.
pub(super) fn of(name: &str, found: &InstalledAgent, setup: &AgentSetup) -> Result<Payer, UnsupportedTurn> {
    match (setup.auth, &setup.base_url) {
        (AgentAuth::Key, _) | (AgentAuth::Auto, Some(_)) => Ok(Payer::Key),
        (AgentAuth::Login, Some(url)) => Err(UnsupportedTurn(format!(
            "the login of `{name}` would be shown to `{url}`; use `auth: key` with that address, or leave `base_url` out"
        ))),
        (AgentAuth::Login, None) => Ok(Payer::Login),
        (AgentAuth::Auto, None) if found.logged_in => Ok(Payer::Login),
        (AgentAuth::Auto, None) => Ok(Payer::Key),
    }
}

/// Passes the key on under the name that the program reads.
pub(super) fn hand_key(command: &mut Command, setup: &AgentSetup, known_as: &str) {
    match &setup.key_env {
        Some(name) if name != known_as => command.keep(&format!("{known_as}={name}")),
        _ => command.keep(known_as),
    }
}

/// Refuses settings that would pass a key to a turn with a login.
pub(super) fn check(name: &str, setup: &AgentSetup, keys: &[&str]) -> Result<(), UnsupportedTurn> {
    let kept = setup.keep_env.iter().map(String::as_str);
    let offending =
        kept.chain(setup.env.keys().map(String::as_str)).find(|rule| keys.iter().any(|key| covers(rule, key)));
    match offending {
        Some(rule) => Err(UnsupportedTurn(format!(
            "`{name}` goes by its own login, but `{rule}` in its settings would hand it a key that is billed; say \
             `auth: key`, or name the variables one by one without that one"
        ))),
        None => Ok(()),
    }
}

fn covers(rule: &str, key: &str) -> bool {
    let new = rule.split_once('=').map_or(rule, |(new, _)| new);
    match new.strip_suffix('*') {
        Some(prefix) => key.starts_with(prefix),
        None => new == key,
    }
}
