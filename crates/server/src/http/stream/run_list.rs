//! Streams changes of the list of runs.
//!
//! Each commit also writes the row of its run, so no run has to be loaded. The store signals each write. Then the list
//! reads unfinished runs, runs that are newer than the newest known one, and runs that have just finished. So a run
//! that starts and ends between two reads is not missed.
//!
//! **Invariant:** after the first `questions`, every viewer gets every run that starts, changes or ends.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::Bytes;
use longhaul_core::id::RunId;
use longhaul_core::status::RunStatus;
use longhaul_runtime::{Engine, Error};
use longhaul_store::{Query, RunRow};
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, broadcast, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Pieces, SIGN_OF_LIFE, event};
use crate::http::rows::{attended_row, row};

/// The shortest time between two updates of a run.
const AT_MOST: Duration = Duration::from_millis(250);
/// How often to look for finished runs that another process has continued and finished again.
const SWEEP: Duration = Duration::from_secs(2);
/// How late the clock of another machine, or a commit that waited for space, may be.
const LATE_MS: i64 = 5 * 60 * 1000;
/// How many runs to read at once.
const PAGE: usize = 1000;
/// How many rows a viewer may be behind.
const ROWS_MAX: usize = 2048;

/// The list of runs, as viewers see it.
#[derive(Clone)]
pub(super) struct RunList {
    inner: Arc<Inner>,
}

struct Inner {
    engine: Engine,
    stop: CancellationToken,
    rows: broadcast::Sender<Bytes>,
    /// How many questions are open, once it is known.
    open: watch::Sender<Option<u64>>,
    is_kept: AtomicBool,
}

impl RunList {
    pub(super) fn new(engine: Engine, stop: CancellationToken) -> Self {
        let (rows, _) = broadcast::channel(ROWS_MAX);
        let (open, is_kept) = (watch::Sender::new(None), AtomicBool::new(false));
        Self { inner: Arc::new(Inner { engine, stop, rows, open, is_kept }) }
    }

    /// Adds a viewer.
    pub(super) fn view(&self, permit: OwnedSemaphorePermit) -> Viewer {
        let (rows, open) = (self.inner.rows.subscribe(), self.inner.open.subscribe());
        if !self.inner.is_kept.swap(true, Ordering::AcqRel) {
            tokio::spawn(keep(Arc::clone(&self.inner)));
        }
        Viewer { rows, open, told: None, stop: self.inner.stop.clone(), _permit: permit }
    }
}

/// Updates the list while there are viewers.
async fn keep(board: Arc<Inner>) {
    let mut changes = board.engine.changes();
    let mut known = Known::default();
    while board.rows.receiver_count() > 0 && !board.stop.is_cancelled() {
        changes.borrow_and_update();
        let began = Instant::now();
        // If the store does not answer, ask again later.
        let _ = look(&board, &mut known).await;
        // A check of very many runs takes time that other work needs, so pause longer.
        let pause = AT_MOST.max(began.elapsed() * 8);
        tokio::time::sleep(pause).await;
        tokio::select! {
            () = board.stop.cancelled() => {}
            _ = changes.changed() => {}
            // Check whether there are still viewers.
            () = tokio::time::sleep(if known.is_behind { SWEEP } else { SIGN_OF_LIFE }) => {}
        }
    }
    board.open.send_replace(None);
    board.is_kept.store(false, Ordering::Release);
    if board.rows.receiver_count() > 0 && !board.is_kept.swap(true, Ordering::AcqRel) {
        tokio::spawn(again(board));
    }
}

/// Starts again if a viewer came just before the end.
fn again(board: Arc<Inner>) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(keep(board))
}

/// What the viewers know.
#[derive(Default)]
struct Known {
    /// Unfinished runs, and finished runs that changed not long ago.
    told: HashMap<RunId, Told>,
    /// The run that was created last.
    newest: Option<RunId>,
    /// When recently changed runs were last read.
    swept: Option<Instant>,
    /// Whether the last look did not read recently changed runs.
    is_behind: bool,
    is_begun: bool,
}

struct Told {
    last_seq: u64,
    is_open: bool,
}

impl Known {
    /// The rows that are new or have changed, once each, oldest first.
    fn news(&mut self, mut rows: Vec<RunRow>) -> Vec<RunRow> {
        // Of two reads of the same run, the later one counts.
        rows.sort_by(|one, other| {
            (one.created_ms, &one.run, other.last_seq).cmp(&(other.created_ms, &other.run, one.last_seq))
        });
        rows.dedup_by(|one, other| one.run == other.run);
        let open = RunStatus::words_of(RunStatus::OPEN);
        let is_begun = std::mem::replace(&mut self.is_begun, true);
        rows.retain(|row| {
            let told = Told { last_seq: row.last_seq, is_open: open.contains(&row.head.status) };
            let before = self.told.insert(row.run.clone(), told);
            is_begun && before.is_none_or(|before| before.last_seq != row.last_seq)
        });
        rows
    }
}

