//! Measures one run at a time: chains of empty steps, a fan-out, a chain of commands.

use anyhow::Result;
use longhaul_core::plan::Plan;
use longhaul_runtime::StartRequest;
use tokio_util::sync::CancellationToken;

use super::machine::{Spent, spawn_seconds, spend};
use super::report::Figure;
use super::{Bench, plans};

pub(super) async fn chain(bench: &Bench) -> Result<Vec<Figure>> {
    let steps = bench.sizes.steps;
    let (done, spent) = run(bench, "chain", &plans::chain(steps, 0)?).await?;
    let rate = Figure::new("chain", "steps", steps as f64 / spent.seconds, "/s");
    Ok(vec![
        Figure::new("chain", "done", done, "steps").exactly(steps),
        rate.beside(spent.commits_per_second).at_least(0.8 * spent.commits_per_second),
        cpu("chain", &spent, steps).at_most(0.2),
    ])
}

pub(super) async fn fan_out(bench: &Bench) -> Result<Vec<Figure>> {
    let steps = bench.sizes.steps;
    let (done, spent) = run(bench, "fan-out", &plans::fan_out(steps)?).await?;
    let rate = Figure::new("fan-out", "steps", (steps + 1) as f64 / spent.seconds, "/s");
    Ok(vec![
        Figure::new("fan-out", "done", done, "steps").exactly(steps + 1),
        rate.beside(spent.commits_per_second),
        cpu("fan-out", &spent, steps),
    ])
}

/// Measures commands. The engine's share is the time of a step beyond the bare process and its one commit.
pub(super) async fn commands(bench: &Bench) -> Result<Vec<Figure>> {
    let steps = bench.sizes.commands;
    let before = spawn_seconds(bench.sizes.probes.min(200))?;
    let (done, spent) = run(bench, "commands", &plans::commands(steps)?).await?;
    let spawn_ms = 1000.0 * f64::midpoint(before, spawn_seconds(bench.sizes.probes.min(200))?);
    let commit_ms = 1000.0 / spent.commits_per_second;
    let step = Figure::new("commands", "a step", 1000.0 * spent.seconds / steps as f64, "ms");
    Ok(vec![
        Figure::new("commands", "done", done, "steps").exactly(steps),
        step.beside(spawn_ms + commit_ms).at_most(1.3f64.mul_add(spawn_ms, commit_ms)),
        cpu("commands", &spent, steps),
    ])
}

/// Measures that the cost of a step does not depend on the number of steps before it.
pub(super) async fn growth(bench: &Bench) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    let mut shortest = None;
    for steps in bench.sizes.growth {
        let (done, spent) = run(bench, &format!("growth-{steps}"), &plans::chain(steps, 1024)?).await?;
        figures.push(Figure::new("growth", format!("done of {steps}"), done, "steps").exactly(steps));
        let commits = spent.seconds * spent.commits_per_second / steps as f64;
        let cost = Figure::new("growth", format!("a step of {steps}, 1 KiB each"), commits, "commits").beside(1.0);
        let cpu_ms = 1000.0 * spent.cpu / steps as f64;
        let cpu = Figure::new("growth", format!("cpu a step of {steps}"), cpu_ms, "ms");
        let cpu = cpu.beside(1000.0 * spent.cpu_of_a_commit);
        let (first, first_cpu) = *shortest.get_or_insert((commits, cpu_ms));
        figures.extend([cost.at_most(1.2 * first), cpu.at_most(1.2 * first_cpu)]);
    }
    Ok(figures)
}

/// Runs a plan to its end in its own store; returns how many steps succeeded according to the store.
async fn run(bench: &Bench, name: &str, plan: &Plan) -> Result<(f64, Spent)> {
    let store = bench.store(name)?;
    let engine = bench.engine(&store);
    let run = engine.start(plan, StartRequest::default()).await?;
    let work = async { Ok(engine.drive(&run, CancellationToken::new(), |_| true).await?) };
    let (_, spent) = spend(bench, work).await?;
    let done = engine.load(&run).await?.state.succeeded;
    Ok((done as f64, spent))
}

fn cpu(workload: &'static str, spent: &Spent, steps: usize) -> Figure {
    Figure::new(workload, "cpu a step", 1000.0 * spent.cpu / steps as f64, "ms").beside(1000.0 * spent.cpu_of_a_commit)
}
