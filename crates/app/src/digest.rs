//! Reports about the runs of one project, or of all projects of a user.

use std::path::PathBuf;

use anyhow::Result;
use longhaul_core::digest::Digest;
use longhaul_project::{place, state};
use longhaul_runtime::{Engine, EngineOptions};
use longhaul_store::StoreAddress;

use crate::open_store;

/// The report about one of several projects.
pub struct OfProject {
    /// The folder of the project.
    pub project: PathBuf,
    /// Its report, or why it cannot be made.
    pub digest: Result<Digest>,
}

/// The reports about all projects of this user whose runs are in their usual place, ordered by folder. Must run inside
/// a Tokio runtime.
pub async fn of_all(since: i64) -> Result<Vec<OfProject>> {
    let mut reports = Vec::new();
    for (project, folder) in state::all()? {
        let file = folder.join(place::FILE);
        if file.is_file() {
            reports.push(OfProject { project, digest: of_store(StoreAddress::File(file), since).await });
        }
    }
    reports.sort_by(|a, b| a.project.cmp(&b.project));
    Ok(reports)
}

async fn of_store(place: StoreAddress, since: i64) -> Result<Digest> {
    let (store, clock) = open_store::store(&place)?;
    Ok(Engine::new(store, clock, EngineOptions::default()).digest(since).await?)
}
