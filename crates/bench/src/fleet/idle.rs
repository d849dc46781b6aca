//! Workers that have nothing to do: what they cost the database.

use std::time::Instant;

use anyhow::{Context, Result};

use super::server::Server;
use super::{Bench, Figure, Fleet};

/// One percent of a processor.
const PERCENT_MS: f64 = 10.0;

pub(super) async fn measure(bench: &Bench, server: &Server) -> Result<Vec<Figure>> {
    let count = bench.sizes.fleet.idlers;
    let fleet = Fleet::new(bench, server, "idle").await?;
    let alone = milliseconds(bench, server).await?;
    let workers = fleet.workers(count, 16).await?;
    let connections =
        |fleet: &Fleet<'_>| fleet.number("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'longhaul'");
    // What is asked seldom is planned again the first five times.
    tokio::time::sleep(4 * bench.sizes.fleet.settle).await;
    let (cpu, since) = (workers.cpu(), Instant::now());
    let spent = milliseconds(bench, server).await?;
    let own = 1000.0 * (workers.cpu() - cpu) / since.elapsed().as_secs_f64() / count as f64;
    let there = fleet.store.workers().await?.len();
    let connected = connections(&fleet)?;
    workers.end().await?;
    Ok(vec![
        Figure::new("fleet-idle", "there", there as f64, "workers").exactly(count),
        Figure::new("fleet-idle", "the database alone", alone, "ms/s"),
        Figure::new("fleet-idle", format!("the database with {count} workers"), spent, "ms/s").at_most(PERCENT_MS),
        Figure::new("fleet-idle", "a worker", own, "ms/s"),
        Figure::new("fleet-idle", "connections of a worker", connected / count as f64, ""),
    ])
}

/// Milliseconds a second that the processor spends on the database.
async fn milliseconds(bench: &Bench, server: &Server) -> Result<f64> {
    let cpu = || server.cpu().context("this is measured with a server that is started here: leave --store out");
    let (before, since) = (cpu()?, Instant::now());
    tokio::time::sleep(bench.sizes.fleet.idle).await;
    Ok(1000.0 * (cpu()? - before) / since.elapsed().as_secs_f64())
}
