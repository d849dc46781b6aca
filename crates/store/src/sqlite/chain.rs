//! The checksums that tie the events of a run together.
//!
//! **Invariant:** the checksum of an event covers its place, its content and, through the checksum before it, its
//! whole past. Changing, dropping or swapping stored events is noticed when they are read.

use longhaul_core::id::RunId;

use crate::{Error, EventId, StoredEvent};

/// What is stored with each event.
pub(super) type Checksum = [u8; 16];

/// A place in the events of a run.
pub(super) struct Chain {
    run: RunId,
    seq: u64,
    tip: Checksum,
}

impl Chain {
    /// Before the first event.
    pub(super) fn start(run: &RunId) -> Self {
        Self { run: run.clone(), seq: 0, tip: short(&blake3::hash(run.as_str().as_bytes())) }
    }

    /// After event `seq`, which has the checksum `tip`.
    pub(super) fn after(run: &RunId, seq: u64, tip: Checksum) -> Self {
        Self { run: run.clone(), seq, tip }
    }

    /// The last event that was followed.
    pub(super) fn seq(&self) -> u64 {
        self.seq
    }

    /// Continues to the next event; answers its checksum.
    pub(super) fn link(&mut self, id: EventId, at_ms: i64, body: &str) -> Checksum {
        self.seq += 1;
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.tip).update(&self.seq.to_be_bytes());
        hasher.update(&id.0.to_be_bytes()).update(&at_ms.to_be_bytes()).update(body.as_bytes());
        self.tip = short(&hasher.finalize());
        self.tip
    }

    /// Continues to a stored event, if it is the next one and what was written.
    pub(super) fn follow(&mut self, event: &StoredEvent, stored: Checksum) -> Result<(), Error> {
        if event.seq != self.seq + 1 {
            return Err(self.broken("is missing"));
        }
        if self.link(event.id, event.at_ms, &event.body) != stored {
            self.seq -= 1;
            return Err(self.broken("is not what was written"));
        }
        Ok(())
    }

    /// What is wrong with the next event.
    pub(super) fn broken(&self, how: &str) -> Error {
        Error::Corrupt(format!("event {} of run {} {how}", self.seq + 1, self.run))
    }
}

fn short(hash: &blake3::Hash) -> Checksum {
    let mut checksum = [0; 16];
    checksum.copy_from_slice(&hash.as_bytes()[..16]);
    checksum
}
