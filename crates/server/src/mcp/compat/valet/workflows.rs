//! Workflows: show, save, change, delete.

use longhaul_core::Json;
use longhaul_core::registry::{About, Change, RegisteredWorkflow, Registry, VersionSource, WorkflowText};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Action, parsed, rows};
use crate::app_state::AppState;
use crate::mcp::tool::{Call, Nature, Problem};

pub(super) const ACTIONS: &[Action] = &[
    Action::new::<Nothing>(
        "list_workflows",
        "Lists the workflows of the shelf, without their texts.",
        Nature::Looks,
        |call| Box::pin(list(call)),
    ),
    Action::new::<Which>("get_workflow", "One workflow of the shelf with its text.", Nature::Looks, |call| {
        Box::pin(get(call))
    }),
    Action::new::<Save>(
        "sync_workflow",
        "Puts a workflow on the shelf, or a new version in the place of the current one. It is checked first; what has errors is refused.",
        Nature::Takes,
        |call| Box::pin(sync(call)),
    )
    .guarded(),
    Action::new::<Update>(
        "update_workflow",
        "Changes what is said about a workflow, or its text. A text is checked first; what has errors is refused.",
        Nature::Takes,
        |call| Box::pin(update(call)),
    )
    .guarded(),
    Action::new::<Which>(
        "delete_workflow",
        "Takes a workflow off the shelf. Runs continue; triggers that start it find nothing.",
        Nature::Ends,
        |call| Box::pin(delete(call)),
    )
    .medium()
    .guarded(),
];

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Which {
    /// The id, the slug or the name of a workflow.
    workflow_id: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Save {
    /// The id that it gets, or has; made of the slug or the name otherwise.
    #[serde(default)]
    id: Option<String>,
    /// Another name that it is found by.
    #[serde(default)]
    slug: Option<String>,
    /// What people call it.
    name: String,
    /// What it is for.
    #[serde(default)]
    description: Option<String>,
    /// What this version is called; the last number is raised otherwise.
    #[serde(default)]
    version: Option<String>,
    /// The definition, as JSON text.
    #[serde(default)]
    data_json: Option<Json>,
    /// The same under another name.
    #[serde(default)]
    workflow_json: Option<Json>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Update {
    /// The id, the slug or the name of a workflow.
    workflow_id: String,
    /// What people call it.
    #[serde(default)]
    name: Option<String>,
    /// What it is for.
    #[serde(default)]
    description: Option<String>,
    /// Whether the description goes.
    #[serde(default)]
    clear_description: bool,
    /// Another name that it is found by.
    #[serde(default)]
    slug: Option<String>,
    /// Whether the slug goes.
    #[serde(default)]
    clear_slug: bool,
    /// What this version is called.
    #[serde(default)]
    version: Option<String>,
    /// Whether it can be started.
    #[serde(default)]
    enabled: Option<bool>,
    /// Words to find it by: a JSON array of texts.
    #[serde(default)]
    tags_json: Option<Json>,
    /// Another definition, as JSON text.
    #[serde(default)]
    data_json: Option<Json>,
}

async fn list(call: Call) -> Result<Json, Problem> {
    let shelf = call.state.engine().registry().await?;
    let rows: Vec<Json> = shelf.workflows().map(|(name, kept)| rows::workflow(name, kept)).collect();
    Ok(json!({"workflows": rows}))
}

async fn get(mut call: Call) -> Result<Json, Problem> {
    let args: Which = call.arguments()?;
    let shelf = call.state.engine().registry().await?;
    let (name, kept) = find(&shelf, &args.workflow_id)?;
    Ok(json!({"workflow": rows::workflow_with_text(name, kept)}))
}

async fn sync(mut call: Call) -> Result<Json, Problem> {
    let args: Save = call.arguments()?;
    let given = match (&args.data_json, &args.workflow_json) {
        (Some(data), None) | (None, Some(data)) => data,
        _ => return Err(Problem::new("give the definition as `data_json`, or as `workflow_json`, and not as both")),
    };
    let id = args.id.or_else(|| args.slug.clone()).unwrap_or_else(|| slug_of(&args.name));
    let text = checked(&call.state, &id, given).await?;
    let by = Some(call.caller.client.clone());
    let change =
        Change { text: Some(text), version: args.version, source: VersionSource::Sync, by, ..Change::default() };
    let (title, slug, description) = (args.name, args.slug, args.description);
    save(&call, &id, |known| {
        let about = known.map(|kept| kept.about.clone()).unwrap_or_default();
        let slug = slug.clone().or(about.slug);
        let description = description.clone().or(about.description);
        let about = About { title: Some(title.clone()), slug, description, ..about };
        Change { about: Some(about), ..change.clone() }
    })
    .await
}

async fn update(mut call: Call) -> Result<Json, Problem> {
    let args: Update = call.arguments()?;
    let shelf = call.state.engine().registry().await?;
    let id = find(&shelf, &args.workflow_id)?.0.to_owned();
    let text = match &args.data_json {
        Some(given) => Some(checked(&call.state, &id, given).await?),
        None => None,
    };
    let tags = args.tags_json.as_ref().map(tags).transpose()?;
    let by = Some(call.caller.client.clone());
    let change = Change { text, version: args.version.clone(), source: VersionSource::Update, by, ..Change::default() };
    save(&call, &id, |known| {
        let about = known.map(|kept| kept.about.clone()).unwrap_or_default();
        Change { about: Some(changed(about, &args, tags.clone())), ..change.clone() }
    })
    .await
}

fn changed(mut about: About, args: &Update, tags: Option<Vec<String>>) -> About {
    about.title = args.name.clone().or(about.title);
    about.description = args.description.clone().or(about.description).filter(|_| !args.clear_description);
    about.slug = args.slug.clone().or(about.slug).filter(|_| !args.clear_slug);
    about.enabled = args.enabled.unwrap_or(about.enabled);
    about.tags = tags.unwrap_or(about.tags);
    about
}

fn tags(given: &Json) -> Result<Vec<String>, Problem> {
    serde_json::from_value(parsed("tags_json", given)?)
        .map_err(|_| Problem::new("`tags_json` is not a JSON array of texts"))
}

async fn delete(mut call: Call) -> Result<Json, Problem> {
    let args: Which = call.arguments()?;
    let by = Some(call.caller.client.clone());
    let engine = call.state.engine();
    let id = find(&engine.registry().await?, &args.workflow_id)?.0.to_owned();
    engine.change_registry(|shelf, _| Ok(((), vec![shelf.remove(&id, by.clone())?]))).await?;
    Ok(json!({"deleted": id}))
}

async fn save(
    call: &Call,
    id: &str,
    change: impl Fn(Option<&RegisteredWorkflow>) -> Change + Send + Sync,
) -> Result<Json, Problem> {
    let engine = call.state.engine();
    let changed = engine
        .change_registry(|shelf, _| {
            let entries = shelf.save(id, &change(shelf.kept(id).ok()))?;
            Ok((!entries.is_empty(), entries))
        })
        .await?;
    let shelf = engine.registry().await?;
    let (name, kept) = find(&shelf, id)?;
    Ok(json!({"workflow": rows::workflow(name, kept), "changed": changed}))
}

/// Checks a definition. Returns its text and the hash of it.
pub(super) async fn checked(desk: &AppState, id: &str, given: &Json) -> Result<WorkflowText, Problem> {
    let text = match given {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    };
    desk.refresh_shelf().await?;
    desk.disk().shelve(id, &text).map_err(Problem::new)
}

/// Finds a workflow by its id, its slug or its name.
pub(super) fn find<'a>(shelf: &'a Registry, id: &str) -> Result<(&'a str, &'a RegisteredWorkflow), Problem> {
    let known: Vec<String> = shelf.workflows().map(|(name, _)| name.to_owned()).collect();
    shelf.workflow(id).ok_or_else(|| Problem::unknown("workflow", id, &known))
}

fn slug_of(name: &str) -> String {
    let signs: String =
        name.to_lowercase().chars().map(|sign| if sign.is_ascii_alphanumeric() { sign } else { '-' }).collect();
    let words: Vec<&str> = signs.split('-').filter(|word| !word.is_empty()).collect();
    words.join("-")
}
