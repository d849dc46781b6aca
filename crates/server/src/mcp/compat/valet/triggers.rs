//! Triggers: list, add, fire, remove.

use longhaul_core::Json;
use longhaul_core::event::RunTrigger;
use longhaul_core::registry::Arming;
use longhaul_core::registry::trigger::{Schedule, Target, Trigger, TriggerDefinition, Webhook};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::executions::{Repository, shown, start};
use super::workflows::find;
use super::{Action, mapping, rows};
use crate::mcp::tool::{Call, Nature, Problem};

pub(super) const ACTIONS: &[Action] = &[
    Action::new::<List>(
        "list_triggers",
        "Triggers, with the next time of those that fire by themselves.",
        Nature::Looks,
        |call| Box::pin(list(call)),
    ),
    Action::new::<Sync>(
        "sync_trigger",
        "Makes a trigger, or changes the one with this name. Schedules fire while `longhaul worker` is running.",
        Nature::Takes,
        |call| Box::pin(sync(call)),
    )
    .guarded(),
    Action::new::<Run>("run_trigger", "Lets a trigger fire now.", Nature::Adds, |call| Box::pin(run(call))),
    Action::new::<Which>("delete_trigger", "Takes a trigger away.", Nature::Ends, |call| Box::pin(delete(call)))
        .medium()
        .guarded(),
];

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct List {
    /// Only of this workflow.
    #[serde(default)]
    workflow_id: Option<String>,
    /// Only of this type: manual, schedule or webhook.
    #[serde(default, rename = "type")]
    kind: Option<String>,
    /// Only those that fire, or only those that do not.
    #[serde(default)]
    enabled: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Sync {
    /// The id of the trigger that is changed; found by its name otherwise.
    #[serde(default)]
    trigger_id: Option<String>,
    /// The workflow that it starts.
    #[serde(default)]
    workflow_id: Option<String>,
    /// Whether it starts no workflow any more.
    #[serde(default)]
    clear_workflow_link: bool,
    /// What it is called; no two are called the same.
    name: String,
    /// Whether it fires.
    #[serde(default)]
    enabled: Option<bool>,
    /// manual, schedule or webhook.
    #[serde(rename = "type")]
    kind: String,
    /// Of a webhook: behind `/webhooks/`.
    #[serde(default)]
    webhook_path: Option<String>,
    /// Of a webhook: POST unless you say.
    #[serde(default)]
    webhook_method: Option<String>,
    /// Of a webhook: by which callers prove who they are.
    #[serde(default)]
    webhook_secret: Option<String>,
    /// Of a schedule: minute, hour, day of month, month, day of week.
    #[serde(default)]
    schedule_cron: Option<String>,
    /// Of a schedule: the time zone of the line; UTC unless you say.
    #[serde(default)]
    schedule_timezone: Option<String>,
    /// Of a schedule: workflow, or orchestrator for a prompt.
    #[serde(default)]
    schedule_target: Option<String>,
    /// Of a schedule for the orchestrator: what it is told.
    #[serde(default)]
    schedule_prompt: Option<String>,
    /// Where variables come from: a JSON object of names and paths such as `$.issue.title`.
    #[serde(default)]
    variable_mapping_json: Option<Json>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Run {
    /// The id or the name of a trigger.
    trigger_id: String,
    /// What is delivered, and variables beside what is mapped: a JSON object.
    #[serde(default)]
    variables_json: Option<Json>,
    #[serde(flatten)]
    repository: Repository,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Which {
    /// The id or the name of a trigger.
    trigger_id: String,
}

async fn list(mut call: Call) -> Result<Json, Problem> {
    let args: List = call.arguments()?;
    let (engine, now) = (call.state.engine(), call.state.engine().now_ms());
    let shelf = engine.registry().await?;
    let rows: Vec<Json> = shelf
        .triggers()
        .filter(|(_, armed)| args.workflow_id.is_none() || armed.trigger.workflow == args.workflow_id)
        .filter(|(_, armed)| args.kind.as_deref().is_none_or(|kind| armed.trigger.kind.word() == kind))
        .filter(|(_, armed)| args.enabled.is_none_or(|enabled| armed.trigger.enabled == enabled))
        .map(|(id, armed)| rows::trigger(id, armed, now))
        .collect();
    Ok(json!({"triggers": rows}))
}

async fn sync(mut call: Call) -> Result<Json, Problem> {
    let args: Sync = call.arguments()?;
    let engine = call.state.engine();
    let shelf = engine.registry().await?;
    let known = shelf.trigger(args.trigger_id.as_deref().unwrap_or(&args.name)).map(|(_, armed)| &armed.trigger);
    let workflow = match (&args.workflow_id, args.clear_workflow_link) {
        (Some(id), false) => Some(find(&shelf, id)?.0.to_owned()),
        (None, false) => known.and_then(|known| known.workflow.clone()),
        (_, true) => None,
    };
    let trigger = Trigger {
        name: args.name.clone(),
        enabled: args.enabled.unwrap_or_else(|| known.is_none_or(|known| known.enabled)),
        workflow,
        task: known.and_then(|known| known.task.clone()),
        kind: kind(&args, known)?,
        mapping: match &args.variable_mapping_json {
            Some(given) => paths(given)?,
            None => known.map(|known| known.mapping.clone()).unwrap_or_default(),
        },
    };
    let arming = Arming { id: args.trigger_id, trigger, by: call.caller.who.user.clone() };
    let id = engine
        .change_registry(|shelf, _| {
            let (id, entry) = shelf.arm(&arming)?;
            Ok((id, entry.into_iter().collect()))
        })
        .await?;
    let shelf = engine.registry().await?;
    let row = shelf.trigger(&id).map(|(id, armed)| rows::trigger(id, armed, engine.now_ms()));
    Ok(json!({"trigger": row}))
}

/// The kind of the trigger. Missing values stay as they were.
fn kind(args: &Sync, known: Option<&Trigger>) -> Result<TriggerDefinition, Problem> {
    match args.kind.as_str() {
        "manual" => Ok(TriggerDefinition::Manual {}),
        "schedule" => schedule(args, known).map(TriggerDefinition::Schedule),
        "webhook" => webhook(args, known).map(TriggerDefinition::Webhook),
        "github" => {
            Err(Problem::new("triggers of the type `github` are not kept here; a webhook can be called by GitHub"))
        }
        other => Err(Problem::unknown("type", other, &["manual", "schedule", "webhook"].map(str::to_owned))),
    }
}

fn schedule(args: &Sync, known: Option<&Trigger>) -> Result<Schedule, Problem> {
    let before = known.and_then(|known| match &known.kind {
        TriggerDefinition::Schedule(schedule) => Some(schedule.clone()),
        _ => None,
    });
    let cron = args.schedule_cron.clone().or_else(|| before.as_ref().map(|before| before.cron.clone()));
    let cron = cron.ok_or_else(|| Problem::new("a schedule needs `schedule_cron`, such as `0 7 * * 1-5`"))?;
    let target = match args.schedule_target.as_deref() {
        Some("workflow") => Target::Workflow,
        Some("orchestrator") => Target::Orchestrator,
        Some(other) => {
            return Err(Problem::unknown("target", other, &["workflow", "orchestrator"].map(str::to_owned)));
        }
        None => before.as_ref().map(|before| before.target).unwrap_or_default(),
    };
    let zone = args.schedule_timezone.clone().or_else(|| before.as_ref().map(|before| before.timezone.clone()));
    let prompt = args.schedule_prompt.clone().or_else(|| before.as_ref()?.prompt.clone());
    Ok(Schedule {
        cron,
        timezone: zone.unwrap_or_else(|| "UTC".to_owned()),
        both_days: before.as_ref().is_some_and(|before| before.both_days),
        target,
        prompt: prompt.filter(|_| target == Target::Orchestrator),
        variables: before.map(|before| before.variables).unwrap_or_default(),
    })
}

fn webhook(args: &Sync, known: Option<&Trigger>) -> Result<Webhook, Problem> {
    let before = known.and_then(|known| match &known.kind {
        TriggerDefinition::Webhook(webhook) => Some(webhook.clone()),
        _ => None,
    });
    let path = args.webhook_path.clone().or_else(|| before.as_ref().map(|before| before.path.clone()));
    let path = path.ok_or_else(|| Problem::new("a webhook needs `webhook_path`, such as `deploys`"))?;
    let method = args.webhook_method.clone().or_else(|| before.as_ref().map(|before| before.method.clone()));
    let secret = args.webhook_secret.clone().or_else(|| before?.secret);
    Ok(Webhook { path, method: method.map_or_else(|| "POST".to_owned(), |method| method.to_uppercase()), secret })
}

fn paths(given: &Json) -> Result<indexmap::IndexMap<String, String>, Problem> {
    let text = |(name, path): (String, Json)| match path {
        Json::String(path) => Ok((name, path)),
        _ => Err(Problem::new(format!("`{name}` of `variable_mapping_json` is not a path such as `$.issue.title`"))),
    };
    mapping("variable_mapping_json", Some(given))?.into_iter().map(text).collect()
}

async fn run(mut call: Call) -> Result<Json, Problem> {
    let args: Run = call.arguments()?;
    args.repository.refuse()?;
    let given = mapping("variables_json", args.variables_json.as_ref())?;
    let shelf = call.state.engine().registry().await?;
    let (id, armed) = shelf.trigger(&args.trigger_id).ok_or_else(|| shelf.no_trigger(&args.trigger_id))?;
    let trigger = &armed.trigger;
    let Some(workflow) = &trigger.workflow else {
        return Err(Problem::new(format!("`{}` starts no workflow; it fires at its times alone", trigger.name)));
    };
    if !trigger.enabled {
        return Err(Problem::new(format!("the trigger `{}` is disabled; `sync_trigger` enables it", trigger.name)));
    }
    let payload = Json::Object(given.clone().into_iter().collect());
    let about = RunTrigger::fired(id, &trigger.name);
    let run = start(&call, &shelf, workflow, trigger.variables(&payload, &given), about).await?;
    shown(&call, &run).await
}

async fn delete(mut call: Call) -> Result<Json, Problem> {
    let args: Which = call.arguments()?;
    let by = call.caller.who.user.clone();
    let engine = call.state.engine();
    engine.change_registry(|shelf, _| Ok(((), vec![shelf.disarm(&args.trigger_id, by.clone())?]))).await?;
    Ok(json!({"deleted": args.trigger_id}))
}
