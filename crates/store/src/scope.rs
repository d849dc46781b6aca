//! The rights of a worker that has a login of its own.
//!
//! **Invariant:** a worker with a login writes no history. It claims tasks, renews their leases, and reports on tasks
//! that it holds. The engine records its reports, or refuses them.

use longhaul_core::id::RunId;

use crate::{Pending, Task, WorkerId};

/// The largest report that is accepted.
pub const REPORT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The calls of a login, besides reading its work, claiming, renewing, and greeting.
pub trait LoginScope: Send + Sync {
    /// The name of the login.
    fn login(&self) -> &str;

    /// The labels that the login may have, if known; `None` means all, or unknown. The store checks labels by itself.
    fn labels(&self) -> Option<&[String]>;

    /// Puts a report of a worker about a task into the inbox of its run, once. If the worker does not hold the task
    /// at this attempt: [`crate::Error::Fenced`].
    fn report(&self, report: WorkReport) -> Pending<'_, ()>;

    /// Gives `worker` the tasks of another worker of the same login, until `until_ms`. Returns all tasks that
    /// `worker` holds.
    fn inherit(&self, worker: &WorkerId, from: &WorkerId, until_ms: i64) -> Pending<'_, Vec<Task>>;
}

/// A report of a worker about a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkReport {
    /// The worker that holds the task.
    pub worker: WorkerId,
    /// The run of the task.
    pub run: RunId,
    /// The key of the task.
    pub key: String,
    /// The attempt of the task.
    pub attempt: u32,
    /// The text of the report, at most [`REPORT_BYTES_MAX`].
    pub text: String,
    /// The time of the report, in milliseconds since 1970.
    pub at_ms: i64,
}

impl WorkerId {
    /// The same worker, marked with a login.
    pub fn of_login(&self, login: &str) -> Self {
        Self(format!("{}:@{login}", self.0))
    }

    /// The login of the worker, if it has one.
    pub fn login(&self) -> Option<&str> {
        self.0.rsplit_once(":@").map(|(_, login)| login)
    }
}
