//! `longhaul triggers`: what starts workflows without anybody doing so by hand.

use std::process::ExitCode;

use anyhow::{Result, bail};
use longhaul_core::Json;
use longhaul_core::explain::moment;
use longhaul_core::plan::Plan;
use longhaul_core::shelf::schedule::Times;
use longhaul_core::shelf::trigger::{Kind, Schedule, Target, Trigger, Webhook};
use longhaul_core::shelf::{Armed, Arming};
use longhaul_project::disk::Disk;
use longhaul_runtime::{Engine, StartRequest};
use serde_json::{Value, json};

use super::versions::{person, tell};
use crate::office::{self, AgentArgs, EngineArgs};
use crate::{identity, inputs, ui, width};

/// Times of a schedule that are shown.
const NEXT_SHOWN: usize = 3;

/// Look at triggers, make them, take them away, and let one fire
///
/// Schedules fire by themselves only while `longhaul worker` or `longhaul serve` is running; it makes up for what it missed in the last four hours.
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
    /// Make a trigger, or change the one with this name
    Add(Box<AddArgs>),
    /// Take a trigger away
    Remove {
        /// Its name or its id
        name: String,
    },
    /// Let a trigger fire now: the run is recorded, `longhaul worker` or `resume` does the work
    Run {
        /// Its name or its id
        name: String,
        /// A variable, as NAME=VALUE; a value that is JSON is taken as such
        #[arg(long, short, value_name = "NAME=VALUE")]
        input: Vec<String>,
    },
}

#[derive(Debug, clap::Args)]
struct AddArgs {
    /// What it is called
    name: String,
    /// The workflow that it starts
    #[arg(required_unless_present = "prompt")]
    workflow: Option<String>,
    /// At times: minute, hour, day of month, month, day of week, as in '0 7 * * 1-5'
    #[arg(long, value_name = "LINE", conflicts_with = "webhook")]
    cron: Option<String>,
    /// The time zone of the line
    #[arg(long, value_name = "ZONE", default_value = "UTC", requires = "cron")]
    timezone: String,
    /// Where the line names both days: only if both fit, instead of one of them
    #[arg(long, requires = "cron")]
    both_days: bool,
    /// In the place of a workflow: what an agent is told
    #[arg(long, value_name = "TEXT", requires = "cron", conflicts_with = "workflow")]
    prompt: Option<String>,
    /// When it is called over the network, behind /webhooks/
    #[arg(long, value_name = "PATH")]
    webhook: Option<String>,
    /// A variable of the runs of a schedule, as NAME=VALUE
    #[arg(long, short, value_name = "NAME=VALUE", requires = "cron")]
    input: Vec<String>,
    /// A variable from what is delivered, as NAME=$.a.b
    #[arg(long, value_name = "NAME=PATH")]
    map: Vec<String>,
    /// Keep it, but let it not fire
    #[arg(long)]
    disabled: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    office::block_on(async {
        let engine = office::open(&args.engine, &AgentArgs::default())?;
        match &args.what {
            What::List => list(&engine, args.json).await,
            What::Add(add) => arm(&engine, &office::disk(&args.engine)?, add, args.json).await,
            What::Remove { name } => {
                let by = person("change triggers")?;
                engine.change_shelf(|shelf, _| Ok(((), vec![shelf.disarm(name, by.clone())?]))).await?;
                tell(args.json, &json!({"removed": name}), &format!("the trigger `{name}` is gone"))
            }
            What::Run { name, input } => fire(&engine, &office::disk(&args.engine)?, name, input, args.json).await,
        }
    })
}

