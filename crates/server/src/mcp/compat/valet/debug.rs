//! `debug_execution`: why a run stands where it stands, and what to do next. A function of the run.

use std::collections::BTreeMap;

use longhaul_core::Json;
use longhaul_core::explain::explain;
use longhaul_core::plan::Plan;
use longhaul_core::state::State;
use longhaul_core::view;
use serde_json::json;

use super::rows;

/// Everything there is to say about a run, from its row.
pub(super) fn told(execution: Json, plan: &Plan, state: &State, most: usize, now: i64) -> Json {
    let mut steps = rows::steps(&view::steps(plan, state, now));
    steps.truncate(most);
    let waiting = of(&steps, "waiting_approval");
    let failed = of(&steps, "failed");
    let status = execution["status"].as_str().unwrap_or_default().to_owned();
    let blocking = waiting.first().or(failed.first()).or(of(&steps, "running").first()).cloned();
    let diagnosis = diagnosis(&execution, plan, state, &failed);
    json!({
        "executionSummary": execution,
        "stepSummary": {
            "total": steps.len(), "counts": counts(&steps), "waiting": waiting, "failed": failed, "blockingStep": blocking,
        },
        "diagnosis": diagnosis,
        "recommendedActions": actions(&status),
    })
}

fn of(steps: &[Json], status: &str) -> Vec<Json> {
    let own = steps.iter().filter(|step| step["status"] == status);
    own.map(|step| json!({"stepId": step["stepId"], "path": step["path"], "error": step["error"]})).collect()
}

fn counts(steps: &[Json]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for status in steps.iter().filter_map(|step| step["status"].as_str()) {
        *counts.entry(status.to_owned()).or_default() += 1;
    }
    counts
}

fn diagnosis(execution: &Json, plan: &Plan, state: &State, failed: &[Json]) -> Vec<String> {
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let mut said: Vec<String> =
        failed.iter().map(|step| format!("`{}` failed: {}", text(&step["path"]), text(&step["error"]))).collect();
    said.extend(explain(plan, state).into_iter().map(|why| why.text));
    if said.is_empty() {
        let error = execution["error"].as_str().map_or_else(String::new, |error| format!(": {error}"));
        said.push(format!("the run is {}{error}", text(&execution["status"])));
    }
    said
}

fn actions(status: &str) -> Vec<&'static str> {
    match status {
        "waiting_approval" => {
            vec![
                "show a human what is asked, then call approve_execution with the resumeToken of get_execution",
                "or call cancel_execution",
            ]
        }
        "failed" => vec![
            "get_execution_steps shows what every step left",
            "put it right, then `longhaul retry` continues from the failed step; run_workflow starts again",
        ],
        "cancelled" => vec!["run_workflow starts again; `longhaul retry` takes it up where it was"],
        "completed" => vec!["nothing: get_execution has the outputs"],
        "pending" => vec!["wait; if nothing happens, start `longhaul worker`"],
        _ => vec!["wait, and look again with get_execution", "or call cancel_execution"],
    }
}
