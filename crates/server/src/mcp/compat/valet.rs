//! Valet's 22 actions on workflows, as tools.
//!
//! The service is called `workflows` there, and its actions `workflows:list_workflows` and so on. A tool's name cannot
//! have a colon in this protocol, so they are offered as `workflows_list_workflows`. Calls may use both forms, or the
//! last part alone.
//!
//! **Invariant:** a caller from inside a run changes no workflow, no trigger and no proposal, whatever the policy says.
//! All other actions are checked against the policy, and recorded with the rule, before anything happens.

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

/// The prefix of the tools.
const SERVICE: &str = "workflows";

/// The future of an action's answer.
type Answering = Pin<Box<dyn Future<Output = Result<Json, Problem>> + Send>>;

/// One of the 22 actions.
pub(crate) struct Action {
    id: &'static str,
    about: &'static str,
    risk: Risk,
    nature: Nature,
    /// Whether callers from inside a run may not do it.
    guarded: bool,
    schema: fn() -> JsonObject,
    fits: fn(&JsonObject) -> Result<(), Problem>,
    call: fn(Call) -> Answering,
}

impl Action {
    /// An action of low risk that all callers may do.
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

/// All actions.
fn table() -> impl Iterator<Item = &'static Action> {
    [workflows::ACTIONS, versions::ACTIONS, proposals::ACTIONS, executions::ACTIONS, gates::ACTIONS, triggers::ACTIONS]
        .into_iter()
        .flatten()
}

/// The actions as clients see them.
pub(crate) fn tools() -> Vec<rmcp::model::Tool> {
    table().map(Action::described).collect()
}

/// The action with this name.
pub(crate) fn named(name: &str) -> Option<&'static Action> {
    let rest = name.strip_prefix(SERVICE).and_then(|rest| rest.strip_prefix([':', '_', '.', '-']));
    table().find(|action| action.id == rest.unwrap_or(name) || action.id == name)
}

/// Carries out an action, or answers why not.
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

/// Checks a caller: first its origin, then the arguments, then the policy.
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
    let (decision, operation) = call.state.engine().consent_to(request).await?;
    match decision.verdict {
        Verdict::Allow => Ok(()),
        Verdict::Deny => Err(Problem::new(format!("`{name}` is denied ({})", decision.rule))),
        Verdict::Ask => Err(Problem::new(format!(
            "`{name}` needs consent ({}): a person says yes with `longhaul consent grant --operation {operation}`, then call again",
            decision.rule
        ))),
    }
}

/// Parses a JSON argument: a text, or the value itself.
fn parsed(argument: &str, given: &Json) -> Result<Json, Problem> {
    let Json::String(text) = given else { return Ok(given.clone()) };
    serde_json::from_str(text).map_err(|error| Problem::new(format!("`{argument}` is not JSON: {error}")))
}

/// Parses a JSON argument that must be a mapping. A missing one is empty.
fn mapping(argument: &str, given: Option<&Json>) -> Result<indexmap::IndexMap<String, Json>, Problem> {
    match given.map(|given| parsed(argument, given)).transpose()? {
        None | Some(Json::Null) => Ok(indexmap::IndexMap::new()),
        Some(Json::Object(map)) => Ok(map.into_iter().collect()),
        Some(_) => Err(Problem::new(format!("`{argument}` is not a JSON object"))),
    }
}

/// The limit of a list, within its bounds.
fn limit(argument: Option<u32>, usual: u32, most: u32) -> usize {
    argument.unwrap_or(usual).clamp(1, most) as usize
}
