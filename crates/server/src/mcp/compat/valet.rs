//! Valet's 22 actions on workflows, as tools.
//!
//! Their service is called `workflows`, and their names `workflows:list_workflows` and so on. A colon is no part of a tool's name
//! in this protocol, so they are offered as `workflows_list_workflows`; calls may use either, or the last part alone.
//!
//! **Invariant:** whoever comes out of a run changes no workflow, no trigger and no proposal, whatever the policy says. Everything
//! else is held to the policy, and recorded with the rule, before anything is done.

mod debug;
mod executions;
mod gates;
mod proposals;
mod rows;
mod triggers;
mod versions;
mod workflows;

use std::pin::Pin;
use std::sync::Arc;

use longhaul_core::Json;
use longhaul_core::consent::ConsentRequest;
use longhaul_core::plan::Risk;
use longhaul_core::policy::Verdict;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, JsonObject};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::mcp::arguments;
use crate::mcp::tool::{Call, Nature, Problem};

/// How the tools are called before their own names.
const SERVICE: &str = "workflows";

/// What an action comes to, some time.
type Answering = Pin<Box<dyn Future<Output = Result<Json, Problem>> + Send>>;

/// One of the 22.
pub(crate) struct Action {
    id: &'static str,
    about: &'static str,
    risk: Risk,
    nature: Nature,
    /// Whether nothing that comes out of a run may do it.
    guarded: bool,
    schema: fn() -> JsonObject,
    fits: fn(&JsonObject) -> Result<(), Problem>,
    call: fn(Call) -> Answering,
}

impl Action {
    /// An action of low risk that anybody may do.
    const fn new<T: DeserializeOwned + JsonSchema>(
        id: &'static str,
        about: &'static str,
        nature: Nature,
        call: fn(Call) -> Answering,
    ) -> Self {
        let (schema, fits) = (arguments::schema::<T> as fn() -> JsonObject, fits::<T> as fn(&_) -> _);
        Self { id, about, risk: Risk::Low, nature, guarded: false, schema, fits, call }
    }

    const fn medium(self) -> Self {
        Self { risk: Risk::Medium, ..self }
    }

    const fn guarded(self) -> Self {
        Self { guarded: true, ..self }
    }

    fn name(&self) -> String {
        format!("{SERVICE}_{}", self.id)
    }

    fn described(&self) -> rmcp::model::Tool {
        let title = format!("{SERVICE}:{}", self.id);
        rmcp::model::Tool::new(self.name(), self.about, Arc::new((self.schema)()))
            .with_annotations(self.nature.annotations(&title))
            .with_title(title)
    }
}

fn fits<T: DeserializeOwned + JsonSchema>(arguments: &JsonObject) -> Result<(), Problem> {
    arguments::read::<T>(arguments.clone()).map(drop)
}

/// All of them.
fn table() -> impl Iterator<Item = &'static Action> {
    [workflows::ACTIONS, versions::ACTIONS, proposals::ACTIONS, executions::ACTIONS, gates::ACTIONS, triggers::ACTIONS]
        .into_iter()
        .flatten()
}

/// As clients are told of them.
pub(crate) fn tools() -> Vec<rmcp::model::Tool> {
    table().map(Action::described).collect()
}

/// The action that a name stands for.
pub(crate) fn named(name: &str) -> Option<&'static Action> {
    let rest = name.strip_prefix(SERVICE).and_then(|rest| rest.strip_prefix([':', '_', '.', '-']));
    table().find(|action| action.id == rest.unwrap_or(name) || action.id == name)
}

/// Does what is asked for, or says why not.
pub(crate) async fn call(action: &'static Action, call: Call) -> CallToolResponse {
    let answer = match allowed(action, &call).await {
        Ok(()) => (action.call)(call).await,
        Err(problem) => Err(problem),
    };
    let (data, is_error) = match answer {
        Ok(data) => (json!({"success": true, "data": data}), false),
        Err(problem) => (json!({"success": false, "error": problem.text}), true),
    };
    let text = vec![ContentBlock::text(data.to_string())];
    let mut result = if is_error { CallToolResult::error(text) } else { CallToolResult::success(text) };
    result.structured_content = Some(data);
    result.into()
}

/// Who may do it: first where they come from, then whether it makes sense, then the policy.
async fn allowed(action: &Action, call: &Call) -> Result<(), Problem> {
    let who = &call.caller.who;
    let name = format!("{SERVICE}:{}", action.id);
    if let Some(run) = who.inside.first().filter(|_| action.guarded) {
        return Err(Problem::new(format!(
            "`{name}` is denied inside a workflow's own session (run {run}); ask for it through the orchestrator, outside of the run"
        )));
    }
    (action.fits)(&call.arguments)?;
    let request = ConsentRequest {
        session: call.caller.session.clone(),
        run: who.inside.first().cloned(),
        ..ConsentRequest::new(name.clone(), action.risk)
    };
    let (decision, operation) = call.desk.engine().consent_to(request).await?;
    match decision.verdict {
        Verdict::Allow => Ok(()),
        Verdict::Deny => Err(Problem::new(format!("`{name}` is denied ({})", decision.rule))),
        Verdict::Ask => Err(Problem::new(format!(
            "`{name}` needs consent ({}): a person says yes with `longhaul consent grant --operation {operation}`, then call again",
            decision.rule
        ))),
    }
}

/// What somebody gave as JSON: the text of it, or the value itself.
fn parsed(argument: &str, given: &Json) -> Result<Json, Problem> {
    let Json::String(text) = given else { return Ok(given.clone()) };
    serde_json::from_str(text).map_err(|error| Problem::new(format!("`{argument}` is not JSON: {error}")))
}

/// The same where a mapping is wanted; nothing is an empty one.
fn mapping(argument: &str, given: Option<&Json>) -> Result<indexmap::IndexMap<String, Json>, Problem> {
    match given.map(|given| parsed(argument, given)).transpose()? {
        None | Some(Json::Null) => Ok(indexmap::IndexMap::new()),
        Some(Json::Object(map)) => Ok(map.into_iter().collect()),
        Some(_) => Err(Problem::new(format!("`{argument}` is not a JSON object"))),
    }
}

/// How many are wanted, within what can be had.
fn limit(argument: Option<u32>, usual: u32, most: u32) -> usize {
    argument.unwrap_or(usual).clamp(1, most) as usize
}
