//! What a worker claims, and what wakes a run.
//!
//! **Invariant:** what is written here as text reads back as the same value; a store keeps the text alone.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::path::StepPath;

/// What stands for the `on_failure` of a run where else the path of a step is. No step can be called that.
const ON_FAILURE: &str = "!on_failure";

/// The key of a task in the store: one attempt, which one worker makes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TaskKey {
    /// An attempt of a step: `tasks[3]/review@2`.
    Step {
        /// The step.
        path: StepPath,
        /// The number of the attempt, from 1.
        attempt: u32,
    },
    /// An attempt of the run's `on_failure`: `!on_failure@1`.
    OnFailure {
        /// The number of the attempt, from 1.
        attempt: u32,
    },
}

impl TaskKey {
    /// The key of an attempt of a step.
    pub fn new(path: &StepPath, attempt: u32) -> Self {
        Self::Step { path: path.clone(), attempt }
    }

    /// The number of the attempt.
    pub fn attempt(&self) -> u32 {
        match self {
            Self::Step { attempt, .. } | Self::OnFailure { attempt } => *attempt,
        }
    }

    /// The step whose attempt it is.
    pub fn path(&self) -> Option<&StepPath> {
        match self {
            Self::Step { path, .. } => Some(path),
            Self::OnFailure { .. } => None,
        }
    }

    /// The attempt of a step that it is.
    pub fn of_step(self) -> Option<(StepPath, u32)> {
        match self {
            Self::Step { path, attempt } => Some((path, attempt)),
            Self::OnFailure { .. } => None,
        }
    }
}

impl fmt::Display for TaskKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Step { path, attempt } => write!(f, "{path}@{attempt}"),
            Self::OnFailure { attempt } => write!(f, "{ON_FAILURE}@{attempt}"),
        }
    }
}

impl FromStr for TaskKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (of, attempt) = text.rsplit_once('@').ok_or_else(|| format!("`{text}` names no attempt"))?;
        let attempt = attempt.parse().map_err(|_| format!("`{attempt}` is not the number of an attempt"))?;
        match of {
            ON_FAILURE => Ok(Self::OnFailure { attempt }),
            path => Ok(Self::Step { path: path.parse()?, attempt }),
        }
    }
}

/// The name of a timer of a run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum TimerId {
    /// The time of the run is up: `deadline`.
    Deadline,
    /// The time of the sub-workflow is up that this step uses: `deadline:path`.
    UnitDeadline(StepPath),
    /// The next attempt of this step is due: `retry:path`.
    Retry(StepPath),
    /// This step has slept, or waited for its signal, for long enough: `wait:path`.
    Wait(StepPath),
    /// Nobody has answered the question of this step in time: `gate:path`.
    Gate(StepPath),
    /// The lease of the client that took this step has ended: `claim:path`.
    Lease(StepPath),
    /// A timer of another version. It means nothing to this one.
    Other(String),
}

impl TimerId {
    /// The step that it is about.
    pub fn path(&self) -> Option<&StepPath> {
        match self {
            Self::UnitDeadline(path) | Self::Retry(path) | Self::Wait(path) | Self::Gate(path) | Self::Lease(path) => {
                Some(path)
            }
            Self::Deadline | Self::Other(_) => None,
        }
    }

    fn of_step(text: &str) -> Option<Self> {
        let (kind, path) = text.split_once(':')?;
        let make = match kind {
            "deadline" => Self::UnitDeadline,
            "retry" => Self::Retry,
            "wait" => Self::Wait,
            "gate" => Self::Gate,
            "claim" => Self::Lease,
            _ => return None,
        };
        path.parse().ok().map(make)
    }
}

impl fmt::Display for TimerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deadline => f.write_str("deadline"),
            Self::UnitDeadline(path) => write!(f, "deadline:{path}"),
            Self::Retry(path) => write!(f, "retry:{path}"),
            Self::Wait(path) => write!(f, "wait:{path}"),
            Self::Gate(path) => write!(f, "gate:{path}"),
            Self::Lease(path) => write!(f, "claim:{path}"),
            Self::Other(text) => f.write_str(text),
        }
    }
}

impl From<&str> for TimerId {
    fn from(text: &str) -> Self {
        match text {
            "deadline" => Self::Deadline,
            _ => Self::of_step(text).unwrap_or_else(|| Self::Other(text.to_owned())),
        }
    }
}

impl From<String> for TimerId {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<TimerId> for String {
    fn from(timer: TimerId) -> Self {
        timer.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_tasks_read_back() {
        for text in ["review@2", "tasks[3]/review#2@1", "!on_failure@7"] {
            assert_eq!(text.parse::<TaskKey>().unwrap().to_string(), text);
        }
        assert_eq!("!on_failure@7".parse(), Ok(TaskKey::OnFailure { attempt: 7 }));
        assert_eq!("a@2".parse::<TaskKey>().unwrap().of_step(), Some(("a".parse().unwrap(), 2)));
        for text in ["review", "review@", "review@x", "a b@1", "@1", "!other@1"] {
            assert!(text.parse::<TaskKey>().is_err(), "{text}");
        }
    }

    #[test]
    fn names_of_timers_read_back_and_unknown_ones_are_kept() {
        for text in ["deadline", "deadline:sub", "retry:a", "wait:a#2", "gate:tasks[3]/g", "claim:a"] {
            let timer = TimerId::from(text);
            assert!(!matches!(timer, TimerId::Other(_)), "{text}");
            assert_eq!(timer.to_string(), text);
        }
        for text in ["", "alarm:a", "retry:a b", "retry", "deadlines"] {
            assert_eq!(TimerId::from(text), TimerId::Other(text.to_owned()));
            assert_eq!(TimerId::from(text).to_string(), text);
        }
    }
}