/// Looks at the runs that can have changed: unfinished ones, new ones, and from time to time finished ones, because
/// another process may have continued a finished run and finished it again.
async fn look(board: &Inner, known: &mut Known) -> Result<(), Error> {
    if !known.is_begun {
        known.newest = newest(&board.engine).await?;
    }
    let mut open = open_rows(&board.engine).await?;
    let mut rows = just_finished(&board.engine, known, &open).await?;
    rows.extend(new_rows(&board.engine, known).await?);
    known.is_behind = known.swept.is_some_and(|swept| swept.elapsed() < SWEEP);
    if !known.is_behind {
        rows.extend(recent_rows(&board.engine, known).await?);
    }
    let asked = open.iter().map(|row_of| row(row_of).asks.unwrap_or_default()).sum();
    rows.append(&mut open);
    // Nothing may fail after this: the next look takes these rows as told.
    let attendance = board.engine.attendance().await?;
    for row_of in &known.news(rows) {
        // No viewer is fine.
        let _ = board.rows.send(event("run", None, &attended_row(row_of, &attendance)));
    }
    board.open.send_if_modified(|before| before.replace(asked) != Some(asked));
    Ok(())
}

/// Runs that were unfinished at the last look.
async fn just_finished(engine: &Engine, known: &mut Known, open: &[RunRow]) -> Result<Vec<RunRow>, Error> {
    let still: HashSet<&RunId> = open.iter().map(|row| &row.run).collect();
    let over = known.told.iter().filter(|(run, told)| told.is_open && !still.contains(run));
    let over: Vec<RunId> = over.map(|(run, _)| run.clone()).collect();
    let mut rows = Vec::new();
    for run in over {
        match engine.row(&run).await? {
            Some(row) => rows.push(row),
            None => drop(known.told.remove(&run)),
        }
    }
    Ok(rows)
}

/// Runs that were created since the last look.
async fn new_rows(engine: &Engine, known: &mut Known) -> Result<Vec<RunRow>, Error> {
    match pages(engine, Query { after: known.newest.clone(), ..Query::default() }).await {
        Ok(rows) => {
            known.newest = rows.first().map(|row| row.run.clone()).or(known.newest.take());
            Ok(rows)
        }
        // The newest run was removed: new runs are among those that changed recently.
        Err(Error::Store(longhaul_store::Error::UnknownRun)) => {
            known.newest = newest(engine).await?;
            known.swept = None;
            Ok(Vec::new())
        }
        Err(error) => Err(error),
    }
}

/// Runs that changed not long ago.
async fn recent_rows(engine: &Engine, known: &mut Known) -> Result<Vec<RunRow>, Error> {
    let from = engine.now_ms() - LATE_MS;
    let rows = pages(engine, Query { updated_from_ms: Some(from), ..Query::default() }).await?;
    let recent: HashSet<&RunId> = rows.iter().map(|row| &row.run).collect();
    known.told.retain(|run, told| told.is_open || recent.contains(run));
    known.swept = Some(Instant::now());
    Ok(rows)
}

async fn newest(engine: &Engine) -> Result<Option<RunId>, Error> {
    Ok(engine.list(Query { limit: 1, ..Query::default() }).await?.pop().map(|row| row.run))
}

async fn open_rows(engine: &Engine) -> Result<Vec<RunRow>, Error> {
    pages(engine, Query { statuses: RunStatus::words_of(RunStatus::OPEN), ..Query::default() }).await
}

/// All runs that match, page by page.
async fn pages(engine: &Engine, query: Query) -> Result<Vec<RunRow>, Error> {
    let mut rows: Vec<RunRow> = Vec::new();
    loop {
        let before = rows.last().map(|row| row.run.clone());
        let page = engine.list(Query { before, limit: PAGE, ..query.clone() }).await?;
        let is_last = page.len() < PAGE;
        rows.extend(page);
        if is_last {
            return Ok(rows);
        }
    }
}

/// A viewer of the list.
pub(crate) struct Viewer {
    rows: broadcast::Receiver<Bytes>,
    open: watch::Receiver<Option<u64>>,
    /// The last number of questions that was sent.
    told: Option<u64>,
    stop: CancellationToken,
    _permit: OwnedSemaphorePermit,
}

impl Pieces for Viewer {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            let open = *self.open.borrow_and_update();
            if let Some(open) = open.filter(|open| self.told != Some(*open)) {
                self.told = Some(open);
                return Some(event("questions", None, &json!({"open": open})));
            }
            tokio::select! {
                () = self.stop.cancelled() => return None,
                // The stream of a viewer that is too far behind ends. The client connects again and starts with the
                // list.
                piece = self.rows.recv() => return piece.ok(),
                known = self.open.changed() => known.ok()?,
                () = tokio::time::sleep(SIGN_OF_LIFE) => return Some(Bytes::from_static(b": \n\n")),
            }
        }
    }
}
