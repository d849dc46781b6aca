//! Which project a checkout is of, wherever it lies.
//!
//! **Invariant:** two checkouts of one repository have one identity on every machine, and those of two repositories have two. Who cannot
//! be sure has none.

use std::fmt;
use std::path::Path;
use std::process::{Command, Stdio};

/// As much of a commit's name as is needed.
const LENGTH: usize = 16;

/// Why a folder is of no known project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    /// No repository is around it, or git is not there.
    NoRepository,
    /// Nothing was committed yet.
    NoCommits,
    /// The beginning of its history is not here.
    CutOff,
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoRepository => "no git repository is around it",
            Self::NoCommits => "its repository has no commits",
            Self::CutOff => "its clone was cut off by --depth",
        })
    }
}

/// The first commit of the repository around a folder. A clone that was cut off does not know it.
pub fn identity(root: &Path) -> Result<String, Unknown> {
    let is_shallow = git(root, &["rev-parse", "--is-shallow-repository"]).ok_or(Unknown::NoRepository)?;
    if is_shallow.trim() != "false" {
        return Err(Unknown::CutOff);
    }
    // A history that was joined to this one later does not make it another, and need not be read.
    let first = git(root, &["rev-list", "--first-parent", "--max-parents=0", "HEAD"]).unwrap_or_default();
    let first = first.lines().next().ok_or(Unknown::NoCommits)?;
    Ok(first.chars().take(LENGTH).collect())
}

/// What git answers about the repository around a folder, if it has an answer.
pub(crate) fn git(root: &Path, args: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    command.args(["-c", "core.fsmonitor=false", "-C"]).arg(root).args(args);
    command.env("GIT_TERMINAL_PROMPT", "0").stdin(Stdio::null()).stderr(Stdio::null());
    let output = command.output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(root: &Path, args: &[&str]) {
        let who = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
        let status = Command::new("git").arg("-C").arg(root).args(who).args(args).stdout(Stdio::null()).status();
        assert!(status.unwrap().success(), "{args:?}");
    }

    fn repository(name: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        told(folder.path(), &["init", "-q"]);
        told(folder.path(), &["commit", "-q", "--allow-empty", "-m", name]);
        folder
    }

    #[test]
    fn clones_are_the_same_project_and_other_repositories_are_not() {
        let (one, other, place) = (repository("one"), repository("other"), tempfile::tempdir().unwrap());
        let clone = place.path().join("clone");
        told(place.path(), &["clone", "-q", one.path().to_str().unwrap(), "clone"]);
        told(&clone, &["commit", "-q", "--allow-empty", "-m", "more"]);
        assert!(identity(one.path()).is_ok());
        assert_eq!(identity(&clone), identity(one.path()));
        assert_ne!(identity(other.path()), identity(one.path()));
    }

    #[test]
    fn a_project_that_takes_in_the_history_of_another_stays_what_it_was() {
        // Whichever of the two commits has the smaller name.
        for (name, taken_in) in [("one", "other"), ("other", "one")] {
            let (one, other) = (repository(name), repository(taken_in));
            let before = identity(one.path());
            told(one.path(), &["fetch", "-q", other.path().to_str().unwrap(), "HEAD"]);
            told(one.path(), &["merge", "-q", "--allow-unrelated-histories", "-m", "both", "FETCH_HEAD"]);
            assert_eq!(identity(one.path()), before);
        }
    }

    #[test]
    fn what_has_no_history_or_only_its_end_is_of_no_known_project() {
        let (one, place) = (repository("one"), tempfile::tempdir().unwrap());
        told(one.path(), &["commit", "-q", "--allow-empty", "-m", "two"]);
        let from = format!("file://{}", one.path().display());
        told(place.path(), &["clone", "-q", "--depth", "1", &from, "clone"]);
        assert_eq!(identity(&place.path().join("clone")), Err(Unknown::CutOff));
        assert_eq!(identity(place.path()), Err(Unknown::NoRepository));
        told(place.path(), &["init", "-q", "empty"]);
        assert_eq!(identity(&place.path().join("empty")), Err(Unknown::NoCommits));
    }
}
