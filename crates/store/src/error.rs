//! The errors of a store: one variant for each reaction of a caller.
//!
//! **Invariant:** after an error nothing of the call is stored, with these exceptions. After
//! [`Error::AlreadyApplied`] all of it was stored before. After [`Error::Unsure`], [`Error::Io`] and
//! [`Error::Closed`] it may be stored: read the run again.

/// Why a store refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The append was decided from old data: the run has other events, or a message that it consumes is gone. Read
    /// the run again and decide again.
    #[error("the run has changed meanwhile; its last event is number {actual}")]
    Conflict {
        /// The last seq of the run.
        actual: u64,
    },
    /// The same events are stored already: an earlier try succeeded. Continue.
    #[error("these events are stored already")]
    AlreadyApplied,
    /// Another worker holds the task, it has another attempt, or it ended. Stop, and kill the process tree.
    #[error("this worker no longer holds task `{key}`")]
    Fenced {
        /// The key of the task.
        key: String,
    },
    /// There is no such run.
    #[error("there is no such run")]
    UnknownRun,
    /// The run, an open task with this key, or an event with this id exists already.
    #[error("it exists already")]
    Exists,
    /// A body, a blob or a snapshot above its limit.
    #[error("{what} has {bytes} bytes; the limit is {limit}")]
    TooLarge {
        /// The kind of value: a body, a blob or a snapshot.
        what: &'static str,
        /// Its size in bytes.
        bytes: usize,
        /// The largest accepted size.
        limit: usize,
    },
    /// The call contradicts itself. This is a bug in the calling program.
    #[error("{0}")]
    Invalid(&'static str),
    /// No space is left. Free some and try again.
    #[error("no space is left for the store")]
    Full,
    /// The machine is short of memory or threads. Nothing was done. Free some and try again.
    #[error("the machine has too little memory for the store; stop other programs: {0}")]
    Starved(String),
    /// Another process held the store for too long. Try again.
    #[error("another process is writing to the store")]
    Busy,
    /// The store cannot be written.
    #[error("the store is read-only")]
    ReadOnly,
    /// Stored data is damaged. Restore a copy, or remove the run that is named.
    #[error("the store is damaged: {0}")]
    Corrupt(String),
    /// A newer version of the program wrote the store. Use that version.
    #[error("the store has version {found}, this program knows versions up to {known}; use a newer longhaul")]
    TooNew {
        /// The version of the store.
        found: u32,
        /// The newest version that this program knows.
        known: u32,
    },
    /// The database has a role with this name that is not a login of the store.
    #[error("the database already has a role of this name: {0}")]
    RoleTaken(String),
    /// The caller does not have the right. Trying again does not help.
    #[error("the store does not allow that: {0}")]
    Denied(String),
    /// The store does not answer. Nothing was done. Check that it runs and can be reached, and try again.
    #[error("the store cannot be reached; nothing was done: {0}")]
    Unreachable(String),
    /// The store stopped answering during a write and has not come back. Once it answers, read the run again.
    #[error("the store cannot be reached; the last write may or may not be stored: {0}")]
    Unsure(String),
    /// The store has been closed.
    #[error("the store is closed")]
    Closed,
    /// The machine failed. The store accepts nothing until a process opens it again.
    #[error("the store failed: {0}")]
    Io(String),
}
