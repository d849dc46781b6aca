//! Finds the processes that started this one.
//!
//! **Invariant:** a process that a step started finds the step, even if the variables were removed from its own
//! environment: those of its parent processes stay readable.

use std::collections::HashSet;
use std::fs;

use super::{ATTEMPT_VARIABLE, table};

/// The attempts that started this process, the nearest first, and whether an engine is above it at all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ancestry {
    /// The attempts, as in their marks: `run/path@attempt`.
    pub attempts: Vec<String>,
    /// Whether a parent process is a longhaul: an engine, a shim or a guard.
    pub has_engine: bool,
}

/// Reads this process and all its parents.
pub fn line() -> Ancestry {
    let mut line = Ancestry::default();
    line.add(std::env::var(ATTEMPT_VARIABLE).ok());
    let (mut seen, mut at) = (HashSet::new(), std::process::id());
    while at > 0 && seen.insert(at) {
        line.add(table::marks(at).attempt);
        line.has_engine |= at != std::process::id() && is_ours(at);
        at = table::read(at).map_or(0, |process| process.parent);
    }
    line
}

impl Ancestry {
    fn add(&mut self, attempt: Option<String>) {
        let fresh = attempt.filter(|attempt| !attempt.is_empty() && !self.attempts.contains(attempt));
        self.attempts.extend(fresh);
    }

    /// The runs of the attempts, each once.
    pub fn runs(&self) -> Vec<String> {
        let mut runs: Vec<String> = Vec::new();
        for run in self.attempts.iter().filter_map(|attempt| attempt.split('/').next()) {
            if !runs.iter().any(|known| known == run) {
                runs.push(run.to_owned());
            }
        }
        runs
    }
}

/// Whether a process runs the same program as this one, also if the file was replaced since.
fn is_ours(pid: u32) -> bool {
    let program = |path: std::io::Result<std::path::PathBuf>| {
        let path = path.ok()?.to_string_lossy().into_owned();
        Some(path.strip_suffix(" (deleted)").unwrap_or(&path).to_owned())
    };
    let own = program(std::env::current_exe());
    own.is_some() && program(fs::read_link(format!("/proc/{pid}/exe"))) == own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_named_once() {
        let mut line = Ancestry::default();
        for attempt in ["r-2/a@1", "r-1/b/c@2", "r-2/d@1", "", "r-2/a@1"] {
            line.add(Some(attempt.to_owned()));
        }
        assert_eq!((line.attempts.len(), line.runs()), (3, vec!["r-2".to_owned(), "r-1".to_owned()]));
    }
}
