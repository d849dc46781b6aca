//! Completes the names of workflows, runs and steps while a person types.

use longhaul_store::Query;
use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};

use crate::app_state::AppState;

/// How many runs to search.
const RUNS_MAX: usize = 20;

pub(crate) async fn complete(desk: &AppState, request: &CompleteRequestParams) -> Result<CompleteResult, ErrorData> {
    let typed = &request.argument.value;
    let values = match (&request.r#ref, request.argument.name.as_str()) {
        (Reference::Resource(_), "name") => workflows(desk, typed),
        (Reference::Resource(_), "run") => runs(desk, typed).await,
        (Reference::Resource(_), "step") => {
            let run = request.context.as_ref().and_then(|context| context.get_argument("run"));
            match run {
                Some(run) => steps(desk, run, typed).await,
                None => Vec::new(),
            }
        }
        _ => Vec::new(),
    };
    let values = values.into_iter().take(CompletionInfo::MAX_VALUES).collect();
    Ok(CompleteResult::new(CompletionInfo::new(values).map_err(|why| ErrorData::internal_error(why, None))?))
}

fn workflows(desk: &AppState, typed: &str) -> Vec<String> {
    let mut names: Vec<String> = desk.disk().library.all().into_iter().map(|entry| entry.name).collect();
    names.retain(|name| name.starts_with(typed));
    names.sort();
    names.dedup();
    names
}

async fn runs(desk: &AppState, typed: &str) -> Vec<String> {
    let query = Query { prefix: Some(typed.to_owned()), limit: RUNS_MAX, ..Query::default() };
    let rows = desk.engine().list(query).await.unwrap_or_default();
    rows.into_iter().map(|row| row.run.to_string()).collect()
}

async fn steps(desk: &AppState, run: &str, typed: &str) -> Vec<String> {
    let Ok((_, loaded)) = desk.load(run).await else { return Vec::new() };
    let paths = loaded.state.steps().iter().map(|step| step.path.to_string());
    paths.filter(|path| path.starts_with(typed)).collect()
}
