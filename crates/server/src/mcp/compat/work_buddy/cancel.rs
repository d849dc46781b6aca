//! `workflow_cancel` and `workflow_sweep_idle`: cancel runs that no client continues.

use longhaul_app::RunCommand;
use longhaul_core::Json;
use longhaul_core::id::RunId;
use longhaul_core::status::RunStatus;
use longhaul_store::Query;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::told;
use super::{id, look};
use crate::mcp::arguments;
use crate::mcp::tool::{Call, Problem, Reply};

/// A run without activity for this long counts as given up.
const IDLE_MS: i64 = 24 * 60 * 60 * 1000;
/// How many runs to read at once.
const PAGE: usize = 200;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CancelArgs {
    /// The run.
    workflow_run_id: String,
    /// Why.
    #[serde(default)]
    reason: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SweepArgs {}

/// Cancels a run. A finished run stays as it is.
pub(super) async fn cancel(call: &Call, params: Map<String, Json>) -> Result<Reply, Problem> {
    let args: CancelArgs = arguments::read(params)?;
    let run = id::find(&call.state, &args.workflow_run_id).await?;
    let before = look::word(&call.state.engine().load(&run).await?.state);
    if before == "running" {
        end(call, &run, args.reason.as_deref()).await?;
    }
    let status = match before {
        "running" => "cancelled".to_owned(),
        over => format!("already_{over}"),
    };
    Ok(told(
        json!({"type": "workflow_cancel", "workflow_run_id": id::shown(&run), "status": status, "reason": args.reason}),
    ))
}

/// Cancels idle runs, and lists them.
pub(super) async fn sweep_idle(call: &Call, params: Map<String, Json>) -> Result<Reply, Problem> {
    let SweepArgs {} = arguments::read(params)?;
    Ok(told(json!({"type": "workflow_sweep_idle", "cancelled": sweep(call).await?, "reason": "idle_timeout"})))
}

/// Cancels the runs without activity for a day.
pub(super) async fn sweep(call: &Call) -> Result<Vec<Value>, Problem> {
    let statuses = RunStatus::words_of(RunStatus::OPEN);
    let query = Query { prefix: Some(id::STORED.to_owned()), statuses, limit: PAGE, ..Query::default() };
    let now = call.state.engine().now_ms();
    let mut swept = Vec::new();
    for row in call.state.engine().list(query).await?.iter().filter(|row| is_idle(row.updated_ms, now)) {
        end(call, &row.run, Some("idle_timeout")).await?;
        swept.push(json!(id::shown(&row.run)));
    }
    Ok(swept)
}

fn is_idle(touched: i64, now: i64) -> bool {
    now - touched > IDLE_MS
}

/// Cancels a run, and waits until it has recorded that, because a hosted run moves only when a client asks.
async fn end(call: &Call, run: &RunId, reason: Option<&str>) -> Result<(), Problem> {
    let command = RunCommand::Cancel { reason: reason.map(str::to_owned) };
    call.state.command(run, command, &call.caller).await?;
    if call.state.engine().load(run).await?.state.is_hosted() {
        call.state.engine().next(run, &call.caller.client).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_without_a_touch_is_idle() {
        let hours = |hours: i64| hours * 60 * 60 * 1000;
        assert!(is_idle(hours(1), hours(26)), "25 hours");
        assert!(!is_idle(hours(1), hours(24)), "23 hours");
    }
}
