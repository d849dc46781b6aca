//! `workflow_cancel` and `workflow_sweep_idle`: the ends of runs that nobody continues with.

use longhaul_core::Json;
use longhaul_core::id::RunId;
use longhaul_runtime::Message;
use longhaul_store::Query;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::told;
use super::{id, look};
use crate::mcp::arguments;
use crate::mcp::tool::{Call, Problem, Reply};

/// Untouched for so long, a run counts as given up.
const IDLE_MS: i64 = 24 * 60 * 60 * 1000;
/// Runs that are looked at in one go.
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

/// Cancels a run; one that is over is left alone.
pub(super) async fn cancel(call: &Call, params: Map<String, Json>) -> Result<Reply, Problem> {
    let args: CancelArgs = arguments::read(params)?;
    let run = id::find(&call.desk, &args.workflow_run_id).await?;
    let before = look::word(&call.desk.engine().load(&run).await?.state);
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

/// Cancels what is idle, and says what that was.
pub(super) async fn sweep_idle(call: &Call, params: Map<String, Json>) -> Result<Reply, Problem> {
    let SweepArgs {} = arguments::read(params)?;
    Ok(told(json!({"type": "workflow_sweep_idle", "cancelled": sweep(call).await?, "reason": "idle_timeout"})))
}

/// Cancels the runs that nobody has touched for a day.
pub(super) async fn sweep(call: &Call) -> Result<Vec<Value>, Problem> {
    let statuses = longhaul_core::status::OPEN.map(str::to_owned).to_vec();
    let query = Query { prefix: Some(id::STORED.to_owned()), statuses, limit: PAGE, ..Query::default() };
    let now = call.desk.engine().now_ms();
    let mut swept = Vec::new();
    for row in call.desk.engine().list(query).await?.iter().filter(|row| is_idle(row.updated_ms, now)) {
        end(call, &row.run, Some("idle_timeout")).await?;
        swept.push(json!(id::shown(&row.run)));
    }
    Ok(swept)
}

fn is_idle(touched: i64, now: i64) -> bool {
    now - touched > IDLE_MS
}

/// Ends a run. It has taken that in by then: a hosted run moves only when somebody asks it to.
async fn end(call: &Call, run: &RunId, reason: Option<&str>) -> Result<(), Problem> {
    let message = Message::Cancel { reason: reason.map(str::to_owned), by: Some(call.caller.client.clone()) };
    call.desk.tell(run, message, &call.caller.who).await?;
    if call.desk.engine().load(run).await?.state.is_hosted() {
        call.desk.engine().next(run, &call.caller.client).await?;
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
