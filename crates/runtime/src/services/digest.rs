//! The report of the runs of a store.

use longhaul_core::digest::{Digest, DigestRow, Planned, digest};
use longhaul_core::registry::schedule::Times;
use longhaul_core::registry::trigger::TriggerDefinition;
use longhaul_core::status::RunStatus;
use longhaul_core::view::Brief;
use longhaul_store::{Query, RunRow};

use crate::engine::{Engine, Error};
use crate::run::attendance::Attendance;

/// How many rows to read at once.
const PAGE: usize = 1000;
/// How far ahead the report looks.
const AHEAD_MS: i64 = 24 * 3_600_000;

impl Engine {
    /// The report of the time since a moment. It reads the row of every run, and loads none.
    pub async fn digest(&self, since: i64) -> Result<Digest, Error> {
        let mut rows = Vec::new();
        let mut before = None;
        // The notes of processes that drive a run are beside the runs. A reader that does not know that place cannot
        // tell that nobody is there.
        let attendance = match self.shared.options.runs_dir.is_absolute() {
            true => Some(self.attendance().await?),
            false => None,
        };
        loop {
            let page = self.list(Query { before: before.take(), limit: PAGE, ..Query::default() }).await?;
            before = page.last().map(|row| row.run.clone());
            let is_last = page.len() < PAGE;
            rows.extend(page.iter().map(|listed| row(listed, attendance.as_ref())));
            if is_last {
                break;
            }
        }
        Ok(digest(&rows, self.planned().await?, since, self.now_ms()))
    }

    /// The next time of each schedule within a day.
    async fn planned(&self) -> Result<Vec<Planned>, Error> {
        let (registry, now) = (self.registry().await?, self.now_ms());
        let next = registry.triggers().filter(|(_, armed)| armed.trigger.enabled).filter_map(|(id, armed)| {
            let TriggerDefinition::Schedule(schedule) = &armed.trigger.kind else { return None };
            let at = Times::of(schedule).ok()?.after(now).filter(|at| at - now < AHEAD_MS)?;
            let starts = armed.trigger.workflow.as_deref().unwrap_or("a prompt");
            Some(Planned { at, what: format!("trigger {} ({id}) starts {starts}", armed.trigger.name) })
        });
        Ok(next.collect())
    }
}

/// A row of the store. A summary that cannot be read counts with its status alone.
fn row(row: &RunRow, attendance: Option<&Attendance>) -> DigestRow {
    let brief: Brief = serde_json::from_str(&row.head.summary).unwrap_or_default();
    let is_over = row.head.status.parse().is_ok_and(RunStatus::is_over);
    DigestRow {
        run: row.run.clone(),
        workflow: row.head.workflow.clone(),
        status: row.head.status.clone(),
        updated_at: row.updated_ms,
        is_attended: is_over || brief.is_hosted || attendance.is_none_or(|attendance| attendance.has(&row.run)),
        brief,
    }
}
