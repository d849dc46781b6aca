//! The environment of a program during the search for it: variables from the settings, then our own.

use std::ffi::OsString;
use std::path::PathBuf;

use super::program::is_program;
use crate::contract::AgentSetup;

/// Variables as the program will see them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surroundings<'a> {
    setup: &'a AgentSetup,
}

impl<'a> Surroundings<'a> {
    pub(super) fn of(setup: &'a AgentSetup) -> Self {
        Self { setup }
    }

    /// A variable that is set and not empty.
    pub(super) fn variable(&self, name: &str) -> Option<OsString> {
        let set = self.setup.env.get(name).map(OsString::from);
        set.or_else(|| std::env::var_os(name)).filter(|value| !value.is_empty())
    }

    /// A folder that a variable names, or else one below the home folder.
    pub(super) fn folder(&self, variable: &str, below_home: &str) -> PathBuf {
        let named = self.variable(variable).map(PathBuf::from);
        named.unwrap_or_else(|| self.home().join(below_home))
    }

    /// The home folder; `/` if there is none, where none of our files are.
    pub(super) fn home(&self) -> PathBuf {
        self.variable("HOME").map_or_else(|| PathBuf::from("/"), PathBuf::from)
    }

    /// The first program of that name in `PATH`.
    pub(super) fn in_path(&self, name: &str) -> Option<PathBuf> {
        let path = self.variable("PATH")?;
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_absolute() && is_program(file))
    }
}
