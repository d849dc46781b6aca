//! Limits: how long finished runs stay, and the size of values.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How long finished runs stay in the store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Retention {
    /// Runs that ended longer ago are removed.
    pub finished: Option<Duration>,
    /// The newest finished runs that always stay.
    pub keep: usize,
    /// The folder to which runs are written before they are removed.
    pub archive: Option<PathBuf>,
}

/// Limits of values.
#[derive(Debug, Clone)]
pub struct Values {
    /// Variables that `env.X` may read in runs that were not started at the command line.
    pub env: Arc<[String]>,
    /// The largest size of one output, in bytes.
    pub bytes_max: usize,
}

impl Default for Values {
    fn default() -> Self {
        Self { env: Arc::new([]), bytes_max: 64 << 20 }
    }
}

/// What happens when a run starts to edit files of a folder in which another run edits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SameFolder {
    /// The user is warned, and the run starts.
    #[default]
    Warn,
    /// The run starts without a word.
    Allow,
    /// The run does not start.
    Refuse,
}

impl SameFolder {
    /// The words of the setting.
    pub const WORDS: [&'static str; 3] = ["warn", "allow", "refuse"];

    /// The meaning of a word of the setting.
    pub fn of(word: &str) -> Option<Self> {
        Some(match word {
            "warn" => Self::Warn,
            "allow" => Self::Allow,
            "refuse" => Self::Refuse,
            _ => return None,
        })
    }
}
