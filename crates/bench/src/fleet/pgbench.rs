//! Measures the limits of the database: `pgbench` with one row per commit, and with the rows of a step per commit.

use std::fmt::Write;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::Fleet;

/// Tables like those of a store, for clients that only write the rows of a step.
const TABLES: &str = "
    CREATE TABLE bench_line (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, text text NOT NULL);
    CREATE TABLE bench_run (LIKE run INCLUDING ALL);
    CREATE TABLE bench_event (LIKE event INCLUDING ALL);
    CREATE TABLE bench_task (LIKE task INCLUDING ALL);
    INSERT INTO bench_run (id, workflow, status, summary, last_seq, created_ms, updated_ms)
        SELECT 'bench-' || client, 'bench', 'running', '{}', 1, 0, 0 FROM generate_series(0, 63) AS client;
    INSERT INTO bench_task (run, key, attempt, worker, lease_until_ms, labels)
        SELECT number, 's1@1', 1, 'worker', 0, '[]' FROM bench_run;";

/// The smallest row.
const LINE: &str = "INSERT INTO bench_line (text) VALUES ('the smallest thing that can be kept');\n";

/// The changes of a step in the tables, in one statement: two events, a task that ends and one that starts, the head of
/// the run.
const STEP: &str = "\\set seq :seq + 2
    \\set before :seq - 2
    WITH ended AS (DELETE FROM bench_task WHERE run = :client_id + 1 AND key = 's' || :before || '@1'),
    begun AS (INSERT INTO bench_task (run, key, attempt, worker, lease_until_ms, labels)
        VALUES (:client_id + 1, 's' || :seq || '@1', 1, 'worker', 0, '[]')),
    told AS (INSERT INTO bench_event (run, seq, id, at_ms, body, checksum)
        SELECT :client_id + 1, :before + place, uuid_send(gen_random_uuid()), 0, repeat('x', 80)::bytea, '0123456789abcdef'
        FROM generate_series(1, 2) AS place)
    UPDATE bench_run SET last_seq = :seq, updated_ms = 0, summary = '{}', status = 'running' WHERE number = :client_id + 1;\n";

/// The limits of the database with a number of clients.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    /// Commits of one row per second.
    pub(super) lines: f64,
    /// Commits of a step's rows per second.
    pub(super) steps: f64,
}

impl Limit {
    /// The average of two measurements, because other programs use the machine too.
    pub(super) fn between(self, other: Self) -> Self {
        Self { lines: f64::midpoint(self.lines, other.lines), steps: f64::midpoint(self.steps, other.steps) }
    }
}

/// Measures both for a while.
pub(super) fn limit(fleet: &Fleet<'_>, clients: usize, time: Duration) -> Result<Limit> {
    let mut sql = "DROP TABLE IF EXISTS bench_line, bench_run, bench_event, bench_task;".to_owned();
    write!(sql, "{TABLES}")?;
    fleet.sql(&sql)?;
    Ok(Limit { lines: rate(fleet, LINE, clients, time)?, steps: rate(fleet, STEP, clients, time)? })
}

fn rate(fleet: &Fleet<'_>, script: &str, clients: usize, time: Duration) -> Result<f64> {
    let file = fleet.bench.folder.join("pgbench.sql");
    std::fs::write(&file, script)?;
    let mut command = fleet.server.program("pgbench");
    command.args(["-n", "-M", "prepared", "-D", "seq=1", "-j", "1", "-c", &clients.to_string()]);
    command.args(["-T", &time.as_secs().max(1).to_string(), "-f"]).arg(&file).arg(fleet.server.address());
    let output = command.env("PGOPTIONS", format!("-c search_path={}", fleet.schema)).output()?;
    ensure!(output.status.success(), "pgbench: {}", String::from_utf8_lossy(&output.stderr));
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = told.lines().find_map(|line| line.strip_prefix("tps = ")).context("pgbench says no rate")?;
    Ok(line.split_whitespace().next().unwrap_or_default().parse()?)
}
