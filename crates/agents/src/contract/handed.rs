//! Decides which variables of our environment reach a program.
//!
//! An invocation names variables, never their values: a key goes from our environment to the program's without being
//! written to disk.
//!
//! **Invariant:** a program gets only common variables, named variables, and variables that the invocation sets.

use std::ffi::{OsStr, OsString};

use super::Invocation;

impl Invocation {
    /// The environment of the program: the common variables of `ours` and those that [`Invocation::keep_env`] names,
    /// then those that are set. If a name occurs twice, only the later one stays.
    pub fn environment(&self, common: &[&str], ours: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
        let mut all = Vec::new();
        for rule in common.iter().copied().chain(self.keep_env.iter().map(String::as_str)) {
            for (name, value) in ours {
                if let Some(name) = handed_on(rule, name) {
                    put(&mut all, name, value.clone());
                }
            }
        }
        for (name, value) in &self.env {
            put(&mut all, name.into(), value.into());
        }
        all
    }
}

/// The name under which a rule passes a variable on: `NAME`, `PREFIX*`, or `NEW=OLD`.
fn handed_on(rule: &str, name: &OsStr) -> Option<OsString> {
    if let Some((new, old)) = rule.split_once('=') {
        return (name == old).then(|| new.into());
    }
    let fits = match rule.strip_suffix('*') {
        Some(prefix) => name.as_encoded_bytes().starts_with(prefix.as_bytes()),
        None => name == rule,
    };
    fits.then(|| name.to_owned())
}

fn put(all: &mut Vec<(OsString, OsString)>, name: OsString, value: OsString) {
    match all.iter_mut().find(|(known, _)| *known == name) {
        Some(entry) => entry.1 = value,
        None => all.push((name, value)),
    }
}
