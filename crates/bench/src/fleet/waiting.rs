//! Runs that wait for a person: what they cost the database while nothing happens, and how soon one continues.

use std::time::Instant;

use anyhow::Result;
use longhaul_core::event::Answer;
use longhaul_core::origin::Caller;
use longhaul_runtime::Message;

use super::pgbench::limit;
use super::server::Server;
use super::{Bench, Figure, Fleet, LOOK_EVERY, Workers, run_id};
use crate::{crowd, plans};

/// Workers that look after them.
const WORKERS: usize = 4;
/// Runs that continue.
const ANSWERED: usize = 9;

pub(super) async fn measure(bench: &Bench, server: &Server) -> Result<Vec<Figure>> {
    let runs = bench.sizes.parked;
    let fleet = Fleet::new(bench, server, "waiting").await?;
    let mut workers = fleet.workers(WORKERS, 16).await?;
    let since = Instant::now();
    fleet.start(plans::question()?, runs).await?;
    let started = runs as f64 / since.elapsed().as_secs_f64();
    fleet.until_none(crowd::BUSY, &mut workers).await?;
    let parked = runs as f64 / since.elapsed().as_secs_f64();
    let waiting = fleet.number("SELECT count(*) FROM run WHERE status = 'waiting'")?;
    tokio::time::sleep(bench.sizes.fleet.settle).await;
    let (cpu, since) = (server.cpu(), Instant::now());
    tokio::time::sleep(bench.sizes.fleet.idle).await;
    let seconds = since.elapsed().as_secs_f64();
    let spent = server.cpu().zip(cpu).map(|(after, before)| 1000.0 * (after - before) / seconds);
    let resumed = resumed(&fleet, &mut workers).await?;
    workers.end().await?;
    let limit = limit(&fleet, 8, bench.sizes.fleet.probe)?;
    let mut figures = vec![
        Figure::new("fleet-waiting", "waiting", waiting, "runs").exactly(runs),
        Figure::new("fleet-waiting", "runs started", started, "/s").beside(limit.lines),
        Figure::new("fleet-waiting", "runs started and parked", parked, "/s").beside(limit.lines),
        Figure::new("fleet-waiting", "answer to end of run, other process", resumed, "ms").at_most(1000.0),
    ];
    let of_database =
        |ms: f64| Figure::new("fleet-waiting", format!("database, {WORKERS} workers"), ms, "ms/s").at_most(10.0);
    figures.extend(spent.map(of_database));
    Ok(figures)
}

/// Milliseconds from an answer that is given here to the end of the run, which a worker drives; the middle of a few.
async fn resumed(fleet: &Fleet<'_>, workers: &mut Workers) -> Result<f64> {
    let mut took = Vec::new();
    for at in 0..ANSWERED.min(fleet.bench.sizes.parked) {
        let run = run_id(at)?;
        let message = Message::answer("s0".parse().map_err(anyhow::Error::msg)?, Answer::Approve, Caller::default());
        let since = Instant::now();
        fleet.engine.tell(&run, message, None).await?;
        while fleet.engine.row(&run).await?.is_none_or(|row| row.head.status != "succeeded") {
            workers.check(since)?;
            tokio::time::sleep(LOOK_EVERY / 10).await;
        }
        took.push(since.elapsed().as_secs_f64() * 1000.0);
    }
    took.sort_by(f64::total_cmp);
    Ok(took[took.len() / 2])
}
