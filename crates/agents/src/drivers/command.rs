//! Builds a command line.

use crate::contract::{AgentSetup, InstalledAgent, Invocation, UnsupportedTurn};

/// Linux accepts no longer argument, with its final zero byte.
const ARGUMENT_BYTES_MAX: usize = 128 * 1024 - 1;

/// Arguments and variables of a turn.
#[derive(Debug, Default)]
pub(super) struct Command {
    args: Vec<String>,
    env: Vec<(String, String)>,
    keep: Vec<String>,
}

impl Command {
    /// Adds words unchanged.
    pub(super) fn words(&mut self, words: &[&str]) {
        self.args.extend(words.iter().map(|word| (*word).to_owned()));
    }

    /// Adds `--name=value`, so that no value can be read as a flag.
    pub(super) fn option(&mut self, name: &str, value: &str) {
        self.args.push(format!("{name}={value}"));
    }

    /// Adds the same, if there is a value.
    pub(super) fn option_if(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.option(name, value);
        }
    }

    /// Sets a variable.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        self.env.push((name.to_owned(), value.to_owned()));
    }

    /// Sets several variables to one value.
    pub(super) fn switch(&mut self, names: &[&str], value: &str) {
        for name in names {
            self.set(name, value);
        }
    }

    /// Passes a variable on.
    pub(super) fn keep(&mut self, rule: &str) {
        self.keep.push(rule.to_owned());
    }

    /// The invocation, with the additions from the settings: their arguments first, their variables last.
    pub(super) fn finish(
        self,
        found: &InstalledAgent,
        setup: &AgentSetup,
        stdin: Vec<u8>,
    ) -> Result<Invocation, UnsupportedTurn> {
        let set = setup.env.iter().map(|(name, value)| (name.clone(), value.clone()));
        let made = Invocation {
            program: found.program.clone(),
            args: setup.args.iter().cloned().chain(self.args).collect(),
            env: self.env.into_iter().chain(set).collect(),
            keep_env: self.keep.into_iter().chain(setup.keep_env.iter().cloned()).collect(),
            stdin,
        };
        let passable = made.args.iter().all(|arg| arg.len() <= ARGUMENT_BYTES_MAX && !arg.contains('\0'));
        if passable { Ok(made) } else { Err(UnsupportedTurn(TOO_LONG.to_owned())) }
    }
}

const TOO_LONG: &str = "an argument (persona, schema or model) is longer than 128 KB or holds a zero byte, and no program \
                        can be handed that; shorten it";

/// A session id that is safe as an argument.
pub(super) fn session_id(id: &str) -> Result<&str, UnsupportedTurn> {
    let plain = id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if plain && !id.starts_with('-') && !id.is_empty() {
        Ok(id)
    } else {
        Err(UnsupportedTurn(format!("`{id}` is not the id of a session; begin a new one")))
    }
}

/// The address of a model's server, with the version of the API at its end.
pub(super) fn with_version(base_url: &str) -> String {
    let root = base_url.trim_end_matches('/');
    if names_version(root) { root.to_owned() } else { format!("{root}/v1") }
}

/// The address without that version.
pub(super) fn without_version(base_url: &str) -> &str {
    let root = base_url.trim_end_matches('/');
    root.strip_suffix("/v1").unwrap_or(root)
}

fn names_version(url: &str) -> bool {
    let last = url.rsplit('/').next().unwrap_or_default();
    last.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}
