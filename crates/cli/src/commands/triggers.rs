//! `longhaul triggers`: manages schedules and webhooks that start workflows.

use std::process::ExitCode;

use anyhow::{Result, bail};
use longhaul_app::{App, StartOrder, workflow};
use longhaul_core::Json;
use longhaul_core::event::RunTrigger;
use longhaul_core::explain::moment;
use longhaul_core::plan::Plan;
use longhaul_core::registry::schedule::Times;
use longhaul_core::registry::trigger::{Schedule, Target, Trigger, TriggerDefinition, Webhook};
use longhaul_core::registry::{Armed, Arming};
use longhaul_core::rejection::Rejection;
use longhaul_project::disk::Disk;
use longhaul_runtime::{Engine, Startable, check_inputs};
use serde_json::{Value, json};

use super::versions::{person, tell};
use crate::engine_args::{self, AgentArgs, EngineArgs};
use crate::{identity, inputs, ui, width};

/// How many future times of a schedule are shown.
const NEXT_SHOWN: usize = 3;

/// List, add, remove and fire triggers (schedules and webhooks)
///
/// Schedules fire only while `longhaul worker` or `longhaul serve` is running. After a break it fires the schedules that it missed in the last four hours.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// List triggers, with the next times of schedules
    List,
    /// Add a trigger, or change the one with this name
    Add(Box<AddArgs>),
    /// Remove a trigger
    Remove {
        /// The name or id of the trigger
        name: String,
    },
    /// Fire a trigger now: records the run; `longhaul worker`, `serve` or `resume` does the work
    Run {
        /// The name or id of the trigger
        name: String,
        /// A variable, as NAME=VALUE; the value is JSON or text
        #[arg(long, short, value_name = "NAME=VALUE")]
        input: Vec<String>,
    },
}

#[derive(Debug, clap::Args)]
struct AddArgs {
    /// The name of the trigger
    name: String,
    /// The workflow to start
    #[arg(required_unless_present = "prompt")]
    workflow: Option<String>,
    /// Fire at these times: minute, hour, day of month, month, day of week, as in '0 7 * * 1-5'
    #[arg(long, value_name = "LINE", conflicts_with = "webhook")]
    cron: Option<String>,
    /// The time zone of the schedule
    #[arg(long, value_name = "ZONE", default_value = "UTC", requires = "cron")]
    timezone: String,
    /// If the schedule names days of the month and days of the week, require both instead of either
    #[arg(long, requires = "cron")]
    both_days: bool,
    /// Instead of a workflow: a prompt for an agent
    #[arg(long, value_name = "TEXT", requires = "cron", conflicts_with = "workflow")]
    prompt: Option<String>,
    /// Fire when a request arrives at this path below /webhooks/
    #[arg(long, value_name = "PATH")]
    webhook: Option<String>,
    /// The task: text that the workflow reads as `task`
    #[arg(long, value_name = "TEXT", conflicts_with = "prompt")]
    task: Option<String>,
    /// A variable for the runs of a schedule, as NAME=VALUE
    #[arg(long, short, value_name = "NAME=VALUE", requires = "cron")]
    input: Vec<String>,
    /// A variable from the body of a webhook request, as NAME=$.a.b
    #[arg(long, value_name = "NAME=PATH")]
    map: Vec<String>,
    /// Store the trigger, but do not fire it
    #[arg(long)]
    disabled: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    engine_args::block_on(async {
        let engine = engine_args::open(&args.engine, &AgentArgs::default())?;
        match &args.what {
            What::List => list(&engine, args.json).await,
            What::Add(add) => arm(&engine, &engine_args::disk(&args.engine)?, add, args.json).await,
            What::Remove { name } => {
                let by = person("change triggers")?;
                engine.change_registry(|shelf, _| Ok(((), vec![shelf.disarm(name, by.clone())?]))).await?;
                tell(args.json, &json!({"removed": name}), &format!("the trigger `{name}` is gone"))
            }
            What::Run { name, input } => fire(&engine, &engine_args::disk(&args.engine)?, name, input, args.json).await,
        }
    })
}

