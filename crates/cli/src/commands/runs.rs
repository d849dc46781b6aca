//! `longhaul runs`, `status`, `events`, `outputs`: shows runs.

use std::collections::HashMap;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use longhaul_app::ChangedFile;
use longhaul_core::duration::format_ms;
use longhaul_core::event::{Envelope, Event, QuestionKind};
use longhaul_core::explain::moment;
use longhaul_core::id::RunId;
use longhaul_core::notification;
use longhaul_core::path::StepPath;
use longhaul_core::status::{Awaited, RunStatus};
use longhaul_core::view::{self, StandingWord};
use longhaul_lang::diagnostic::plain;
use longhaul_runtime::Engine;
use longhaul_server::http::Row;
use longhaul_store::Query;
use serde_json::{Value, json};

use crate::engine_args::{self, EngineArgs};
use crate::names::{self, Names};
use crate::times::{self, Times};
use crate::{format_event, numbers, run_table, ui};

/// List the runs of this project with their status, newest first
#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Only runs with these statuses, separated by commas
    #[arg(long, value_name = "STATUS", value_delimiter = ',', value_parser = RunStatus::WORDS.to_vec())]
    status: Vec<String>,
    /// Only runs of this workflow
    #[arg(long)]
    workflow: Option<String>,
    /// At most N runs
    #[arg(long, short = 'n', default_value_t = 20)]
    limit: usize,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Name a run, or take the newest
