//! A step for the client to do.
//!
//! **Invariant:** a client that knows only the prompt of a step can do and close it.

use longhaul_core::id::RunId;
use longhaul_core::plan::Step;
use longhaul_core::view;
use longhaul_runtime::{HostedWork, Loaded};
use serde_json::{Value, json};

use super::super::step_name;

/// An entry of `ready_steps`.
pub(super) fn ready(run: &RunId, loaded: &Loaded, work: &HostedWork) -> Value {
    let plan = &loaded.plan.0;
    let step = loaded.state.find(&work.path).map(|inst| plan.step(inst.step));
    let outputs = view::outputs(plan, &loaded.state);
    let mut data = json!({
        "id": step_name(&work.path),
        "agent": work.persona.as_deref().unwrap_or_default(),
        "model_hint": work.model.as_deref().unwrap_or("host-llm"),
        "prompt": format!("{}\n\n{}", work.prompt.trim_end(), footer(run, work, &outputs)),
        "inputs": work.inputs,
        "depends_on": work.depends_on,
        "step_type": step.map_or("execute", kind),
        "requires_approval": work.review,
        "session_id": run,
    });
    let more = [("system_prompt", &work.system), ("output_key", &work.output)];
    for (key, text) in more.into_iter().filter_map(|(key, text)| Some((key, text.as_ref()?))) {
        data[key] = json!(text);
    }
    data
}

/// The kind of a step there.
pub(super) fn kind(step: &Step) -> &'static str {
    if step.rewind.is_some() {
        "evaluator"
    } else if step.next.iter().any(|route| route.when.is_some()) {
        "router"
    } else if step.is_agent() {
        "execute"
    } else if step.form.word() == "workflow" {
        "sub-workflow"
    } else {
        "extract"
    }
}

fn footer(run: &RunId, work: &HostedWork, outputs: &[String]) -> String {
    let id = step_name(&work.path);
    let call = |more: Value| {
        let mut call = json!({"session": run, "step": id});
        if let (Some(call), Value::Object(more)) = (call.as_object_mut(), more) {
            call.extend(more);
        }
        call
    };
    let earlier = if outputs.is_empty() {
        String::new()
    } else {
        let call = json!({"session": run, "key": "<name>"});
        format!("\n- Earlier outputs in full: agent007_workflow_get_output {call}. There are: {}.", outputs.join(", "))
    };
    format!(
        "---\nStep '{id}' of session {run}. Whoever does it submits it, a subagent too, without waiting to be told:\n\
         - Done: agent007_workflow_submit_step {}\n\
         - Every 3 to 5 minutes while it takes long: agent007_workflow_heartbeat {}{earlier}\n\
         - Session: {run}",
        call(json!({"output": "<the whole result>"})),
        call(json!({"hint": "<what you are at>"})),
    )
}
