//! Starts runs over HTTP, or forks them from others.
//!
//! **Invariant:** an idempotency key creates one run. The id of the run follows from the key, and the store creates an
//! id only once. So a repeated request gets the same answer from all processes.

use axum::http::StatusCode;
use indexmap::IndexMap;
use longhaul_app::{Forking, StartOrder};
use longhaul_core::Json;
use longhaul_core::event::{Driver, RunTrigger};
use longhaul_core::id::RunId;
use longhaul_runtime::Error;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::call::{Call, Reply, path_of};
use super::problem::Problem;
use super::workflows::aside;

/// The longest idempotency key.
const KEY_CHARS_MAX: usize = 200;

/// The values that a run starts with.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Start {
    /// The name of a workflow in the list.
    workflow: String,
    #[serde(default)]
    task: String,
    #[serde(default)]
    inputs: IndexMap<String, Json>,
}

/// Where a run departs from the run that it is forked from.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Fork {
    /// The first step that runs again. Without it, the first step of the run.
    #[serde(default)]
    from: Option<String>,
    #[serde(default)]
    inputs: IndexMap<String, Json>,
}

/// A run that was created.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Made {
    run: String,
}

pub(super) async fn start(call: Call) -> Result<Reply, Problem> {
    let mark = Mark::of(&call, "start")?;
    let body: Start = call.body()?;
    if let Some(reply) = mark.answered(&call).await? {
        return Ok(reply);
    }
    call.state().refresh_shelf().await.map_err(|problem| Problem::failing(problem.text))?;
    let name = body.workflow;
    let startable = aside(call.state(), move |desk| super::workflows::startable(desk, &name)).await?;
    let order = StartOrder {
        task: body.task,
        inputs: body.inputs,
        run: Some(mark.run.clone()),
        trigger: Some(mark.trigger()),
        driver: Driver::Engine,
    };
    let made = call.state().app().start(&startable, order, &call.caller()).await;
    mark.reply(&call, made).await
}

pub(super) async fn fork(call: Call) -> Result<Reply, Problem> {
    let mark = Mark::of(&call, "fork")?;
    let body: Fork = call.body()?;
    let from = call.run().await?;
    if let Some(reply) = mark.answered(&call).await? {
        return Ok(reply);
    }
    let at = body.from.as_deref().map(path_of).transpose()?;
    let (run, trigger) = (Some(mark.run.clone()), Some(mark.trigger()));
    let forking = Forking { at, inputs: body.inputs, run, trigger };
    let made = call.state().app().fork(&from, forking, &call.caller()).await;
    mark.reply(&call, made).await
}

/// Recognises a repeated request.
struct Mark {
    run: RunId,
    /// The hash of the whole request.
    request: String,
}

impl Mark {
    fn of(call: &Call, what: &str) -> Result<Self, Problem> {
        let key = call.headers.get("idempotency-key").and_then(|key| key.to_str().ok()).unwrap_or_default();
        if !(1..=KEY_CHARS_MAX).contains(&key.chars().count()) {
            let title =
                format!("The header `Idempotency-Key` is missing, or has more than {KEY_CHARS_MAX} characters.");
            return Err(Problem::unreadable(title));
        }
        let body: Json = call.body()?;
        let request = blake3::hash(json!([what, call.param("run"), canonical(body)]).to_string().as_bytes()).to_hex();
        let id = format!("k{}", &blake3::hash(key.as_bytes()).to_hex()[..20]);
        let run = RunId::new(id).ok_or_else(|| Problem::unreadable("`Idempotency-Key` cannot be used."))?;
        Ok(Self { run, request: request.to_string() })
    }

    fn trigger(&self) -> RunTrigger {
        RunTrigger::api(&self.request)
    }

    /// The answer, if the run already exists.
    async fn answered(&self, call: &Call) -> Result<Option<Reply>, Problem> {
        let loaded = match call.state().engine().load(&self.run).await {
            Ok(loaded) => loaded,
            Err(Error::UnknownRun(_) | Error::Store(longhaul_store::Error::UnknownRun)) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let before = loaded.state.started.as_ref().and_then(|started| started.trigger.as_ref()?.request.as_ref());
        if before != Some(&self.request) {
            return Err(Problem::used_key());
        }
        Reply::json(&self.made()).map(Some)
    }

    /// The answer for a run that was just created, by this process or by a faster one.
    async fn reply(&self, call: &Call, made: Result<RunId, Error>) -> Result<Reply, Problem> {
        match made {
            Ok(run) => {
                call.state().engine().poke(&run);
                Reply::json_with(StatusCode::CREATED, &self.made())
            }
            Err(Error::Store(longhaul_store::Error::Exists | longhaul_store::Error::Conflict { .. })) => {
                self.answered(call).await?.ok_or_else(|| Problem::failing("the run could not be recorded"))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn made(&self) -> Made {
        Made { run: self.run.to_string() }
    }
}

/// A value with sorted keys, so that equal values give equal text.
fn canonical(value: Json) -> Json {
    match value {
        Json::Object(map) => {
            let mut pairs: Vec<(String, Json)> = map.into_iter().map(|(key, value)| (key, canonical(value))).collect();
            pairs.sort_by(|a, b| a.0.cmp(&b.0));
            Json::Object(pairs.into_iter().collect())
        }
        Json::Array(items) => Json::Array(items.into_iter().map(canonical).collect()),
        other => other,
    }
}
