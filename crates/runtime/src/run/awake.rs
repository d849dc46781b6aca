//! Knows whether this process has been awake for a while. When a machine wakes up, all of its processes see that the
//! leases of the others have ended. The first one must not take over attempts that their workers are about to renew.
//!
//! **Invariant:** after a pause, this process takes over nothing because of an ended lease until the other processes
//! have had time to renew.

use std::sync::atomic::{AtomicI64, Ordering};

/// When this process last checked the clock, and since when it does so without a pause.
#[derive(Debug)]
pub(crate) struct Awake {
    looked_ms: AtomicI64,
    since_ms: AtomicI64,
}

impl Awake {
    /// The state of a process that starts now. It has had no pause.
    pub(crate) fn new(now_ms: i64) -> Self {
        Self { looked_ms: AtomicI64::new(now_ms), since_ms: AtomicI64::new(i64::MIN) }
    }

    /// Checks the clock; the caller does this at least every quarter of a lease. Returns whether other processes have
    /// had time to renew.
    pub(crate) fn looks(&self, now_ms: i64, lease_ms: i64) -> bool {
        let before_ms = self.looked_ms.swap(now_ms, Ordering::SeqCst);
        let half_ms = lease_ms / 2;
        match now_ms.saturating_sub(before_ms) {
            pause_ms if pause_ms > half_ms => self.since_ms.store(now_ms, Ordering::SeqCst),
            // The clock was set back, so it is not known when this process woke up.
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
        // Setting the clock back does not count as a pause.
        assert!(awake.looks(900, 60));
    }
}
