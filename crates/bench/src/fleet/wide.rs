//! Measures one run with many parallel steps, shared by several workers.

use std::time::Instant;

use anyhow::Result;

use super::pgbench::limit;
use super::server::Server;
use super::{Bench, Figure, Fleet};
use crate::{crowd, plans};

/// The number of workers that share it.
const WORKERS: usize = 4;

pub(super) async fn measure(bench: &Bench, server: &Server) -> Result<Vec<Figure>> {
    let steps = bench.sizes.steps;
    let fleet = Fleet::new(bench, server, "fan_out").await?;
    let mut workers = fleet.workers(WORKERS, 16).await?;
    let since = Instant::now();
    fleet.start(plans::fan_out(steps)?, 1).await?;
    fleet.until_none(crowd::UNFINISHED, &mut workers).await?;
    let seconds = since.elapsed().as_secs_f64();
    workers.end().await?;
    let limit = limit(&fleet, WORKERS, bench.sizes.fleet.probe)?;
    let rate = Figure::new("fleet-fan-out", format!("steps, {WORKERS} workers"), (steps + 1) as f64 / seconds, "/s");
    Ok(vec![
        Figure::new("fleet-fan-out", "done", fleet.done()?, "steps").exactly(steps + 1),
        rate.beside(limit.lines),
        Figure::new("fleet-fan-out", "all of them", seconds, "s"),
    ])
}
