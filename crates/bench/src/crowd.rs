//! Measures many runs at once, all driven by one worker.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use longhaul_core::id::RunId;
use longhaul_core::plan::Plan;
use longhaul_runtime::{Engine, StartRequest};
use longhaul_store::Query;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::machine::spend;
use super::report::Figure;
use super::{Bench, plans};

/// How often to check whether all runs are done.
const LOOK_EVERY: Duration = Duration::from_millis(10);

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Figure>> {
    let (runs, steps) = bench.sizes.crowd;
    let store = bench.store("crowd")?;
    let engine = bench.engine(&store);
    let ids = start_all(&engine, &plans::chain(steps, 0)?, runs).await?;
    let ((), spent) = spend(bench, work_while(&engine, UNFINISHED)).await?;
    let mut done = 0;
    for run in &ids {
        done += engine.load(run).await?.state.succeeded;
    }
    let total = (runs * steps) as f64;
    let rate = Figure::new("crowd", "steps", total / spent.seconds, "/s");
    Ok(vec![
        Figure::new("crowd", "done", done as f64, "steps").exactly(runs * steps),
        rate.beside(spent.commits_per_second).at_least(6.0 * spent.commits_per_second),
        Figure::new("crowd", "cpu a step", 1000.0 * spent.cpu / total, "ms").beside(1000.0 * spent.cpu_of_a_commit),
    ])
}

/// Records the start of many runs of one plan.
pub(super) async fn start_all(engine: &Engine, plan: &Plan, runs: usize) -> Result<Vec<RunId>> {
    let plan = Arc::new(plan.clone());
    let mut starting = JoinSet::new();
    for at in 0..runs {
        let (engine, plan) = (engine.clone(), Arc::clone(&plan));
        let request = StartRequest { run: RunId::new(format!("bench-{at}")), ..StartRequest::default() };
        starting.spawn(async move { engine.start(&plan, request).await });
    }
    Ok(starting.join_all().await.into_iter().collect::<Result<Vec<_>, _>>()?)
}

/// The statuses of runs that are running, or about to run.
pub(super) const BUSY: &[&str] = &["running", "queued"];
/// The statuses of open runs: an interrupted attempt may wait a moment before it starts again.
pub(super) const UNFINISHED: &[&str] = &["running", "queued", "waiting"];

/// Lets a worker drive all runs until none has one of these statuses.
pub(super) async fn work_while(engine: &Engine, statuses: &[&str]) -> Result<()> {
    let stop = CancellationToken::new();
    let worker = tokio::spawn({
        let (engine, stop) = (engine.clone(), stop.clone());
        async move { engine.work(stop).await }
    });
    while !worker.is_finished() && is_any(engine, statuses).await? {
        tokio::time::sleep(LOOK_EVERY).await;
    }
    stop.cancel();
    Ok(worker.await??)
}

async fn is_any(engine: &Engine, statuses: &[&str]) -> Result<bool> {
    let statuses = statuses.iter().map(|status| (*status).to_owned()).collect();
    Ok(!engine.list(Query { statuses, limit: 1, ..Query::default() }).await?.is_empty())
}
