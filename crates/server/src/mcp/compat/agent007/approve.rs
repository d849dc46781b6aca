//! `workflow_approve`: a person's decision at a gate.
//!
//! **Invariant:** the engine decides who may approve, as for all other interfaces.

use longhaul_core::view as fold;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::step_name;
use super::view;
use crate::mcp::arguments::schema;
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};
use crate::mcp::tools::answer;

pub(super) const TOOL: Tool = Tool {
    name: "agent007_workflow_approve",
    title: "agent007: pass on an approval",
    about: "Passes on what a HUMAN decided at a gate: approve, deny, or edit with the content that is used instead. Never decide yourself. \
            Then call agent007_workflow_next.",
    nature: Nature::Adds,
    schema: schema::<Args>,
    call: |call| Box::pin(approve(call)),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The session.
    session: String,
    /// approve (approved, yes, y), deny (denied, no, n) or edit (edited).
    decision: String,
    /// The step that waits; without it, the one that does.
    #[serde(default)]
    step: Option<String>,
    /// With edit: what is used in the place of the output.
    #[serde(default)]
    content: Option<String>,
}

async fn approve(mut call: Call) -> Result<Reply, Problem> {
    let args: Args = call.arguments()?;
    let decision = word(&args.decision, args.content.as_deref())?;
    let (run, loaded) = call.state.load(&args.session).await?;
    let mut said = json!({"run": run, "decision": decision});
    if decision == "edit" {
        said["value"] = json!(args.content);
    }
    if let Some(step) = &args.step {
        let questions = fold::questions(&loaded.plan.0, &loaded.state);
        let asked = questions.iter().find(|asked| step_name(&asked.path) == *step);
        said["step"] = asked.map_or_else(|| json!(step), |asked| json!(asked.path));
    }
    let desk = call.state.clone();
    call.arguments = said.as_object().cloned().unwrap_or_default();
    match (answer::TOOL.call)(call).await? {
        Reply::Done(..) => view::reply(&desk, &run, &[]).await,
        asks @ Reply::Asks(_) => Ok(asks),
    }
}

/// The decision in one word.
fn word(decision: &str, content: Option<&str>) -> Result<&'static str, Problem> {
    match decision.trim().to_lowercase().as_str() {
        "approve" | "approved" | "yes" | "y" => Ok("approve"),
        "deny" | "denied" | "no" | "n" => Ok("deny"),
        "edit" | "edited" if content.is_some_and(|content| !content.trim().is_empty()) => Ok("edit"),
        "edit" | "edited" => Err(Problem::new(
            "decision 'edit' needs content that is not blank: what is used instead; the gate still waits",
        )),
        other => {
            Err(Problem::new(format!("'{other}' is no decision; it is approve, deny or edit; the gate still waits")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_are_understood_as_people_write_them() {
        let said = |decision, content| word(decision, content).unwrap_or("error");
        for yes in ["approve", "Approved", " yes ", "y"] {
            assert_eq!(said(yes, None), "approve");
        }
        for no in ["deny", "DENIED", "no", "n"] {
            assert_eq!(said(no, None), "deny");
        }
        assert_eq!(
            (said("edited", Some("x")), said("edit", Some("  ")), said("edit", None)),
            ("edit", "error", "error")
        );
        assert_eq!(said("maybe", None), "error");
    }
}
