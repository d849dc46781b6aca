//! What somebody may do who may not do everything: a worker with a login of its own.
//!
//! **Invariant:** a worker with a login writes no history. It takes tasks, keeps them, and reports on those that it holds; whoever
//! may write records what it reports, or does not.

use longhaul_core::id::RunId;

use crate::{Pending, Task, WorkerId};

/// The largest report that is accepted.
pub const REPORT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// What a login may do beside reading what it works on, claiming, renewing, and saying that it is there.
pub trait LoginScope: Send + Sync {
    /// The login.
    fn login(&self) -> &str;

    /// The labels that it may have, as far as it was told; `None` if all, or if nobody told it. The store goes by what it knows itself.
    fn labels(&self) -> Option<&[String]>;

    /// Puts what a worker says about a task into the inbox of its run, once. A task that it does not hold at this attempt
    /// is [`crate::Error::Fenced`].
    fn report(&self, report: WorkReport) -> Pending<'_, ()>;

    /// Holds what another worker of the same login held, until `until_ms`; answers all that `worker` holds.
    fn inherit(&self, worker: &WorkerId, from: &WorkerId, until_ms: i64) -> Pending<'_, Vec<Task>>;
}

/// What a worker says about a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkReport {
    /// Who holds it.
    pub worker: WorkerId,
    /// Its run.
    pub run: RunId,
    /// Its key.
    pub key: String,
    /// Its attempt.
    pub attempt: u32,
    /// What is said; at most [`REPORT_BYTES_MAX`].
    pub text: String,
    /// When.
    pub at_ms: i64,
}

impl WorkerId {
    /// The same worker, as one of a login.
    pub fn of_login(&self, login: &str) -> Self {
        Self(format!("{}:@{login}", self.0))
    }

    /// The login that a worker has.
    pub fn login(&self) -> Option<&str> {
        self.0.rsplit_once(":@").map(|(_, login)| login)
    }
}
