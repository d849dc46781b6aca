//! Prepares runs from a store that only one machine used.

use longhaul_core::status::RunStatus;
use longhaul_store::{NewMessage, Query, Store};

use crate::engine::Error;
use crate::run::message::Message;

/// Tells unfinished runs that their files are on this machine. The files of a run that has started are here. If a run
/// has done nothing yet, its project is unknown.
pub async fn settle(store: &dyn Store, host: String, now_ms: i64) -> Result<(), Error> {
    let body = serde_json::to_string(&Message::HostSettled { host }).map_err(Error::encoding)?;
    let statuses = RunStatus::words_of(RunStatus::OPEN);
    for row in store.runs(Query { statuses, limit: usize::MAX >> 1, ..Query::default() }).await? {
        let dedup = format!("{} came from a file", row.run);
        let (source, body, at_ms) = ("copy".to_owned(), body.clone(), now_ms);
        store.post(NewMessage { run: row.run, source, dedup, body, at_ms }).await?;
    }
    Ok(())
}
