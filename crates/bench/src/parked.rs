//! Many runs that wait for a person: what they cost while nothing happens, and how soon one continues.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};
use longhaul_core::event::{Answer, Event};
use longhaul_core::id::RunId;
use longhaul_core::origin::Caller;
use longhaul_runtime::{Engine, Message, Pulse};
use longhaul_store::{Query, Store};
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use super::machine::{commits_per_second, cpu, resident_mb};
use super::report::Figure;
use super::{Bench, Part, crowd, plans};

/// What the process found out about itself.
#[derive(Debug, Serialize, Deserialize)]
struct Found {
    parked: usize,
    resident_mb: Option<f64>,
    idle_cores: f64,
    resume_ms: f64,
}

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Figure>> {
    let file = bench.file("parked");
    let engine = bench.engine(&bench.open(&file)?);
    crowd::start_all(&engine, &plans::question()?, bench.sizes.parked).await?;
    drop(engine);
    let before = commits_per_second(bench)?;
    let mut child = bench.child(Part::Parked, &file)?;
    if bench.sizes.parked < 1000 {
        child.arg("--smoke");
    }
    let output = child.stderr(std::process::Stdio::inherit()).output().await?;
    let commit_ms = 1000.0 / f64::midpoint(before, commits_per_second(bench)?);
    let found: Found = serde_json::from_slice(&output.stdout).context("the process that parked runs said nothing")?;
    let resume = Figure::new("parked", "answer to end of run", found.resume_ms, "ms");
    let mut figures = vec![
        Figure::new("parked", "waiting", found.parked as f64, "runs").exactly(bench.sizes.parked),
        Figure::new("parked", "idle", 100.0 * found.idle_cores, "% of a core").at_most(1.0),
        resume.beside(commit_ms).at_most(3.0 * commit_ms),
    ];
    figures.extend(found.resident_mb.map(|mb| Figure::new("parked", "resident", mb, "MB").at_most(40.0)));
    Ok(figures)
}

/// Parks every run of the store, watches, and has one continue.
pub(super) async fn child(bench: &Bench, store: &Arc<dyn Store>) -> Result<()> {
    let engine = bench.engine(store);
    crowd::work_while(&engine, crowd::BUSY).await?;
    let waiting = Query { statuses: vec!["waiting".to_owned()], limit: usize::MAX >> 1, ..Query::default() };
    let parked = engine.list(waiting).await?.len();
    let stop = CancellationToken::new();
    let worker = tokio::spawn({
        let (engine, stop) = (engine.clone(), stop.clone());
        async move { engine.work(stop).await }
    });
    let (since, used) = (Instant::now(), cpu());
    tokio::time::sleep(bench.sizes.idle).await;
    let idle_cores = (cpu() - used).as_secs_f64() / since.elapsed().as_secs_f64();
    let resident_mb = resident_mb();
    let resume_ms = resume(&engine).await?;
    stop.cancel();
    worker.await??;
    crate::ui::print_json(&Found { parked, resident_mb, idle_cores, resume_ms })
}

/// The middle of a few, in milliseconds.
async fn resume(engine: &Engine) -> Result<f64> {
    let mut took = Vec::new();
    for at in 0..9 {
        let run = RunId::new(format!("bench-{at}")).context("not an id")?;
        let mut pulse = engine.pulse();
        let message = Message::answer("s0".parse().map_err(anyhow::Error::msg)?, Answer::Approve, Caller::default());
        let since = Instant::now();
        engine.tell(&run, message, None).await?;
        loop {
            match pulse.recv().await {
                Ok(Pulse::Events(of, events)) if of == run => {
                    if events.iter().any(|envelope| matches!(envelope.event, Event::RunFinished { .. })) {
                        break;
                    }
                }
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => anyhow::bail!("the engine is gone"),
            }
        }
        took.push(since.elapsed().as_secs_f64() * 1000.0);
    }
    took.sort_by(f64::total_cmp);
    Ok(took[took.len() / 2])
}
