//! The shelf of workflows: a journal of its own in the store, beside those of the runs.
//!
//! **Invariant:** what is written follows from the shelf as it is at that moment: of two who change the same thing, the second
//! one decides again on what the first one left.

use longhaul_core::id::RunId;
use longhaul_core::shelf::{Entry, Refusal, Shelf};
use longhaul_store::{Append, EventId, Head, NewEvent, Store};
use uuid::Uuid;

use crate::engine::{Engine, Error, Shared};
use crate::run::codec;
use crate::run::run_loop::moved_on;

/// The journal of the shelf. No run is called so.
pub(crate) const SHELF: &str = "longhaul-shelf";
/// Entries that are read at once.
const PAGE: usize = 500;
/// How often a change is decided again because others wrote first.
const TRIES: u32 = 50;

/// What somebody decided: an answer for the caller, and what is to be written.
pub type Decided<T> = Result<(T, Vec<Entry>), Refusal>;

impl Engine {
    /// What is on the shelf now.
    pub async fn shelf(&self) -> Result<Shelf, Error> {
        let mut shelf = self.shared.shelf.lock().await;
        refresh(self.shared.store.as_ref(), &mut shelf).await?;
        Ok(shelf.clone())
    }

    /// Writes what is decided on the shelf as it is, and on the newer one if somebody else wrote first. `decide` is told the
    /// shelf and the time.
    pub async fn change_shelf<T: Send>(
        &self,
        mut decide: impl FnMut(&Shelf, i64) -> Decided<T> + Send,
    ) -> Result<T, Error> {
        let mut shelf = self.shared.shelf.lock().await;
        for attempt in 0..=TRIES {
            refresh(self.shared.store.as_ref(), &mut shelf).await?;
            let now = self.shared.clock.now_ms();
            let (answer, entries) = decide(&shelf, now).map_err(|refusal| Error::Refused(refusal.0))?;
            match write(&self.shared, &mut shelf, &entries, now).await {
                Ok(()) => return Ok(answer),
                Err(error) if moved_on(&error) && attempt < TRIES => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::Refused("too many others write to the shelf at this moment; try again".to_owned()))
    }
}

/// What is on the shelf of a store, for those who only look.
pub async fn read_shelf(store: &dyn Store) -> Result<Shelf, Error> {
    let mut shelf = Shelf::default();
    refresh(store, &mut shelf).await?;
    Ok(shelf)
}

async fn write(shared: &Shared, shelf: &mut Shelf, entries: &[Entry], now: i64) -> Result<(), Error> {
    if entries.is_empty() {
        return Ok(());
    }
    let mut blobs = Vec::new();
    let mut events = Vec::with_capacity(entries.len());
    for entry in entries {
        let body = codec::body(entry, &mut blobs)?;
        events.push(NewEvent { id: EventId(Uuid::now_v7().as_u128()), at_ms: now, body });
    }
    let before = shelf.seq;
    let mut append = Append::new(journal(), before, events);
    append.blobs = blobs;
    append.head = (before == 0).then(head);
    shared.store.append(append).await?;
    for (seq, entry) in (before + 1..).zip(entries) {
        shelf.apply(seq, now, entry);
    }
    Ok(())
}

/// Reads what is new.
async fn refresh(store: &dyn Store, shelf: &mut Shelf) -> Result<(), Error> {
    loop {
        let rows = match store.read(&journal(), shelf.seq, PAGE).await {
            Err(longhaul_store::Error::UnknownRun) => return Ok(()),
            rows => rows?,
        };
        for row in &rows {
            let entry: Entry = codec::what(&row.body, store).await?;
            shelf.apply(row.seq, row.at_ms, &entry);
        }
        if rows.len() < PAGE {
            return Ok(());
        }
    }
}

#[expect(clippy::expect_used, reason = "the name follows the grammar; a test opens it")]
fn journal() -> RunId {
    RunId::new(SHELF).expect("the name follows the grammar")
}

fn head() -> Head {
    Head { workflow: SHELF.to_owned(), status: "shelf".to_owned(), summary: "null".to_owned(), ..Head::default() }
}
