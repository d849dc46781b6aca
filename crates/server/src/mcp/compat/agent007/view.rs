//! The answer of nearly every tool of agent007: a session, how far it is, and what is to be done.

use longhaul_core::duration::format_ms;
use longhaul_core::id::RunId;
use longhaul_core::view::{self, Held};
use longhaul_runtime::{Loaded, Work};
use serde_json::{Value, json};

use super::super::told;
use super::{gate, progress, table, words};
use crate::desk::Desk;
use crate::mcp::tool::{Problem, Reply};

/// How a run stands, with the steps that the caller has to do.
pub(super) async fn reply(desk: &Desk, run: &RunId, ready: &[Work]) -> Result<Reply, Problem> {
    Ok(told(session(desk, run, ready).await?))
}

/// The same as data.
pub(super) async fn session(desk: &Desk, run: &RunId, ready: &[Work]) -> Result<Value, Problem> {
    let loaded = desk.engine().load(run).await?;
    let rounds = progress::rounds(desk, run, &loaded).await?;
    Ok(data(run, &loaded, ready, &rounds, desk.engine().now_ms()))
}

fn data(run: &RunId, loaded: &Loaded, ready: &[Work], rounds: &progress::Rounds, now: i64) -> Value {
    let (plan, state) = (&loaded.plan.0, &loaded.state);
    let task = state.started.as_ref().map(|started| started.task.as_str()).unwrap_or_default();
    let questions = view::questions(plan, state);
    let held = view::held(state, now);
    let tools: Vec<&str> = table().iter().map(|tool| tool.name).collect();
    json!({
        "session": run,
        "mode": if state.is_hosted() { "hosted-mcp" } else { "standalone" },
        "request": {"workflow": plan.main().name, "task": task},
        "progress": progress::data(run, loaded, ready, now),
        "approval_gate": questions.first().map(|asked| gate::gate(run, asked)),
        "running_step_liveness": held.iter().map(|held| liveness(held, now)).collect::<Vec<_>>(),
        "warnings": held.iter().filter(|held| held.stale).map(|held| warning(held, now)).collect::<Vec<_>>(),
        "workflow_state": {
            "status": words::session(state), "steps": progress::steps(loaded, now), "retry_counts": rounds,
        },
        "available_tools": tools,
        "execution_instructions": instructions(run),
    })
}

/// When something was last heard of a step that somebody has.
fn liveness(held: &Held, now: i64) -> Value {
    let step = super::super::step_name(&held.path);
    let (secs, ago) = since(held.last_seen, now);
    // Who has only taken a step has not said anything yet.
    if held.hint.is_none() && held.last_seen == held.since {
        return json!({"step": step, "dispatched_age_secs": secs, "dispatched_ago": ago, "stale": held.stale});
    }
    json!({
        "step": step, "last_heartbeat_hint": held.hint, "last_heartbeat_age_secs": secs, "last_heartbeat_ago": ago,
        "stale": held.stale,
    })
}

fn since(then: i64, now: i64) -> (u64, String) {
    let ms = u64::try_from(now - then).unwrap_or_default();
    (ms / 1000, format!("{} ago", format_ms(ms / 1000 * 1000)))
}

fn warning(held: &Held, now: i64) -> String {
    let (_, ago) = since(held.last_seen, now);
    format!(
        "step '{}' is silent, last heard of {ago}: look after it, or do it again yourself and submit it",
        super::super::step_name(&held.path)
    )
}

/// What a client does with an answer.
fn instructions(run: &RunId) -> Value {
    json!({
        "steps": "Do every entry of progress.ready_steps exactly as its prompt says, side by side if you can (a subagent each).",
        "submit": format!("Hand each result in with agent007_workflow_submit_step (session {run}); its answer has the next steps."),
        "approval": "If approval_gate is there, follow its STOP_INSTRUCTIONS. A human decides, never you.",
        "resume": format!("After an interruption call agent007_workflow_next (session {run}): it gives you the open steps again."),
        "finish": "Continue until progress.status is succeeded or failed.",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(seen: i64, hint: Option<&str>) -> Held {
        Held {
            path: "impl#2".parse().unwrap(),
            attempt: 1,
            by: "ed".to_owned(),
            since: 1_000,
            until: 9_000_000,
            last_seen: seen,
            hint: hint.map(str::to_owned),
            stale: false,
        }
    }

    #[test]
    fn a_step_says_when_it_was_last_heard_of() {
        assert_eq!(
            liveness(&held(1_000, None), 62_500),
            json!({"step": "impl", "dispatched_age_secs": 61, "dispatched_ago": "1m1s ago", "stale": false})
        );
        let heard = liveness(&held(31_000, Some("tests")), 62_500);
        assert_eq!((&heard["last_heartbeat_hint"], &heard["last_heartbeat_age_secs"]), (&json!("tests"), &json!(31)));
        assert!(heard.get("dispatched_ago").is_none(), "{heard}");
    }
}