async fn list(engine: &Engine, json: bool) -> Result<ExitCode> {
    let (shelf, now) = (engine.registry().await?, engine.now_ms());
    if json {
        ui::print_json(&shelf.triggers().map(|(id, armed)| row(id, armed, now)).collect::<Vec<_>>())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut schedules = false;
    for (id, armed) in shelf.triggers() {
        let trigger = &armed.trigger;
        schedules |= trigger.enabled && matches!(trigger.kind, TriggerDefinition::Schedule(_));
        let starts = trigger.workflow.as_deref().unwrap_or("a prompt");
        let off = if trigger.enabled { "" } else { "  (disabled)" };
        let (name, kind) = (ui::bold(&trigger.name), trigger.kind.word());
        let line = format!("{id:>5}  {name}  {kind}  {starts}{}{off}", detail(&trigger.kind));
        ui::print_line(width::seen(&line, 0))?;
        for at in next(armed, now) {
            ui::print_line(format!("       next {}", moment(at)))?;
        }
        if let Some((at, delivery)) = armed.newest() {
            let run =
                delivery.run.as_ref().or(delivery.reason.as_ref()).map_or_else(String::new, |run| format!(" {run}"));
            ui::print_line(format!("       last {}: {}{run}", moment(at / 1000 * 1000), delivery.outcome.word()))?;
        }
    }
    if schedules {
        ui::say("schedules fire while `longhaul worker` or `longhaul serve` is running, and only then");
    }
    Ok(ExitCode::SUCCESS)
}

fn detail(kind: &TriggerDefinition) -> String {
    match kind {
        TriggerDefinition::Manual {} => String::new(),
        TriggerDefinition::Schedule(schedule) => {
            let words = Times::of(schedule).map(|times| times.in_words()).unwrap_or_default();
            format!("  {} ({words}, {})", schedule.cron, schedule.timezone)
        }
        TriggerDefinition::Webhook(webhook) => {
            format!("  {} /webhooks/{}", webhook.method, webhook.path.trim_matches('/'))
        }
    }
}

fn next(armed: &Armed, now: i64) -> Vec<i64> {
    match &armed.trigger.kind {
        TriggerDefinition::Schedule(schedule) if armed.trigger.enabled => {
            Times::of(schedule).map(|times| times.next(now, NEXT_SHOWN)).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

fn row(id: &str, armed: &Armed, now: i64) -> Value {
    let mut row = armed.trigger.shown();
    row["id"] = json!(id);
    row["by"] = json!(armed.by);
    row["last"] = json!(armed.last);
    row["next"] = json!(next(armed, now));
    row["deliveries"] = armed.deliveries.iter().map(|(at, delivery)| json!({"at": at, "delivery": delivery})).collect();
    row
}

async fn arm(engine: &Engine, disk: &Disk, args: &AddArgs, json: bool) -> Result<ExitCode> {
    let by = person("change triggers")?;
    let checked = args.workflow.as_ref().map(|workflow| startable(disk, workflow, args)).transpose()?;
    let plan = match checked {
        Some(Err(code)) => return Ok(code),
        Some(Ok(startable)) => Some(startable),
        None => None,
    };
    let paths = inputs::pairs(&args.map)?.into_iter();
    let trigger = Trigger {
        name: args.name.clone(),
        enabled: !args.disabled,
        workflow: args.workflow.clone(),
        task: args.task.clone(),
        kind: kind(args, plan.as_ref().map(|startable| &startable.plan))?,
        mapping: paths.map(|(name, path)| (name.to_owned(), path.to_owned())).collect(),
    };
    if let Some(Startable { plan, .. }) = &plan {
        fits(plan, &trigger)?;
    }
    let arming = Arming { id: None, trigger, by };
    let id = engine
        .change_registry(|shelf, _| {
            let (id, entry) = shelf.arm(&arming)?;
            Ok((id, entry.into_iter().collect()))
        })
        .await?;
    let shelf = engine.registry().await?;
    let now = engine.now_ms();
    let Some((_, armed)) = shelf.trigger(&id) else { bail!("the trigger `{}` was removed meanwhile", args.name) };
    let times: Vec<String> = next(armed, now).into_iter().map(moment).collect();
    let times = match times.as_slice() {
        [] => String::new(),
        times => format!(
            "; next: {}; it fires while `longhaul worker` or `longhaul serve` is running, and only then",
            times.join(", ")
        ),
    };
    tell(json, &row(&id, armed, now), &format!("the trigger `{}` is {id}{times}", args.name))
}

/// The workflow of a trigger, or the exit code after its mistakes were printed.
fn startable(disk: &Disk, name: &str, args: &AddArgs) -> Result<Result<Startable, ExitCode>> {
    let entry = disk.find(name)?;
    let report = disk.check(&entry, None)?;
    if report.has_errors() {
        return Ok(Err(super::refuse(&report)?));
    }
    let reads_task = report.workflows.iter().any(|workflow| workflow.reads_task);
    if reads_task && args.task.is_none() && !args.map.iter().any(|map| map.starts_with("task=")) {
        let why = format!("`{name}` reads `task`, and the trigger has none");
        return Err(Rejection::invalid(why).say("give it with --task TEXT").into());
    }
    workflow::planned(&entry, report).map(Ok).map_err(|_| anyhow::anyhow!("there is nothing to run"))
}

/// Rejects a trigger whose runs could not start: inputs that are missing, unknown or of the wrong kind.
fn fits(plan: &Plan, trigger: &Trigger) -> Result<()> {
    let is_input = |name: &str| plan.main().inputs.keys().any(|known| known.as_str() == name);
    if let TriggerDefinition::Schedule(schedule) = &trigger.kind
        && schedule.variables.contains_key("task")
        && !is_input("task")
    {
        return Err(Rejection::invalid("there is no input `task`")
            .say("the task has its own option: --task TEXT")
            .into());
    }
    // What a request or a person brings is not known yet.
    match &trigger.kind {
        TriggerDefinition::Schedule(schedule) => Ok(check_inputs(plan, &schedule.variables)?),
        TriggerDefinition::Manual {} | TriggerDefinition::Webhook(_) => {
            match trigger.mapping.keys().find(|name| !is_input(name) && *name != "task") {
                Some(name) => Err(Rejection::invalid(format!("there is no input `{name}` to map to")).into()),
                None => Ok(()),
            }
        }
    }
}

fn kind(args: &AddArgs, plan: Option<&Plan>) -> Result<TriggerDefinition> {
    Ok(match (&args.cron, &args.webhook) {
        (Some(cron), _) => TriggerDefinition::Schedule(Schedule {
            cron: cron.clone(),
            timezone: args.timezone.clone(),
            both_days: args.both_days,
            target: if args.prompt.is_some() { Target::Orchestrator } else { Target::Workflow },
            prompt: args.prompt.clone(),
            variables: inputs::read(&args.input, plan)?,
        }),
        (None, Some(path)) => {
            TriggerDefinition::Webhook(Webhook { path: path.clone(), method: "POST".to_owned(), secret: None })
        }
        (None, None) => TriggerDefinition::Manual {},
    })
}

async fn fire(engine: &Engine, disk: &Disk, name: &str, input: &[String], json: bool) -> Result<ExitCode> {
    let shelf = engine.registry().await?;
    let Some((id, armed)) = shelf.trigger(name) else { return Err(shelf.no_trigger(name).into()) };
    let trigger = &armed.trigger;
    let Some(workflow) = &trigger.workflow else { bail!("`{name}` starts no workflow; it fires only at its times") };
    if !trigger.enabled {
        bail!("`{name}` is disabled; add it again without --disabled");
    }
    let startable = engine_args::plan(disk, workflow)?;
    let plan = &startable.plan;
    let mut given = inputs::read(input, Some(plan))?;
    let payload = Json::Object(given.clone().into_iter().collect());
    // A value that is only there to be mapped is not a variable of the run.
    let declared = |name: &str| plan.main().inputs.keys().any(|known| known.as_str() == name);
    given.retain(|name, _| declared(name) || !trigger.reads(name));
    let mut variables = trigger.variables(&payload, &given);
    // A mapped `task` is the task of the run, unless the workflow has an input of that name.
    let mapped = if declared("task") { None } else { variables.shift_remove("task") };
    let task = mapped.as_ref().map(ui::readable).or_else(|| trigger.task.clone());
    let order = StartOrder {
        task: task.unwrap_or_default(),
        inputs: variables,
        trigger: Some(RunTrigger::fired(id, &trigger.name)),
        ..StartOrder::default()
    };
    let run = App::new(engine.clone()).start(&startable, order, &identity::caller()).await?;
    if json {
        ui::print_json(&json!({"run": run, "trigger": id}))?;
    } else {
        ui::print_line(&run)?;
        ui::say(format!("recorded; `longhaul worker` runs it, or: longhaul resume {run}"));
    }
    Ok(ExitCode::SUCCESS)
}
