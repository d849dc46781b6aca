//! Measures how long a claim takes: in a new store, and after a million past tasks.

use std::time::Instant;

use anyhow::Result;
use longhaul_store::{Claim, WorkerId};

use super::pgbench::limit;
use super::server::Server;
use super::{Bench, Figure, Fleet};
use crate::plans;

pub(super) async fn measure(bench: &Bench, server: &Server) -> Result<Vec<Figure>> {
    let (past, claims) = (bench.sizes.fleet.past, bench.sizes.fleet.claims);
    let fleet = Fleet::new(bench, server, "claims").await?;
    fleet.start(plans::chain(1, 0)?, 10).await?;
    let young = claim(&fleet, claims).await?;
    grow_old(&fleet, past)?;
    let nothing = nothing(&fleet, claims).await?;
    let littered = claim(&fleet, claims).await?;
    // The server does this by itself every minute.
    fleet.sql("VACUUM task")?;
    let old = claim(&fleet, claims).await?;
    let commit_ms = 1000.0 / limit(&fleet, 1, bench.sizes.fleet.probe)?.lines;
    let named = |what: &str| format!("{what} {past} tasks");
    let total = young.len() + littered.len() + old.len();
    Ok(vec![
        Figure::new("fleet-claims", "claimed", total as f64, "tasks").exactly(3 * claims),
        Figure::new("fleet-claims", "a claim in a young store", middle(&young), "ms").beside(commit_ms),
        Figure::new("fleet-claims", named("a claim after"), middle(&old), "ms").at_most(2.0 * middle(&young)),
        Figure::new("fleet-claims", named("the slowest of 100 after"), old[old.len() * 99 / 100], "ms").at_most(50.0),
        Figure::new("fleet-claims", named("a claim before the server swept away"), middle(&littered), "ms"),
        Figure::new("fleet-claims", named("a glance at nothing after"), nothing, "ms"),
    ])
}

fn middle(sorted: &[f64]) -> f64 {
    sorted[sorted.len() / 2]
}

/// Adds past tasks in batches, with their events.
fn grow_old(fleet: &Fleet<'_>, past: usize) -> Result<()> {
    let batch = (past / 10).max(1);
    for number in 0..past / batch {
        let told = format!(
            "INSERT INTO event (run, seq, id, at_ms, body, checksum)
                SELECT run.number, {number} * {batch} + place, uuid_send(gen_random_uuid()), 0, repeat('x', 80)::bytea, ''
                FROM generate_series(2, {batch} / 10 + 1) AS place, run;
             UPDATE run SET last_seq = {number} * {batch} + {batch} / 10 + 1, status = 'succeeded'"
        );
        let gone = format!(
            "INSERT INTO task (run, key, attempt, worker, lease_until_ms, labels)
                SELECT 1, 's' || place, 1, CASE WHEN place % 2 = 0 THEN 'worker' END, 0, '[]'
                FROM generate_series(1, {batch}) AS place;
             DELETE FROM task"
        );
        fleet.sql(&format!("{told}; {gone}"))?;
    }
    Ok(())
}

/// The milliseconds of claims of one task each, sorted.
async fn claim(fleet: &Fleet<'_>, claims: usize) -> Result<Vec<f64>> {
    fleet.sql(&format!(
        "INSERT INTO task (run, key, attempt, worker, lease_until_ms, labels)
         SELECT run.number, 'w' || place, 1, NULL, 0, '[]' FROM generate_series(1, {claims} / 10) AS place, run"
    ))?;
    let mut took = Vec::new();
    for _ in 0..claims {
        let since = Instant::now();
        let given = fleet.store.claim(Claim::new(WorkerId::new("bench"), 0, 60_000, 1)).await?;
        took.extend(given.iter().map(|_| since.elapsed().as_secs_f64() * 1000.0));
    }
    fleet.sql("DELETE FROM task")?;
    took.sort_by(f64::total_cmp);
    Ok(took)
}

/// The median milliseconds of a look at a store without waiting tasks.
async fn nothing(fleet: &Fleet<'_>, times: usize) -> Result<f64> {
    let mut took = Vec::new();
    for _ in 0..times {
        let since = Instant::now();
        fleet.store.glance().await?;
        took.push(since.elapsed().as_secs_f64() * 1000.0);
    }
    took.sort_by(f64::total_cmp);
    Ok(took[times / 2])
}
