//! The recent events of one run, formatted once for all watchers.
//!
//! **Invariant:** events leave in the order of the journal and without a gap. A watcher that is too far behind reads
//! the journal until it has caught up; no other watcher waits for it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use longhaul_core::event::{Envelope, Event};
use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_core::state::State;
use longhaul_runtime::TranscriptLine;
use serde_json::json;
use tokio::sync::watch;

use super::event;

/// The most pieces to keep.
const PIECES_MAX: usize = 4096;
/// The most bytes to keep.
const BYTES_MAX: usize = 8 << 20;
/// The most bytes to return at once.
const BATCH_BYTES: usize = 256 << 10;

/// The recent events of one run.
pub(super) struct RingBuffer {
    pub(super) run: RunId,
    ring: Mutex<Ring>,
    news: watch::Sender<u64>,
}

struct Ring {
    pieces: VecDeque<Piece>,
    bytes: usize,
    /// The number of the first piece.
    first: u64,
    /// The last event that is no longer in the buffer.
    floor: u64,
    /// The last event.
    seq: u64,
    is_gone: bool,
    /// The number of the next transcript entry, by attempt.
    spoken: HashMap<Tried, u64>,
    /// Running attempts, and whether they were running before the first watcher came.
    open: HashMap<Tried, bool>,
}

/// An attempt at a step.
pub(super) type Tried = (StepPath, u32);

enum Piece {
    Journal(u64, Bytes),
    Live(Bytes),
}

impl Piece {
    fn bytes(&self) -> &Bytes {
        match self {
            Self::Journal(_, bytes) | Self::Live(bytes) => bytes,
        }
    }
}

/// The position of a watcher.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// The last event that the watcher has.
    pub(super) seq: u64,
    /// The number of the next piece.
    at: u64,
    /// Live pieces before this number are older than the watcher.
    since: u64,
}

/// The next data for a watcher.
pub(super) enum Batch {
    Some(Bytes),
    Nothing,
    /// The watcher must read the journal first.
    Behind,
    /// The run is gone.
    Gone,
}

impl RingBuffer {
    /// A buffer that starts with the current state of a run.
    pub(super) fn new(run: RunId, state: &State) -> Self {
        let seq = state.seq;
        let open = state.open_attempts().map(|step| ((step.path.clone(), step.attempts), true)).collect();
        let ring = Ring {
            pieces: VecDeque::new(),
            bytes: 0,
            first: 0,
            floor: seq,
            seq,
            is_gone: false,
            spoken: HashMap::new(),
            open,
        };
        Self { run, ring: Mutex::new(ring), news: watch::Sender::new(0) }
    }

    /// The last event in the buffer.
    pub(super) fn seq(&self) -> u64 {
        self.ring().seq
    }

    /// Signals new pieces.
    pub(super) fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// The position of a watcher that has the events up to `seq`.
    pub(super) fn place(&self, seq: u64) -> Place {
        let ring = self.ring();
        Place { seq, at: ring.first, since: ring.first + ring.pieces.len() as u64 }
    }

    /// Adds events. Returns whether no event is missing before them.
    pub(super) fn take(&self, events: &[Envelope]) -> bool {
        let mut ring = self.ring();
        for envelope in events {
            if envelope.seq <= ring.seq {
                continue;
            }
            if envelope.seq != ring.seq + 1 {
                return false;
            }
            ring.seq = envelope.seq;
            ring.note(&envelope.event);
            ring.push(Piece::Journal(envelope.seq, event("journal", Some(envelope.seq), envelope)));
        }
        drop(ring);
        self.tell();
        true
    }

    /// Adds a transcript entry, once.
    pub(super) fn say(&self, said: &TranscriptLine) {
        let mut ring = self.ring();
        let next = ring.spoken.entry((said.path.clone(), said.attempt)).or_default();
        if said.number < *next {
            return;
        }
        *next = said.number + 1;
        let TranscriptLine { path, attempt, number, entry } = said;
        let data = json!({"path": path, "attempt": attempt, "number": number, "entry": entry});
        ring.push(Piece::Live(event("live", None, &data)));
        drop(ring);
        self.tell();
    }

    /// Running attempts, and whether they were running before the first watcher came.
    pub(super) fn open(&self) -> HashMap<Tried, bool> {
        self.ring().open.clone()
    }

    /// Marks the run as pruned.
    pub(super) fn end(&self) {
        self.ring().is_gone = true;
        self.tell();
    }

    /// The next data for a watcher.
    pub(super) fn batch(&self, place: &mut Place) -> Batch {
        let ring = self.ring();
        if place.seq < ring.floor {
            return Batch::Behind;
        }
        place.at = place.at.max(ring.first);
        let mut batch: Vec<u8> = Vec::new();
        let from = usize::try_from(place.at - ring.first).unwrap_or(usize::MAX);
        for piece in ring.pieces.iter().skip(from) {
            let is_wanted = match piece {
                Piece::Journal(seq, _) => *seq > place.seq,
                Piece::Live(_) => place.at >= place.since,
            };
            if is_wanted {
                batch.extend_from_slice(piece.bytes());
            }
            if let Piece::Journal(seq, _) = piece {
                place.seq = place.seq.max(*seq);
            }
            place.at += 1;
            if batch.len() >= BATCH_BYTES {
                break;
            }
        }
        match (batch.is_empty(), ring.is_gone) {
            (false, _) => Batch::Some(batch.into()),
            (true, true) => Batch::Gone,
            (true, false) => Batch::Nothing,
        }
    }

    fn tell(&self) {
        self.news.send_modify(|number| *number = number.wrapping_add(1));
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ring {
    /// Tracks which attempts are running.
    fn note(&mut self, event: &Event) {
        match event {
            Event::AttemptStarted { path, attempt, hosted: false, .. } => {
                self.open.insert((path.clone(), *attempt), false);
            }
            Event::AttemptSucceeded { path, attempt, .. }
            | Event::AttemptFailed { path, attempt, .. }
            | Event::AttemptStopped { path, attempt, .. } => drop(self.open.remove(&(path.clone(), *attempt))),
            Event::RunFinished { .. } => self.open.clear(),
            _ => {}
        }
    }

    fn push(&mut self, piece: Piece) {
        self.bytes += piece.bytes().len();
        self.pieces.push_back(piece);
        while self.pieces.len() > PIECES_MAX || (self.bytes > BYTES_MAX && self.pieces.len() > 1) {
            let Some(old) = self.pieces.pop_front() else { return };
            self.bytes -= old.bytes().len();
            self.first += 1;
            if let Piece::Journal(seq, _) = old {
                self.floor = seq;
            }
        }
    }
}
