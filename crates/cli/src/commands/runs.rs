//! `longhaul runs`, `status`, `events`, `outputs`: looking at runs.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use longhaul_core::event::Ended;
use longhaul_core::state::{Phase, State, StepInst};
use longhaul_store::Query;
use serde_json::{Value, json};

use crate::office::{self, AgentArgs, EngineArgs};
use crate::{story, ui};

/// List runs, newest first
#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Only these statuses: running, waiting, paused, succeeded, failed, cancelled
    #[arg(long)]
    status: Vec<String>,
    /// Only of this workflow
    #[arg(long)]
    workflow: Option<String>,
    /// At most so many
    #[arg(long, short = 'n', default_value_t = 20)]
    limit: usize,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Name a run, and perhaps a step of it
#[derive(Debug, clap::Args)]
pub(crate) struct OneArgs {
    /// The run, or the beginning of its id
    run: String,
    /// A step
    step: Option<String>,
    /// Go on as things happen
    #[arg(long, short)]
    follow: bool,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn list(args: &ListArgs) -> Result<ExitCode> {
    office::block_on(async {
        let engine = office::open(&args.engine, &AgentArgs::default())?;
        let query = Query {
            statuses: args.status.clone(),
            workflow: args.workflow.clone(),
            limit: args.limit,
            ..Query::default()
        };
        let rows = engine.list(query).await?;
        if args.json {
            let row = |row: &longhaul_store::RunRow| {
                let summary: Value = serde_json::from_str(&row.head.summary).unwrap_or_default();
                json!({"run": row.run, "workflow": row.head.workflow, "status": row.head.status, "summary": summary, "updated_at": row.updated_ms})
            };
            ui::print_json(&rows.iter().map(row).collect::<Vec<_>>())?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut out = ui::out();
        for row in &rows {
            let summary: Value = serde_json::from_str(&row.head.summary).unwrap_or_default();
            let task = summary.get("task").and_then(Value::as_str).unwrap_or_default();
            writeln!(out, "{}  {:<10} {:<20} {task}", ui::bold(&row.run), row.head.status, row.head.workflow)?;
        }
        Ok(ExitCode::SUCCESS)
    })
}

pub(crate) fn status(args: &OneArgs) -> Result<ExitCode> {
    office::block_on(async {
        let engine = office::open(&args.engine, &AgentArgs::default())?;
        let run = engine.find(&args.run).await?;
        let state = engine.load(&run).await?.state;
        if args.json {
            ui::print_json(&state_json(run.as_str(), &state))?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut out = ui::out();
        writeln!(
            out,
            "{} {} {}",
            ui::bold(&run),
            state.started.as_ref().map_or("", |started| &started.workflow),
            state.status_word()
        )?;
        for step in state.steps() {
            writeln!(out, "  {:<10} {}{}", word(step), step.path, detail(step))?;
        }
        if let Some(message) = state.finished.as_ref().and_then(|finished| finished.message.as_ref()) {
            writeln!(out, "  {message}")?;
        }
        Ok(ExitCode::SUCCESS)
    })
}

fn word(step: &StepInst) -> &'static str {
    match (&step.phase, step.ended) {
        (_, Some(Ended::Succeeded)) => "succeeded",
        (_, Some(Ended::Failed)) => "failed",
        (_, Some(Ended::Skipped)) => "skipped",
        (_, Some(Ended::Cancelled)) => "cancelled",
        (Phase::Attempt | Phase::Inside | Phase::Judge, None) => "running",
        (Phase::Question | Phase::Waiting { .. } | Phase::Retry { .. }, None) => "waiting",
        (Phase::Ready | Phase::Done, None) => "pending",
    }
}

fn detail(step: &StepInst) -> String {
    let question = step
        .question
        .as_ref()
        .filter(|_| step.phase == Phase::Question)
        .map(|question| format!("  ? {}", question.text));
    let error = step.error.as_ref().map(|error| format!("  {}", error.message));
    let again = (step.attempts > 1).then(|| format!("  ({} attempts)", step.attempts));
    [again, question, error].into_iter().flatten().collect()
}

fn state_json(run: &str, state: &State) -> Value {
    let steps = state.steps().iter().map(|step| {
        json!({
            "path": step.path, "status": word(step), "attempts": step.attempts, "output": step.result.output,
            "error": step.error, "question": step.question.as_ref().filter(|_| step.phase == Phase::Question),
        })
    });
    json!({
        "run": run, "status": state.status_word(), "workflow": state.started.as_ref().map(|started| &started.workflow),
        "steps": steps.collect::<Vec<_>>(), "finished": state.finished, "usage": state.usage,
    })
}

pub(crate) fn events(args: &OneArgs) -> Result<ExitCode> {
    office::block_on(async {
        let engine = office::open(&args.engine, &AgentArgs::default())?;
        let run = engine.find(&args.run).await?;
        let mut after = 0;
        loop {
            let page = engine.events(&run, after, 1000).await?;
            for envelope in &page {
                after = envelope.seq;
                let line = if args.json { Some(serde_json::to_string(envelope)?) } else { story::line(&run, envelope) };
                if let Some(line) = line {
                    ui::print_line(&line)?;
                }
            }
            let over = engine.load(&run).await?.state.is_finished();
            if page.is_empty() && (!args.follow || over) {
                return Ok(ExitCode::SUCCESS);
            }
            if page.is_empty() {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        }
    })
}

pub(crate) fn outputs(args: &OneArgs) -> Result<ExitCode> {
    office::block_on(async {
        let engine = office::open(&args.engine, &AgentArgs::default())?;
        let run = engine.find(&args.run).await?;
        let state = engine.load(&run).await?.state;
        if let Some(step) = &args.step {
            let path = step.parse().map_err(anyhow::Error::msg)?;
            let found = state.find(&path).ok_or_else(|| anyhow::anyhow!("no step `{step}` was reached in {run}"))?;
            return print_value(&found.result.output, args.json);
        }
        let outputs = state.finished.as_ref().map(|finished| json!(finished.outputs)).unwrap_or_default();
        print_value(&outputs, true)
    })
}

fn print_value(value: &Value, json: bool) -> Result<ExitCode> {
    match value {
        Value::String(text) if !json => ui::print_line(text)?,
        other => ui::print_json(other)?,
    }
    Ok(ExitCode::SUCCESS)
}
