//! Letting go of runs that are over.

use std::path::Path;
use std::time::Duration;

use longhaul_core::id::RunId;
use longhaul_core::status;
use longhaul_store::{Query, RunRow};

use crate::engine::{Engine, Error};
use crate::execute::workspace::sync;
use crate::run::damaged;

/// Runs that are looked at in one go; what is beyond is found the next time.
const RUNS_MAX: usize = 100_000;

impl Engine {
    /// Runs that have been over for longer than `age`, without the newest `keep` of all that are over.
    pub async fn old_runs(&self, age: Duration, keep: usize) -> Result<Vec<RunRow>, Error> {
        let statuses = status::OVER.map(str::to_owned).to_vec();
        let rows = self.list(Query { statuses, limit: RUNS_MAX, ..Query::default() }).await?;
        let age_ms = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
        let last_ms = self.shared.clock.now_ms().saturating_sub(age_ms);
        Ok(rows.into_iter().skip(keep).filter(|row| row.updated_ms <= last_ms).collect())
    }

    /// Forgets a run with its files, after it was written into a file of a folder, where one is given. Killed in between, nothing is
    /// lost: the file is there, and the next one continues.
    pub async fn put_away(&self, run: &RunId, archive: Option<&Path>) -> Result<(), Error> {
        if let Some(folder) = archive {
            let (_, last_seq) = self.archive(run, folder).await?;
            let now = self.shared.store.run(run).await?.map(|row| row.last_seq);
            if now.is_some_and(|now| now != last_seq) {
                return Err(Error::Refused(format!("{run} continued meanwhile")));
            }
        }
        self.remove(run).await
    }

    /// Forgets a run with its files. One that is not over is refused.
    pub async fn remove(&self, run: &RunId) -> Result<(), Error> {
        let is_over = match self.load(run).await {
            Err(error) if error.is_damage() => self.row(run).await?.is_some_and(|row| damaged::is_over(&row)),
            loaded => loaded?.state.is_finished(),
        };
        if !is_over {
            return Err(Error::Refused(format!("{run} is not over; cancel it first")));
        }
        // Whether a remote can be reached decides nothing about what is here.
        let _ = sync::forget(&self.shared, run, true).await;
        // Files first: while the run is there, somebody can finish what was begun here.
        match std::fs::remove_dir_all(self.shared.artifacts.run(run)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        Ok(self.shared.store.remove(run).await?)
    }
}
