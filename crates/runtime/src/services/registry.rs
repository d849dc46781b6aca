//! The registry of workflows: a separate journal in the store.
//!
//! **Invariant:** each change follows from the current registry. If two callers change the same thing, the second one
//! decides again on the result of the first.

use std::time::Duration;

use longhaul_core::id::RunId;
use longhaul_core::registry::{Registry, RegistryEntry};
use longhaul_core::rejection::Rejection;
use longhaul_store::{Append, EventId, Head, NewEvent, Store, StoreAddress};
use uuid::Uuid;

use crate::engine::{Engine, Error, Shared};
use crate::run::codec;
use crate::run::run_loop::moved_on;

/// The id of the registry's journal. No run can have it.
pub(crate) const REGISTRY: &str = "longhaul-shelf";
/// How many entries to read at once.
const PAGE: usize = 500;
/// How often to decide a change again because others wrote first.
const TRIES: u32 = 50;

/// How long to wait for a store that does not answer. The caller may not need it.
const PATIENCE: Duration = Duration::from_secs(3);

/// A decision: an answer for the caller, and the entries to write.
pub type Decided<T> = Result<(T, Vec<RegistryEntry>), Rejection>;

impl Engine {
    /// The current registry.
    pub async fn registry(&self) -> Result<Registry, Error> {
        let mut shelf = self.shared.registry.lock().await;
        refresh(self.shared.store.as_ref(), &mut shelf).await?;
        Ok(shelf.clone())
    }

    /// Writes the entries that `decide` derives from the registry and the time. If another process wrote first, it
    /// reads the registry again and repeats this.
    pub async fn change_registry<T: Send>(
        &self,
        mut decide: impl FnMut(&Registry, i64) -> Decided<T> + Send,
    ) -> Result<T, Error> {
        let mut shelf = self.shared.registry.lock().await;
        for attempt in 0..=TRIES {
            refresh(self.shared.store.as_ref(), &mut shelf).await?;
            let now = self.shared.clock.now_ms();
            let (answer, entries) = decide(&shelf, now)?;
            match write(&self.shared, &mut shelf, &entries, now).await {
                Ok(()) => return Ok(answer),
                Err(error) if moved_on(&error) && attempt < TRIES => {}
                Err(error) => return Err(error),
            }
        }
        Err(Rejection::busy("too many processes write to the registry at the same time; try again").into())
    }
}

/// The registry of a store that is not open, for commands that only look for a workflow. `None` if the store is missing
/// or does not answer soon. A separate thread reads it, because the caller may be inside an async runtime.
pub fn registry_of(store: &StoreAddress) -> Option<Registry> {
    if store.file().is_some_and(|file| !file.is_file()) {
        return None;
    }
    let store = store.clone();
    std::thread::Builder::new().spawn(move || read_alone(&store)).ok()?.join().ok()?
}

fn read_alone(store: &StoreAddress) -> Option<Registry> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    runtime.block_on(async {
        let store = store.open(PATIENCE).await.ok()?;
        read_registry(store.as_ref()).await.ok()
    })
}

async fn read_registry(store: &dyn Store) -> Result<Registry, Error> {
    let mut shelf = Registry::default();
    refresh(store, &mut shelf).await?;
    Ok(shelf)
}

async fn write(shared: &Shared, shelf: &mut Registry, entries: &[RegistryEntry], now: i64) -> Result<(), Error> {
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

/// Reads new entries.
async fn refresh(store: &dyn Store, shelf: &mut Registry) -> Result<(), Error> {
    loop {
        let rows = match store.read(&journal(), shelf.seq, PAGE).await {
            Err(longhaul_store::Error::UnknownRun) => return Ok(()),
            rows => rows?,
        };
        for row in &rows {
            let entry: RegistryEntry = codec::what(&row.body, store).await?;
            shelf.apply(row.seq, row.at_ms, &entry);
        }
        if rows.len() < PAGE {
            return Ok(());
        }
    }
}

#[expect(clippy::expect_used, reason = "the name follows the grammar; a test opens it")]
fn journal() -> RunId {
    RunId::new(REGISTRY).expect("the name follows the grammar")
}

fn head() -> Head {
    Head { workflow: REGISTRY.to_owned(), status: "shelf".to_owned(), summary: "null".to_owned(), ..Head::default() }
}
