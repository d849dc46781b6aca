//! Runs that are made over the wire: started, or forked from others.
//!
//! **Invariant:** a key makes one run. The id of the run follows from the key, and a store makes an id once, so a request that is
//! sent again gets the same answer from whichever process hears it.

use axum::http::StatusCode;
use indexmap::IndexMap;
use longhaul_core::Json;
use longhaul_core::event::Driver;
use longhaul_core::id::RunId;
use longhaul_runtime::{Error, ForkRequest, StartRequest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::call::{Call, Reply, path_of};
use super::problem::Problem;
use super::workflows::aside;

/// The longest key.
const KEY_CHARS_MAX: usize = 200;

/// What a run is started with.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Start {
    /// A name from the list.
    workflow: String,
    #[serde(default)]
    task: String,
    #[serde(default)]
    inputs: IndexMap<String, Json>,
}

/// Where a run departs from another one.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Fork {
    /// The first step that is done again; the first of all, if nothing is said.
    #[serde(default)]
    from: Option<String>,
    #[serde(default)]
    inputs: IndexMap<String, Json>,
}

/// A run that was made.
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
    call.desk().refresh_shelf().await.map_err(|problem| Problem::failing(problem.0))?;
    let name = body.workflow;
    let (plan, workflow_dir) = aside(call.desk(), move |desk| super::workflows::plan(desk, &name)).await?;
    let request = StartRequest {
        task: body.task,
        inputs: body.inputs,
        run: Some(mark.run.clone()),
        trigger: mark.trigger(),
        owner: Some(call.origin()),
        workflow_dir,
        driver: Driver::Engine,
    };
    let made = call.desk().engine().start(&plan, request).await;
    mark.reply(&call, made).await
}

pub(super) async fn fork(call: Call) -> Result<Reply, Problem> {
    let mark = Mark::of(&call, "fork")?;
    let body: Fork = call.body()?;
    let (from, loaded) = call.load().await?;
    if let Some(reply) = mark.answered(&call).await? {
        return Ok(reply);
    }
    let first = || loaded.state.steps().first().map(|step| step.path.clone());
    let at = match &body.from {
        Some(text) => path_of(text)?,
        None => first().ok_or_else(|| Problem::untimely("no step of this run was reached yet"))?,
    };
    let request = ForkRequest {
        at,
        inputs: body.inputs,
        run: Some(mark.run.clone()),
        trigger: Some(mark.trigger()),
        owner: Some(call.origin()),
    };
    let made = call.desk().engine().fork(&from, request).await;
    mark.reply(&call, made).await
}

/// What a request is known by when it comes again.
struct Mark {
    run: RunId,
    /// The hash of all that is asked for.
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

    fn trigger(&self) -> Json {
        json!({"type": "api", "request": self.request})
    }

    /// The answer, if there was one before.
    async fn answered(&self, call: &Call) -> Result<Option<Reply>, Problem> {
        let loaded = match call.desk().engine().load(&self.run).await {
            Ok(loaded) => loaded,
            Err(Error::UnknownRun(_) | Error::Store(longhaul_store::Error::UnknownRun)) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let before = loaded.state.started.as_ref().and_then(|started| started.trigger.get("request")?.as_str());
        if before != Some(&self.request) {
            return Err(Problem::used_key());
        }
        Reply::json(&self.made()).map(Some)
    }

    /// The answer to a run that was just made, here or by somebody who was faster.
    async fn reply(&self, call: &Call, made: Result<RunId, Error>) -> Result<Reply, Problem> {
        match made {
            Ok(run) => {
                call.desk().engine().poke(&run);
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

/// The same for the same value, however its keys are ordered.
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