async fn list(engine: &Engine, json: bool) -> Result<ExitCode> {
    let (shelf, now) = (engine.shelf().await?, engine.now_ms());
    if json {
        ui::print_json(&shelf.triggers().map(|(id, armed)| row(id, armed, now)).collect::<Vec<_>>())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut schedules = false;
    for (id, armed) in shelf.triggers() {
        let trigger = &armed.trigger;
        schedules |= trigger.enabled && matches!(trigger.kind, Kind::Schedule(_));
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

fn detail(kind: &Kind) -> String {
    match kind {
        Kind::Manual {} => String::new(),
        Kind::Schedule(schedule) => {
            let words = Times::of(schedule).map(|times| times.in_words()).unwrap_or_default();
            format!("  {} ({words}, {})", schedule.cron, schedule.timezone)
        }
        Kind::Webhook(webhook) => format!("  {} /webhooks/{}", webhook.method, webhook.path.trim_matches('/')),
    }
}

fn next(armed: &Armed, now: i64) -> Vec<i64> {
    match &armed.trigger.kind {
        Kind::Schedule(schedule) if armed.trigger.enabled => {
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
    if let Some(workflow) = &args.workflow {
        disk.find(workflow)?;
    }
    // One with mistakes may be fixed before the trigger fires.
    let plan = args.workflow.as_ref().and_then(|workflow| office::plan(disk, workflow).ok());
    let paths = inputs::pairs(&args.map)?.into_iter();
    let trigger = Trigger {
        name: args.name.clone(),
        enabled: !args.disabled,
        workflow: args.workflow.clone(),
        kind: kind(args, plan.as_ref().map(|(plan, _)| plan))?,
        mapping: paths.map(|(name, path)| (name.to_owned(), path.to_owned())).collect(),
    };
    let arming = Arming { id: None, trigger, by };
    let id = engine
        .change_shelf(|shelf, _| {
            let (id, entry) = shelf.arm(&arming)?;
            Ok((id, entry.into_iter().collect()))
        })
        .await?;
    let shelf = engine.shelf().await?;
    let now = engine.now_ms();
    let Some((_, armed)) = shelf.trigger(&id) else { bail!("the trigger `{}` was taken away meanwhile", args.name) };
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

fn kind(args: &AddArgs, plan: Option<&Plan>) -> Result<Kind> {
    Ok(match (&args.cron, &args.webhook) {
        (Some(cron), _) => Kind::Schedule(Schedule {
            cron: cron.clone(),
            timezone: args.timezone.clone(),
            both_days: args.both_days,
            target: if args.prompt.is_some() { Target::Orchestrator } else { Target::Workflow },
            prompt: args.prompt.clone(),
            variables: inputs::read(&args.input, plan)?,
        }),
        (None, Some(path)) => Kind::Webhook(Webhook { path: path.clone(), method: "POST".to_owned(), secret: None }),
        (None, None) => Kind::Manual {},
    })
}

async fn fire(engine: &Engine, disk: &Disk, name: &str, input: &[String], json: bool) -> Result<ExitCode> {
    let shelf = engine.shelf().await?;
    let Some((id, armed)) = shelf.trigger(name) else { bail!("{}", shelf.no_trigger(name).0) };
    let trigger = &armed.trigger;
    let Some(workflow) = &trigger.workflow else { bail!("`{name}` starts no workflow; it fires at its times alone") };
    if !trigger.enabled {
        bail!("`{name}` is disabled; add it again without --disabled");
    }
    let (plan, workflow_dir) = office::plan(disk, workflow)?;
    let mut given = inputs::read(input, Some(&plan))?;
    let payload = Json::Object(given.clone().into_iter().collect());
    // What is only there to be mapped is no variable of the run.
    let declared = |name: &str| plan.main().inputs.keys().any(|known| known.as_str() == name);
    given.retain(|name, _| declared(name) || !trigger.reads(name));
    let request = StartRequest {
        inputs: trigger.variables(&payload, &given),
        trigger: json!({"type": "manual", "trigger": id, "name": trigger.name}),
        owner: Some(identity::origin()),
        workflow_dir,
        ..StartRequest::default()
    };
    let run = engine.start(&plan, request).await?;
    if json {
        ui::print_json(&json!({"run": run, "trigger": id}))?;
    } else {
        ui::print_line(&run)?;
        ui::say(format!("recorded; `longhaul worker` takes it up, or: longhaul resume {run}"));
    }
    Ok(ExitCode::SUCCESS)
}
