//! Whether this process has been awake for a while. A machine that wakes up wakes all of its processes, and each finds that the leases
//! of the others have ended: whoever looks first must not take over what its neighbour is about to renew.
//!
//! **Invariant:** after a pause of this process nothing is taken over for its lease alone until others have had the time to renew theirs.

use std::sync::atomic::{AtomicI64, Ordering};

/// When this process last looked, and since when it does so regularly.
#[derive(Debug)]
pub(crate) struct Awake {
    looked_ms: AtomicI64,
    since_ms: AtomicI64,
}

impl Awake {
    /// A process that starts now. It has slept through nothing.
    pub(crate) fn new(now_ms: i64) -> Self {
        Self { looked_ms: AtomicI64::new(now_ms), since_ms: AtomicI64::new(i64::MIN) }
    }

    /// Looks at the clock, at least every quarter of a lease; whether others would have renewed a lease by now.
    pub(crate) fn looks(&self, now_ms: i64, lease_ms: i64) -> bool {
        let before_ms = self.looked_ms.swap(now_ms, Ordering::SeqCst);
        let half_ms = lease_ms / 2;
        match now_ms.saturating_sub(before_ms) {
            pause_ms if pause_ms > half_ms => self.since_ms.store(now_ms, Ordering::SeqCst),
            // The clock was set back: nobody knows when it was that this process woke up.
            ..0 => self.since_ms.store(i64::MIN, Ordering::SeqCst),
            _ => {}
        }
        now_ms.saturating_sub(self.since_ms.load(Ordering::SeqCst)) >= half_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_slept_gives_others_the_time_to_renew() {
        let awake = Awake::new(1_000);
        assert!(awake.looks(1_010, 60));
        assert!(awake.looks(1_040, 60));
        // A pause of more than half a lease.
        assert!(!awake.looks(1_071, 60));
        assert!(!awake.looks(1_100, 60));
        assert!(awake.looks(1_101, 60));
        // A clock that is set back is no pause.
        assert!(awake.looks(900, 60));
    }
}
