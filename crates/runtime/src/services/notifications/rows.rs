//! The open notifications of runs, from their rows in the store.

use std::collections::HashSet;

use longhaul_core::id::RunId;
use longhaul_core::notification::{NotificationKind, OpenNotification};
use longhaul_core::status::RunStatus;
use longhaul_core::view::Brief;
use longhaul_store::{Query, RunRow};

use crate::engine::{Error, Shared};
use crate::fleet::roster;

/// How many rows to read at once.
const PAGE: usize = 1000;
/// How many finished runs to look at, newest first. Those of this process are looked at when they end.
const OVER_MAX: usize = 1000;
const DAY_MS: i64 = 24 * 3_600_000;

/// The open notifications of some runs.
pub(super) async fn of_runs(shared: &Shared, runs: &HashSet<RunId>) -> Result<Vec<OpenNotification>, Error> {
    let mut rows = Vec::new();
    for run in runs.iter().filter(|run| !run.is_reserved()) {
        rows.extend(shared.store.run(run).await?);
    }
    wanted(shared, rows.iter().flat_map(pending).collect()).await
}

/// The open notifications of all runs that are open, and of the newest that are over. Also whether there is something
/// to report: a run that is open, or that ended within a day.
pub(super) async fn of_all(shared: &Shared) -> Result<(Vec<OpenNotification>, bool), Error> {
    let (mut found, mut has_news) = (Vec::new(), false);
    let mut query = Query { statuses: RunStatus::words_of(RunStatus::OPEN), limit: PAGE, ..Query::default() };
    loop {
        let rows = shared.store.runs(query.clone()).await?;
        has_news |= rows.iter().any(|row| row.head.status != RunStatus::Stopped.word());
        found.extend(rows.iter().flat_map(pending));
        query.before = rows.last().map(|row| row.run.clone());
        if rows.len() < PAGE {
            break;
        }
    }
    let over = RunStatus::words_of([RunStatus::Failed, RunStatus::Succeeded]);
    let rows = shared.store.runs(Query { statuses: over, limit: OVER_MAX, ..Query::default() }).await?;
    let now = shared.clock.now_ms();
    has_news |= rows.iter().any(|row| now - row.updated_ms < DAY_MS);
    found.extend(rows.iter().flat_map(pending));
    Ok((wanted(shared, found).await?, has_news))
}

/// Leaves out steps that wait for a worker while one is there.
async fn wanted(shared: &Shared, mut found: Vec<OpenNotification>) -> Result<Vec<OpenNotification>, Error> {
    let is_worker = |one: &OpenNotification| one.notification.kind == NotificationKind::Worker;
    if found.iter().any(is_worker) {
        let (workers, now) = (shared.store.workers().await?, shared.clock.now_ms());
        found.retain(|one| !is_worker(one) || roster::missing(&workers, &one.notification.labels, now).is_some());
    }
    Ok(found)
}

/// The open notifications in a row. A row of an earlier version has none.
fn pending(row: &RunRow) -> Vec<OpenNotification> {
    let Ok(brief) = serde_json::from_str::<Brief>(&row.head.summary) else { return Vec::new() };
    let of = |notification| OpenNotification {
        run: row.run.clone(),
        workflow: row.head.workflow.clone(),
        task: brief.line.task.clone(),
        notification,
    };
    brief.notifications.iter().cloned().map(of).collect()
}
