//! Steps a second of one, four and sixteen workers with a slot each: every worker is a client of the database as those of `pgbench` are.

use std::time::Duration;

use anyhow::Result;

use super::pgbench::{Limit, limit};
use super::server::Server;
use super::{Bench, Figure, Fleet, IS_DONE};
use crate::{crowd, plans};

/// Workers, and clients of `pgbench`.
const WORKERS: [usize; 3] = [1, 4, 16];
/// What sixteen do beside one.
const TIMES: f64 = 6.0;
/// How much longer a commit takes on disks and networks between machines than on a disk of its own.
const FARTHER: Duration = Duration::from_millis(2);
/// Steps of a run at least.
const STEPS_MIN: usize = 5;

pub(super) async fn measure(bench: &Bench, server: &Server) -> Result<Vec<Figure>> {
    let mut figures = at_all_counts(bench, server, "").await?;
    if server.wait_at_commits(FARTHER)? {
        let farther = format!(", commits {} ms longer", FARTHER.as_millis());
        figures.append(&mut at_all_counts(bench, server, &farther).await?);
    }
    Ok(figures)
}

async fn at_all_counts(bench: &Bench, server: &Server, how: &str) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    let mut alone = None;
    for workers in WORKERS {
        let (rate, mut more) = with_workers(bench, server, workers, how).await?;
        figures.append(&mut more);
        let first = *alone.get_or_insert(rate);
        if workers == 16 {
            let times = Figure::new("fleet-steps", format!("16 workers beside one{how}"), rate / first, "×");
            figures.push(times.at_least(TIMES));
        }
    }
    Ok(figures)
}

async fn with_workers(bench: &Bench, server: &Server, count: usize, how: &str) -> Result<(f64, Vec<Figure>)> {
    let fleet = Fleet::new(bench, server, &format!("steps_{count}")).await?;
    let before = limit(&fleet, count, bench.sizes.fleet.probe)?;
    let steps = steps(bench, before, count);
    let mut workers = fleet.workers(count, 1).await?;
    let (cpu, workers_cpu) = (server.cpu(), workers.cpu());
    fleet.start(plans::chain(steps, 0)?, count).await?;
    fleet.until_none(crowd::UNFINISHED, &mut workers).await?;
    let spent = server.cpu().zip(cpu).map(|(after, before)| after - before);
    let workers_spent = workers.cpu() - workers_cpu;
    workers.end().await?;
    let limit = before.between(limit(&fleet, count, bench.sizes.fleet.probe)?);
    let total = (count * steps) as f64;
    let rate = rate(&fleet)?;
    let named = |what: &str| format!("{what}, {count} workers{how}");
    let mut figures = vec![
        Figure::new("fleet-steps", named("done"), fleet.done()?, "steps").exactly(count * steps),
        Figure::new("fleet-steps", named("steps"), rate, "/s").beside(limit.lines).at_least(0.5 * limit.lines),
        Figure::new("fleet-steps", named("steps beside their rows"), rate, "/s").beside(limit.steps),
        Figure::new("fleet-steps", named("cpu of a worker a step"), 1000.0 * workers_spent / total, "ms"),
    ];
    let of_database =
        |spent: f64| Figure::new("fleet-steps", named("cpu of the database a step"), 1000.0 * spent / total, "ms");
    figures.extend(spent.map(of_database));
    Ok((rate, figures))
}

/// Steps of each run: enough that all runs are running at the same time for a while.
fn steps(bench: &Bench, limit: Limit, count: usize) -> usize {
    let busy = bench.sizes.fleet.busy.as_secs_f64();
    ((limit.steps / count as f64 * busy) as usize).max(STEPS_MIN)
}

/// Steps a second while every run was running: from the last first one to the first last one.
fn rate(fleet: &Fleet<'_>) -> Result<f64> {
    fleet.number(&format!(
        "WITH done AS MATERIALIZED (SELECT run, at_ms FROM event WHERE {IS_DONE}),
         each AS (SELECT min(at_ms) AS first, max(at_ms) AS last FROM done GROUP BY run),
         time AS (SELECT max(first) AS since, min(last) AS until FROM each)
         SELECT count(*) * 1000.0 / greatest(1, (SELECT until - since FROM time))
         FROM done, time WHERE at_ms > since AND at_ms <= until"
    ))
}
