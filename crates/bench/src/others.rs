//! Measures the usage of other processes, if the system reports it.

use std::path::Path;
use std::time::Duration;

/// The unit of processor time, on every Linux.
const TICK: Duration = Duration::from_millis(10);

/// Another process.
pub(super) struct Other(u32);

/// Processes that were started with an argument, for something below a folder. Empty if the system does not report
/// them.
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

/// The processor time of a process.
pub(super) fn cpu_of(pid: u32) -> Option<Duration> {
    Some(TICK * stat(pid)?.ticks[..2].iter().sum())
}

/// The processor time of a process, of its running children, and of its ended children.
pub(super) fn cpu_with_children(pid: u32) -> Option<Duration> {
    let own = stat(pid)?;
    let entries = std::fs::read_dir("/proc").ok()?;
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let children = pids.filter_map(stat).filter(|child| child.parent == pid);
    let ticks = own.ticks.iter().sum::<u32>() + children.map(|child| child.ticks[..2].iter().sum::<u32>()).sum::<u32>();
    Some(TICK * ticks)
}

/// The parent of a process, its own user and system time, and those of its ended children.
struct Stat {
    parent: u32,
    ticks: [u32; 4],
}

fn stat(pid: u32) -> Option<Stat> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may contain anything; after its last bracket follows the third field.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u32>().ok();
    Some(Stat { parent: number(1)?, ticks: [number(11)?, number(12)?, number(13)?, number(14)?] })
}

impl Other {
    /// Its processor time.
    pub(super) fn cpu(&self) -> Option<Duration> {
        cpu_of(self.0)
    }

    /// Its memory, including shared memory.
    pub(super) fn resident_mb(&self) -> Option<f64> {
        super::machine::resident_mb_of(&self.0.to_string())
    }
}
