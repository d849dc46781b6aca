//! What the list of runs shows, as it changes.
//!
//! Lists know of a run what its last commit wrote beside its events, so nothing is loaded here. Runs that are not over are the
//! ones that change; one that is among them no more is looked at once again.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::Bytes;
use longhaul_core::id::RunId;
use longhaul_core::status;
use longhaul_runtime::{Engine, Error};
use longhaul_store::{Query, RunRow};
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, broadcast, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Pieces, SIGN_OF_LIFE, event};
use crate::http::rows::row;

/// How often a run is told about at the most.
const AT_MOST: Duration = Duration::from_millis(250);
/// Runs that are read at once.
const PAGE: usize = 1000;
/// Rows that somebody may be behind.
const ROWS_MAX: usize = 2048;

/// What the list of runs shows.
#[derive(Clone)]
pub(super) struct Board {
    inner: Arc<Inner>,
}

struct Inner {
    engine: Engine,
    stop: CancellationToken,
    rows: broadcast::Sender<Bytes>,
    /// How many questions are open, once that is known.
    open: watch::Sender<Option<u64>>,
    is_kept: AtomicBool,
}

impl Board {
    pub(super) fn new(engine: Engine, stop: CancellationToken) -> Self {
        let (rows, _) = broadcast::channel(ROWS_MAX);
        let (open, is_kept) = (watch::Sender::new(None), AtomicBool::new(false));
        Self { inner: Arc::new(Inner { engine, stop, rows, open, is_kept }) }
    }

    /// Somebody looks at it.
    pub(super) fn view(&self, permit: OwnedSemaphorePermit) -> Viewer {
        let (rows, open) = (self.inner.rows.subscribe(), self.inner.open.subscribe());
        if !self.inner.is_kept.swap(true, Ordering::AcqRel) {
            tokio::spawn(keep(Arc::clone(&self.inner)));
        }
        Viewer { rows, open, told: None, stop: self.inner.stop.clone(), _permit: permit }
    }
}

/// Keeps the board for as long as somebody looks.
async fn keep(board: Arc<Inner>) {
    let mut changes = board.engine.changes();
    let mut known = Known::default();
    while board.rows.receiver_count() > 0 && !board.stop.is_cancelled() {
        changes.borrow_and_update();
        let began = Instant::now();
        // A store that does not answer now is asked again.
        let _ = look(&board, &mut known).await;
        // Looking at very many takes time that others need, too.
        let pause = AT_MOST.max(began.elapsed() * 8);
        tokio::time::sleep(pause).await;
        tokio::select! {
            () = board.stop.cancelled() => {}
            _ = changes.changed() => {}
            // Whether somebody still looks.
            () = tokio::time::sleep(SIGN_OF_LIFE) => {}
        }
    }
    board.open.send_replace(None);
    board.is_kept.store(false, Ordering::Release);
    if board.rows.receiver_count() > 0 && !board.is_kept.swap(true, Ordering::AcqRel) {
        tokio::spawn(again(board));
    }
}

/// Somebody came while it was about to be left.
fn again(board: Arc<Inner>) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(keep(board))
}

#[derive(Default)]
struct Known {
    /// The last event of each run that is not over.
    open: HashMap<RunId, u64>,
    is_begun: bool,
}

async fn look(board: &Inner, known: &mut Known) -> Result<(), Error> {
    let rows = open_rows(&board.engine).await?;
    let mut open = HashMap::with_capacity(rows.len());
    let mut asked = 0;
    for row_of in &rows {
        let shown = row(row_of);
        asked += shown.asks.unwrap_or_default();
        open.insert(row_of.run.clone(), row_of.last_seq);
        if known.is_begun && known.open.get(&row_of.run) != Some(&row_of.last_seq) {
            // Nobody who looks is fine.
            let _ = board.rows.send(event("run", None, &shown));
        }
    }
    let over: Vec<RunId> = known.open.keys().filter(|run| !open.contains_key(*run)).cloned().collect();
    for run in over {
        if let Some(last) = board.engine.row(&run).await? {
            let _ = board.rows.send(event("run", None, &row(&last)));
        }
    }
    *known = Known { open, is_begun: true };
    board.open.send_if_modified(|before| before.replace(asked) != Some(asked));
    Ok(())
}

async fn open_rows(engine: &Engine) -> Result<Vec<RunRow>, Error> {
    let mut rows: Vec<RunRow> = Vec::new();
    loop {
        let statuses = status::OPEN.map(str::to_owned).to_vec();
        let before = rows.last().map(|row| row.run.clone());
        let page = engine.list(Query { statuses, before, limit: PAGE, ..Query::default() }).await?;
        let is_last = page.len() < PAGE;
        rows.extend(page);
        if is_last {
            return Ok(rows);
        }
    }
}

/// Somebody who looks at the list.
pub(crate) struct Viewer {
    rows: broadcast::Receiver<Bytes>,
    open: watch::Receiver<Option<u64>>,
    /// What they were told last.
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
                // Who is too far behind begins again, with the list.
                piece = self.rows.recv() => return piece.ok(),
                known = self.open.changed() => known.ok()?,
                () = tokio::time::sleep(SIGN_OF_LIFE) => return Some(Bytes::from_static(b": \n\n")),
            }
        }
    }
}