#[derive(Debug, clap::Args)]
pub(crate) struct StatusArgs {
    /// The id of the run, or its first characters [default: the newest]
    run: Option<String>,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Name a run, and perhaps a step of it
#[derive(Debug, clap::Args)]
pub(crate) struct EventsArgs {
    /// The id of the run, or its first characters
    run: String,
    /// Only this step and the steps inside it
    step: Option<String>,
    /// Keep printing new events until the run is over
    #[arg(long, short)]
    follow: bool,
    /// Print times in UTC [default: the local time zone]
    #[arg(long)]
    utc: bool,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Name a run, and perhaps a step of it
#[derive(Debug, clap::Args)]
pub(crate) struct OneArgs {
    /// The id of the run, or its first characters
    run: String,
    /// The step [default: the outputs of the whole run]
    step: Option<String>,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn list(args: &ListArgs) -> Result<ExitCode> {
    engine_args::block_on(async {
        let engine = engine_args::open_what_is_there(&args.engine)?;
        let query = Query {
            statuses: args.status.clone(),
            workflow: args.workflow.clone(),
            limit: args.limit,
            ..Query::default()
        };
        let (listed, attendance) = (engine.list(query).await?, engine.attendance().await?);
        let rows: Vec<Row> = listed.iter().map(|row| longhaul_server::http::attended_row(row, &attendance)).collect();
        if args.json {
            ui::print_json(&rows)?;
            return Ok(ExitCode::SUCCESS);
        }
        if rows.is_empty() {
            ui::say(none(args)?);
        }
        let mut out = ui::out();
        for line in run_table::lines(&rows, engine.now_ms()) {
            writeln!(out, "{line}")?;
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// The message for an empty list, with the place that was searched.
fn none(args: &ListArgs) -> Result<String> {
    let store = engine_args::store_name(&args.engine)?;
    Ok(match args.status.is_empty() && args.workflow.is_none() {
        true => format!("there are no runs in {store} yet; longhaul run WORKFLOW makes one"),
        false => format!("there are no such runs in {store}"),
    })
}

/// The newest run.
async fn newest(engine: &Engine) -> Result<RunId> {
    let rows = engine.list(Query { limit: 1, ..Query::default() }).await?;
    rows.into_iter().next().map(|row| row.run).context("there is no run yet; longhaul run WORKFLOW makes one")
}

pub(crate) fn status(args: &StatusArgs) -> Result<ExitCode> {
    engine_args::block_on(async {
        let engine = engine_args::open_what_is_there(&args.engine)?;
        let run = match &args.run {
            Some(run) => engine.find(run).await?,
            None => newest(&engine).await?,
        };
        let loaded = engine.load(&run).await?;
        let (plan, now) = (&loaded.plan.0, engine.now_ms());
        let mut glance = view::run(plan, &loaded.state, now);
        engine.say_what_holds_up(&run, &loaded.state, &mut glance.why).await?;
        let steps = view::steps(plan, &loaded.state, now);
        let standing = engine.standing(&run, &loaded).await?;
        if args.json {
            let mut page = serde_json::to_value(&glance)?;
            page["run"] = json!(run);
            page["standing"] = json!(standing);
            page["steps"] = json!(steps);
            page["questions"] = json!(view::questions(plan, &loaded.state));
            page["cost"] = json!(view::cost(plan, &loaded.state));
            page["changed_file"] = json!(changed_file(&args.engine, &engine, &run).await.map(|changed| changed.file));
            ui::print_json(&page)?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut page = headline(run.as_str(), &glance, &standing);
        let hosts = hosts(&engine, &run).await?;
        steps.iter().for_each(|step| add_step(&mut page, step, &hosts, 1));
        if let Some(budget) = numbers::budget(&view::cost(plan, &loaded.state)) {
            page.push_str(&format!("  {budget}\n"));
        }
        let asked = view::questions(plan, &loaded.state);
        for why in &glance.why {
            page.push_str(&format!("  {}\n", why.text));
            for asked in asked.iter().filter(|asked| why.path.as_ref() == Some(&asked.path)) {
                page.push_str(&asks(asked));
                page.push_str(&answers(&run, asked));
            }
        }
        for line in unsent(&engine, &run).await? {
            page.push_str(&format!("  {line}\n"));
        }
        if let Some(changed) = changed_file(&args.engine, &engine, &run).await {
            page.push_str(&format!("  {}\n", changed.sentence(&run)));
        }
        ui::deliver(&page, None)?;
        Ok(ExitCode::SUCCESS)
    })
}

/// The text of a question, as far as a status shows it.
fn asks(asked: &view::Asked) -> String {
    // The reason above has the text of this one.
    let lines = plain(&asked.text);
    let lines = lines.lines().filter(|line| !line.trim().is_empty() && asked.kind != QuestionKind::Machine);
    let shown: String = lines.clone().take(QUESTION_LINES_MAX).map(|line| format!("    {line}\n")).collect();
    let more = lines.count().saturating_sub(QUESTION_LINES_MAX);
    if more > 0 { format!("{shown}    … {} more\n", ui::count(more, "line")) } else { shown }
}

/// Notifications about the run that a channel did not take.
async fn unsent(engine: &Engine, run: &RunId) -> Result<Vec<String>> {
    let ledger = engine.notify_ledger().await?;
    let is_own = |key: &String| notification::run_of(key).as_ref() == Some(run);
    let own = ledger.messages().filter(|message| message.keys.iter().any(is_own));
    let failed = own.flat_map(|message| {
        let failed = message.channels.iter().filter(|channel| channel.error.is_some());
        failed.map(move |channel| {
            let went = plain(&super::notify::went(message, channel));
            format!("notification over `{}`: {went}; longhaul notify list", channel.channel)
        })
    });
    Ok(failed.collect())
}

/// Says that the file behind a failed run has changed, and gives the command.
pub(super) async fn say_changed(args: &EngineArgs, engine: &Engine, run: &RunId) {
    if let Some(changed) = changed_file(args, engine, run).await {
        ui::say(changed.sentence(run));
    }
}

/// The file behind a run, if it has changed and the run could continue with it. This is only a hint, so a problem is no error.
pub(super) async fn changed_file(args: &EngineArgs, engine: &Engine, run: &RunId) -> Option<ChangedFile> {
    let loaded = engine.load(run).await.ok()?;
    if loaded.state.status() == RunStatus::Succeeded {
        return None;
    }
    longhaul_app::replan::changed_file(&engine_args::disk(args).ok()?, &loaded)
}

/// The command that answers a question.
fn answers(run: &RunId, asked: &view::Asked) -> String {
    let choices: Vec<String> = asked.choices.iter().map(|choice| plain(choice)).collect();
    let offered = match asked.kind {
        // Their choices are part of the command below.
        QuestionKind::Operator | QuestionKind::Machine => String::new(),
        _ if choices.is_empty() => String::new(),
        _ => format!("   [{}]", choices.join(", ")),
    };
    format!(
        "    {}{offered}\n",
        ui::dim(format_event::how_to_answer(run, &asked.path.to_string(), asked.kind, &choices))
    )
}

/// The most lines of a question that a status shows.
const QUESTION_LINES_MAX: usize = 12;

fn headline(run: &str, glance: &view::Run, standing: &view::Standing) -> String {
    let stands = match standing.is {
        StandingWord::Stopped => plain(&standing.text),
        StandingWord::NoEngine => "no engine is running it".to_owned(),
        is => is.for_people().to_owned(),
    };
    let waits = match (glance.waiting_for.is_empty(), standing.is) {
        (true, _) => String::new(),
        (false, StandingWord::Stopped | StandingWord::NoEngine) => {
            format!(", waiting for {}", Awaited::join(&glance.waiting_for))
        }
        (false, _) => format!(" for {}", Awaited::join(&glance.waiting_for)),
    };
    let next = match (standing.is, &standing.command) {
        (StandingWord::Stopped | StandingWord::NoEngine, Some(command)) => format!("\n  continue with: {command}"),
        _ => String::new(),
    };
    let time = format_ms(u64::try_from(glance.duration_ms / 1000 * 1000).unwrap_or(0));
    let cost = if glance.usage.usd > 0.0 { format!(", ${:.2}", glance.usage.usd) } else { String::new() };
    let message = glance.message.as_ref().map_or_else(String::new, |message| format!("\n  {message}"));
    let head = format!("{} {}", ui::bold(run), glance.workflow);
    format!(
        "{head}: {stands}{waits}, {} done, {time}{cost}{message}{next}\n",
        ui::count_of(glance.progress.succeeded, "step")
    )
}

/// The machine of each step's last attempt, where several share the store.
async fn hosts(engine: &Engine, run: &RunId) -> Result<HashMap<StepPath, String>> {
    let (mut hosts, mut after) = (HashMap::new(), 0);
    while engine.host().is_some() {
        let page = engine.events(run, after, 1000).await?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        for envelope in page {
            match envelope.event {
                Event::AttemptStarted { path, host: Some(host), .. }
                | Event::AttemptClaimed { path, host: Some(host), .. } => {
                    hosts.insert(path, host);
                }
                // It is on no machine until a worker claims it.
                Event::AttemptStarted { path, queued: Some(_), .. } | Event::AttemptReleased { path, .. } => {
                    hosts.remove(&path);
                }
                _ => {}
            }
        }
    }
    Ok(hosts)
}

fn add_step(page: &mut String, step: &view::StepView, hosts: &HashMap<StepPath, String>, depth: usize) {
    // A step that waits for a worker has not started.
    let is_queued = matches!(step.waiting_for, Some(Awaited::Worker | Awaited::Machine));
    let begun = step.attempts.saturating_sub(u32::from(is_queued));
    let again = if begun > 1 { format!("  ({begun} attempts)") } else { String::new() };
    let waits = step.waiting_for.map_or_else(String::new, |what| format!("  for {what}"));
    let error = step.error.as_ref().map_or_else(String::new, |error| format!("  {}", error.message));
    let indent = "  ".repeat(depth);
    let agent = step.agent.as_ref().map_or_else(String::new, at_work);
    let on = hosts.get(&step.path).map_or_else(String::new, |host| format!("  on {}", plain(host)));
    let recovery = step.recovery.as_ref().map_or_else(String::new, |how| format!("  {how}"));
    let name = step.name.as_ref().map_or_else(String::new, |name| format!("  {}", ui::bold(plain(name))));
    let item = step.item.as_ref().map_or_else(String::new, |item| format!("  {item}"));
    page.push_str(&format!(
        "{indent}{:<10} {}{item}{name}{on}{agent}{again}{recovery}{waits}{error}\n",
        step.status, step.path
    ));
    for hint in step.hints.iter().filter(|hint| !hint.heard) {
        let by = hint.by.as_ref().map_or_else(String::new, |by| format!(" by {}", plain(by)));
        page.push_str(&format!("{indent}  told{by}, for its next turn: {}\n", plain(&hint.text)));
    }
    step.steps.iter().for_each(|inner| add_step(page, inner, hosts, depth + 1));
}

/// The agent, its conversation, and when it started.
fn at_work(agent: &view::AtWork) -> String {
    let session = agent.session.as_ref().map_or_else(String::new, |id| format!(", session {}", plain(id)));
    format!("  {}{session}, since {}", agent.name, moment(agent.since / 1000 * 1000))
}

pub(crate) fn events(args: &EventsArgs) -> Result<ExitCode> {
    print_events(args)
}

/// Prints past and new events, until the run is over.
pub(crate) fn follow(run: &str, engine: &EngineArgs, json: bool) -> Result<ExitCode> {
    print_events(&EventsArgs {
        run: run.to_owned(),
        step: None,
        follow: true,
        utc: false,
        engine: engine.clone(),
        json,
    })
}

fn print_events(args: &EventsArgs) -> Result<ExitCode> {
    engine_args::block_on(async {
        let engine = engine_args::open_what_is_there(&args.engine)?;
        let run = engine.find(&args.run).await?;
        let loaded = engine.load(&run).await?;
        let step = args.step.as_ref().map(|step| names::meant(&loaded, step)).transpose()?;
        let mut found = step.is_none();
        let (mut names, mut times) = (Names::of(&loaded), Times::new(args.utc));
        let mut after = 0;
        loop {
            let page = engine.events(&run, after, 1000).await?;
            for envelope in &page {
                after = envelope.seq;
                if !step.as_ref().is_none_or(|step| is_about(envelope, step)) {
                    names.note(&envelope.event);
                    continue;
                }
                found = true;
                let line = match args.json {
                    true => Some(with_time(envelope)?),
                    false => names.line(&run, envelope).map(|line| times.before(envelope.at, &line)),
                };
                if let Some(line) = line {
                    ui::print_line(&line)?;
                }
            }
            let over = engine.load(&run).await?.state.is_finished();
            if page.is_empty() && (!args.follow || over) {
                let step = args.step.as_deref().unwrap_or_default();
                anyhow::ensure!(found, "no step `{step}` was reached in {run}");
                return Ok(ExitCode::SUCCESS);
            }
            if page.is_empty() {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        }
    })
}

/// An event as JSON, with its time as people write it.
fn with_time(envelope: &Envelope) -> Result<String> {
    let mut event = serde_json::to_value(envelope)?;
    event["time"] = json!(times::rfc3339(envelope.at));
    Ok(event.to_string())
}

/// Whether an event is about a step or something inside it.
fn is_about(envelope: &Envelope, step: &StepPath) -> bool {
    let event = serde_json::to_value(envelope).unwrap_or_default();
    event.get("path").and_then(Value::as_str).is_some_and(|path| ui::is_at(path, &step.to_string()))
}

pub(crate) fn outputs(args: &OneArgs) -> Result<ExitCode> {
    engine_args::block_on(async {
        let engine = engine_args::open_what_is_there(&args.engine)?;
        let run = engine.find(&args.run).await?;
        let loaded = engine.load(&run).await?;
        let state = &loaded.state;
        if let Some(step) = &args.step {
            let path = names::meant(&loaded, step)?;
            let found = state.find(&path).ok_or_else(|| anyhow::anyhow!("no step `{step}` was reached in {run}"))?;
            return print_value(&found.outcome.result.output, args.json);
        }
        let outputs = state.finished.as_ref().map(|finished| json!(finished.outputs)).unwrap_or_default();
        print_value(&outputs, true)
    })
}

fn print_value(value: &Value, json: bool) -> Result<ExitCode> {
    match value {
        Value::String(text) if !json => ui::print_foreign(text)?,
        other => ui::print_json(other)?,
    }
    Ok(ExitCode::SUCCESS)
}
