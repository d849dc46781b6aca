//! `longhaul workers`: who works for this store, and on what.

use std::process::ExitCode;

use anyhow::Result;
use longhaul_core::duration::format_ms;
use longhaul_core::explain::{Explanation, moment};
use longhaul_core::state::State;
use longhaul_runtime::Engine;
use longhaul_store::Listed;
use serde_json::{Value, json};

use crate::office::{self, AgentArgs, EngineArgs};
use crate::ui;

/// A worker says that it is there every few seconds; after so long it is taken for gone.
pub(crate) const SILENT_MS: i64 = 30_000;

/// List the workers of this store: where they are, what they can do, how much they do
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    office::block_on(async {
        let engine = office::open(&args.engine, &AgentArgs::default())?;
        let (workers, now) = (engine.workers().await?, engine.now_ms());
        if args.json {
            let workers: Vec<Value> = workers.iter().map(|listed| told(listed, now)).collect();
            ui::print_json(&json!({ "workers": workers }))?;
        } else if workers.is_empty() {
            ui::say("no worker has said that it is there; start one with: longhaul worker");
        } else {
            for listed in &workers {
                ui::print_line(line(listed, now))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// Whether nothing was heard of a worker for too long.
pub(crate) fn is_silent(listed: &Listed, now: i64) -> bool {
    now.saturating_sub(listed.worker.seen_ms) > SILENT_MS
}

/// Adds to what waits for a worker that there is none who could take it.
pub(crate) async fn say_who_is_missing(engine: &Engine, state: &State, why: &mut [Explanation]) -> Result<()> {
    if state.queued().next().is_none() {
        return Ok(());
    }
    let (mut workers, now) = (engine.workers().await?, engine.now_ms());
    workers.retain(|listed| !is_silent(listed, now));
    for step in state.queued() {
        let can = |listed: &Listed| step.labels.iter().all(|label| listed.worker.labels.contains(label));
        let said = why.iter_mut().find(|said| said.path.as_ref() == Some(&step.path));
        if let Some(said) = said.filter(|_| !workers.iter().any(can)) {
            said.text.push_str("; no such worker is there");
        }
    }
    Ok(())
}

/// Labels that people gave, without the one that only routes work to a machine.
fn labels(listed: &Listed) -> Vec<&str> {
    listed.worker.labels.iter().map(String::as_str).filter(|label| !label.starts_with("host:")).collect()
}

fn told(listed: &Listed, now: i64) -> Value {
    let worker = &listed.worker;
    json!({
        "id": worker.id, "name": worker.name, "host": worker.host, "labels": labels(listed), "slots": worker.slots,
        "busy": listed.busy, "version": worker.version, "since": moment(worker.since_ms), "seen": moment(worker.seen_ms),
        "silent": is_silent(listed, now), "login": worker.id.login(),
    })
}

fn line(listed: &Listed, now: i64) -> String {
    let worker = &listed.worker;
    let ago = u64::try_from(now - worker.seen_ms).unwrap_or_default() / 1000 * 1000;
    let seen = match (is_silent(listed, now), ago) {
        (true, _) => ui::bad(format!("silent for {}", format_ms(ago))),
        (false, 0) => "seen just now".to_owned(),
        (false, _) => format!("seen {} ago", format_ms(ago)),
    };
    let host = if worker.host.is_empty() { String::new() } else { format!(" on {}", worker.host) };
    let host = worker.id.login().map_or(host.clone(), |login| format!("{host} with login {login}"));
    format!(
        "{}{host}  {}/{} busy  {seen}  {}",
        ui::bold(&worker.name),
        listed.busy,
        worker.slots,
        ui::dim(labels(listed).join(", "))
    )
}
