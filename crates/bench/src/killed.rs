//! Measures the crowd again, with the process killed in the middle.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use longhaul_core::event::{Ended, Event};
use longhaul_core::id::RunId;
use longhaul_runtime::Engine;
use longhaul_store::{Query, Store};
use tokio_util::sync::CancellationToken;

use super::report::Figure;
use super::{Bench, Part, crowd, plans};

/// The contents of the store at the end.
#[derive(Debug, Default)]
struct Account {
    succeeded: usize,
    twice: usize,
    repeated: usize,
}

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Figure>> {
    let (runs, steps) = bench.sizes.crowd;
    let file = bench.file("killed");
    let store = bench.open(&file)?;
    let engine = bench.engine(&store);
    let ids = crowd::start_all(&engine, &plans::chain(steps, 0)?, runs).await?;
    let mut child = bench.child(Part::Killed, &file)?.kill_on_drop(true).spawn()?;
    while steps_done(&engine).await? < runs * steps / 2 && child.try_wait()?.is_none() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    child.kill().await?;
    let mut in_flight = 0;
    for run in &ids {
        in_flight += store.tasks(run).await?.len();
    }
    let since = Instant::now();
    crowd::work_while(&bench.engine(&store), crowd::UNFINISHED).await?;
    let seconds = since.elapsed().as_secs_f64();
    let account = account(&engine, &ids).await?;
    Ok(vec![
        Figure::new("killed", "done", account.succeeded as f64, "steps").exactly(runs * steps),
        Figure::new("killed", "ended twice", account.twice as f64, "steps").exactly(0),
        Figure::new("killed", "begun again", account.repeated as f64, "attempts").at_most(in_flight as f64),
        Figure::new("killed", "restart to all done", seconds, "s"),
    ])
}

/// Works until it is killed.
pub(super) async fn child(bench: &Bench, store: &Arc<dyn Store>) -> Result<()> {
    Ok(bench.engine(store).work(CancellationToken::new()).await?)
}

async fn steps_done(engine: &Engine) -> Result<usize> {
    let rows = engine.list(Query { limit: usize::MAX >> 1, ..Query::default() }).await?;
    let done = |summary: &str| serde_json::from_str::<serde_json::Value>(summary).ok()?.get("done")?.as_u64();
    let total: u64 = rows.iter().filter_map(|row| done(&row.head.summary)).sum();
    Ok(usize::try_from(total)?)
}

async fn account(engine: &Engine, runs: &[RunId]) -> Result<Account> {
    let mut account = Account::default();
    for run in runs {
        let mut ended = HashSet::new();
        for envelope in engine.events(run, 0, usize::MAX >> 1).await? {
            match envelope.event {
                Event::StepEnded { path, end } if end.status == Ended::Succeeded => {
                    if ended.insert(path.to_string()) {
                        account.succeeded += 1;
                    } else {
                        account.twice += 1;
                    }
                }
                Event::AttemptStarted { attempt, .. } => account.repeated += usize::from(attempt > 1),
                _ => {}
            }
        }
    }
    Ok(account)
}
