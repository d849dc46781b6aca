//! What other processes use, where the system tells.

use std::path::Path;
use std::time::Duration;

/// What the system counts in, on every Linux.
const TICK: Duration = Duration::from_millis(10);

/// Another process.
pub(super) struct Other(u32);

/// Processes that were begun with an argument, for something below a folder. None where the system does not tell.
pub(super) fn of(argument: &str, below: &Path) -> Vec<Other> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let below = below.to_string_lossy();
    let is_meant = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words = String::from_utf8_lossy(&line);
        let mut words = words.split('\0').skip(1);
        words.next() == Some(argument) && words.next().is_some_and(|folder| folder.starts_with(below.as_ref()))
    };
    pids.filter(is_meant).map(Other).collect()
}

impl Other {
    /// Time that the processor has spent on it.
    pub(super) fn cpu(&self) -> Option<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0)).ok()?;
        // The name may hold anything; behind its bracket the third field comes first.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
        let mut ticks = || fields.next()?.parse::<u32>().ok();
        Some(TICK * (ticks()? + ticks()?))
    }

    /// Its memory, with what it shares with others.
    pub(super) fn resident_mb(&self) -> Option<f64> {
        super::machine::resident_mb_of(&self.0.to_string())
    }
}
