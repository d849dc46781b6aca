//! Finds out which user runs this command.
//!
//! **Invariant:** the user is the one that the system runs this process as, whatever the environment says. A process
//! that a step started is recorded as part of that step's run.

use longhaul_agents::process;
use longhaul_core::origin::{Caller, Face, Origin, SOME_RUN};

/// The origin of a run that starts here.
pub(crate) fn origin() -> Origin {
    Origin { face: Face::Cli, user: Some(user()), inside: inside(), ..Origin::default() }
}

/// The caller of a command that is sent from here.
pub(crate) fn caller() -> Caller {
    Caller::os_user(origin())
}

/// The runs whose steps started this process.
fn inside() -> Vec<String> {
    let line = process::line();
    let mut runs = line.runs();
    // There is an engine above, but no step between: something removed the variables that mark a step.
    if runs.is_empty() && line.has_engine {
        runs.push(SOME_RUN.to_owned());
    }
    runs
}

fn user() -> String {
    let id = rustix::process::getuid().as_raw();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    name_of(id, &users).or_else(|| std::env::var("USER").ok()).unwrap_or_else(|| format!("user {id}"))
}

fn name_of(id: u32, users: &str) -> Option<String> {
    let parts = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let own = parts.into_iter().find(|parts| parts.get(2).is_some_and(|uid| *uid == id.to_string()))?;
    own.first().filter(|name| !name.is_empty()).map(|name| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_found_by_their_number() {
        let users = "root:x:0:0:root:/root:/bin/sh\nbroken\njane:x:1000:1000::/home/jane:/bin/sh\n";
        assert_eq!(name_of(1000, users).as_deref(), Some("jane"));
        assert_eq!(name_of(0, users).as_deref(), Some("root"));
        assert_eq!(name_of(10, users), None);
    }
}
