//! What can go wrong with a store: one variant for each thing that a caller can do about it.
//!
//! **Invariant:** after an error nothing of the call is stored, but for [`Error::AlreadyApplied`],
//! where all of it was stored before, and [`Error::Unsure`], [`Error::Io`] and [`Error::Closed`], where it may be: read the run again.

/// Why a store refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// What the append was decided from is out of date: the run has other events, or a message that
    /// it consumes is gone. Read the run again and decide again.
    #[error("the run has moved on; its last event is number {actual}")]
    Conflict {
        /// The last seq of the run.
        actual: u64,
    },
    /// These very events are stored already: an earlier try had succeeded. Continue.
    #[error("these events are stored already")]
    AlreadyApplied,
    /// The task is held by another worker, at another attempt, or ended. Stop, and kill the process tree.
    #[error("task `{key}` is not yours any more")]
    Fenced {
        /// The task.
        key: String,
    },
    /// There is no such run.
    #[error("there is no such run")]
    UnknownRun,
    /// What is to be made is there already: the run, an open task of this key, or an event of this id.
    #[error("it exists already")]
    Exists,
    /// A body, a blob or a snapshot above its limit.
    #[error("{what} has {bytes} bytes; the limit is {limit}")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Its size.
        bytes: usize,
        /// The most that is accepted.
        limit: usize,
    },
    /// The call contradicts itself. A mistake in the program that calls.
    #[error("{0}")]
    Invalid(&'static str),
    /// No space is left. Free some and try again.
    #[error("no space is left for the store")]
    Full,
    /// The machine is short of memory or threads. Nothing was done; end something and try again.
    #[error("the machine has too little memory for the store; end something: {0}")]
    Starved(String),
    /// Another process held the store for too long. Try again.
    #[error("another process is writing to the store")]
    Busy,
    /// The store cannot be written.
    #[error("the store is read-only")]
    ReadOnly,
    /// What is stored is not what was written. Restore a copy, or remove the run that is named.
    #[error("the store is damaged: {0}")]
    Corrupt(String),
    /// A newer program wrote the store. Use that one.
    #[error("the store has version {found}, this program knows versions up to {known}; use a newer longhaul")]
    TooNew {
        /// The version of the store.
        found: u32,
        /// The newest version that this program knows.
        known: u32,
    },
    /// Whoever asks may not do that. Asking again changes nothing.
    #[error("the store does not allow that: {0}")]
    Denied(String),
    /// The store does not answer. Nothing was done; see that it runs and can be reached, and try again.
    #[error("the store cannot be reached; nothing was done: {0}")]
    Unreachable(String),
    /// The store stopped answering while something was written, and has not come back. Once it is there, read the run again.
    #[error("the store cannot be reached, and whether the last write was kept is not known: {0}")]
    Unsure(String),
    /// The store has been closed.
    #[error("the store is closed")]
    Closed,
    /// The machine failed. The store accepts nothing until it is opened again.
    #[error("the store failed: {0}")]
    Io(String),
}
