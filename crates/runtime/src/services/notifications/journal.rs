//! The journal of what was sent: a separate journal in the store, written by compare-and-set.

use longhaul_core::id::RunId;
use longhaul_core::notification::{NotifyEntry, NotifyLedger};
use longhaul_store::{Append, EventId, Head, NewEvent, Store};
use uuid::Uuid;

use crate::engine::{Error, Shared};
use crate::run::run_loop::moved_on;

/// The id of the journal. No run can have it.
pub(crate) const NOTIFY: &str = "longhaul-notify";
/// How many entries to read at once.
const PAGE: usize = 500;
/// How often to record a result again because others wrote first.
const TRIES: u32 = 50;

/// Reads new entries. An entry of another version is counted, and has no effect.
pub(super) async fn refresh(store: &dyn Store, ledger: &mut NotifyLedger) -> Result<(), Error> {
    loop {
        let rows = match store.read(&id(), ledger.seq, PAGE).await {
            Err(longhaul_store::Error::UnknownRun) => return Ok(()),
            rows => rows?,
        };
        for row in &rows {
            match serde_json::from_str::<NotifyEntry>(&row.body) {
                Ok(entry) => ledger.apply(row.seq, row.at_ms, &entry),
                Err(_) => ledger.seq = row.seq,
            }
        }
        if rows.len() < PAGE {
            return Ok(());
        }
    }
}

/// Writes an entry. False if another process wrote first.
pub(super) async fn write(shared: &Shared, ledger: &mut NotifyLedger, entry: &NotifyEntry) -> Result<bool, Error> {
    let body = serde_json::to_string(entry).map_err(Error::encoding)?;
    let at_ms = shared.clock.now_ms();
    let event = NewEvent { id: EventId(Uuid::now_v7().as_u128()), at_ms, body };
    let mut append = Append::new(id(), ledger.seq, vec![event]);
    append.head = (ledger.seq == 0).then(head);
    match shared.store.append(append).await.map_err(Error::from) {
        Ok(seq) => {
            ledger.apply(seq, at_ms, entry);
            Ok(true)
        }
        Err(error) if moved_on(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Writes an entry after whatever others have written.
pub(super) async fn record(shared: &Shared, entry: &NotifyEntry) -> Result<(), Error> {
    let mut ledger = shared.notified.lock().await;
    for _ in 0..TRIES {
        refresh(shared.store.as_ref(), &mut ledger).await?;
        if write(shared, &mut ledger, entry).await? {
            return Ok(());
        }
    }
    Ok(())
}

#[expect(clippy::expect_used, reason = "the name follows the grammar; a test opens it")]
pub(super) fn id() -> RunId {
    RunId::new(NOTIFY).expect("the name follows the grammar")
}

fn head() -> Head {
    Head { workflow: NOTIFY.to_owned(), status: "notify".to_owned(), summary: "null".to_owned(), ..Head::default() }
}
