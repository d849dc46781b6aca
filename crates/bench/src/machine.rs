//! Measures the limits of the machine, and the usage of a process.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use longhaul_store::Synchronous;
use rustix::time::{ClockId, clock_gettime};

use super::Bench;

/// Single-row commits per second of bare SQLite, on the disk and with the setting of the workloads.
pub(super) fn commits_per_second(bench: &Bench) -> Result<f64> {
    Ok(probe(bench)?.0)
}

/// Bare commits per second, and the processor seconds for one: flushing is also work of the kernel.
fn probe(bench: &Bench) -> Result<(f64, f64)> {
    let file = bench.folder.join("limit.db");
    let commits = bench.sizes.probes as f64;
    let used = cpu();
    let took = commits_take(&file, bench.synchronous, bench.sizes.probes)?;
    let used = cpu() - used;
    std::fs::remove_file(&file)?;
    Ok((commits / took.as_secs_f64(), used.as_secs_f64() / commits))
}

fn commits_take(file: &Path, synchronous: Synchronous, commits: usize) -> Result<Duration> {
    let db = rusqlite::Connection::open(file)?;
    db.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    let level = if synchronous == Synchronous::Full { "FULL" } else { "NORMAL" };
    db.pragma_update(None, "synchronous", level)?;
    db.execute_batch("CREATE TABLE line (number INTEGER PRIMARY KEY, text TEXT NOT NULL)")?;
    let mut insert = db.prepare("INSERT INTO line (text) VALUES ('the smallest thing that can be kept')")?;
    let since = Instant::now();
    for _ in 0..commits {
        insert.execute([])?;
    }
    Ok(since.elapsed())
}

/// The seconds of the smallest process, from start to end.
pub(super) fn spawn_seconds(probes: usize) -> Result<f64> {
    let since = Instant::now();
    for _ in 0..probes {
        std::process::Command::new("/bin/true").status().context("/bin/true")?;
    }
    Ok(since.elapsed().as_secs_f64() / probes as f64)
}

/// The processor time of this process.
pub(super) fn cpu() -> Duration {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(u64::try_from(spent.tv_sec).unwrap_or(0), u32::try_from(spent.tv_nsec).unwrap_or(0))
}

/// The memory of this process in MB, if the system reports it.
pub(super) fn resident_mb() -> Option<f64> {
    resident_mb_of("self")
}

/// The memory of a process in MB, if the system reports it.
pub(super) fn resident_mb_of(process: &str) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()? / 1024.0)
}

/// The cost of a workload, with the commit rates before and after it, because other programs use the machine too.
pub(super) struct Spent {
    pub(super) seconds: f64,
    pub(super) cpu: f64,
    pub(super) commits_per_second: f64,
    pub(super) cpu_of_a_commit: f64,
}

/// Measures a workload.
pub(super) async fn spend<T>(bench: &Bench, work: impl Future<Output = Result<T>>) -> Result<(T, Spent)> {
    let before = probe(bench)?;
    let (since, used) = (Instant::now(), cpu());
    let done = work.await?;
    let (seconds, cpu) = (since.elapsed().as_secs_f64(), (cpu() - used).as_secs_f64());
    let after = probe(bench)?;
    let (commits_per_second, cpu_of_a_commit) = (f64::midpoint(before.0, after.0), f64::midpoint(before.1, after.1));
    Ok((done, Spent { seconds, cpu, commits_per_second, cpu_of_a_commit }))
}
