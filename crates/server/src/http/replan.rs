//! Continues runs with a changed workflow.

use indexmap::IndexMap;
use longhaul_app::replan::changed_file;
use longhaul_app::workflow::{self, Unplanned};
use longhaul_app::{CommandOutcome, Replanning};
use longhaul_core::Json;
use longhaul_core::replan::{Choices, Comparison};
use longhaul_runtime::{SourceText, Startable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::{Call, Reply};
use super::keys::Role;
use super::problem::Problem;
use super::workflows::{aside, startable};
use crate::app_state::AppState;

/// The text that a run holds.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Source {
    /// The text.
    text: String,
    /// The file that it comes from, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// The dialect, if it is not our own.
    #[serde(skip_serializing_if = "Option::is_none")]
    dialect: Option<String>,
    /// Whether it was edited for this run alone.
    edited: bool,
    /// Whether the file would make another plan now.
    file_changed: bool,
}

pub(super) async fn source(call: Call) -> Result<Reply, Problem> {
    let run = call.run().await?;
    let app = call.state().app();
    let Some(source) = app.source(&run).await? else {
        return Err(Problem::missing("An earlier version started this run and did not store its text."));
    };
    let loaded = app.engine().load(&run).await?;
    let file_changed = aside(call.state(), move |desk| Ok(changed_file(&desk.disk(), &loaded).is_some())).await?;
    let SourceText { file, text, dialect, edited } = source;
    Reply::json(&Source { text, file, dialect, edited, file_changed })
}

/// A changed workflow for a run: a text, or the name of a workflow.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Replan {
    /// The new text. To apply it, the caller must be an admin: a text can run any command.
    #[serde(default)]
    text: Option<String>,
    /// The name of a workflow.
    #[serde(default)]
    workflow: Option<String>,
    /// Inputs that differ from those of the run.
    #[serde(default)]
    inputs: IndexMap<String, Json>,
    /// Steps that keep their results, changed or not.
    #[serde(default)]
    keep: Vec<String>,
    /// Steps that run again, changed or not.
    #[serde(default)]
    again: Vec<String>,
    /// Only compare.
    #[serde(default)]
    preview: bool,
    /// The hash of the comparison that the person was shown. Needed unless `preview` is true.
    #[serde(default)]
    expect: Option<String>,
}

/// What a changed workflow means for a run, and what came of it.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Replanned {
    comparison: Comparison,
    /// What was done; nothing for a preview.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<CommandOutcome>,
}

pub(super) async fn replan(call: Call) -> Result<Reply, Problem> {
    let body: Replan = call.body()?;
    let run = call.run().await?;
    let is_admin = call.visitor.as_ref().is_some_and(|visitor| visitor.role >= Role::Admin);
    if body.text.is_some() && !body.preview && !is_admin {
        let detail = "A text can run any command. Ask an admin, or give the name of a `workflow` of the project.";
        return Err(Problem::forbidden("Only an admin may give a run another text.", detail));
    }
    if !body.preview && body.expect.is_none() {
        return Err(Problem::unreadable("`expect` is missing: send the `hash` of the comparison that you were shown."));
    }
    call.state().refresh_shelf().await.map_err(|problem| Problem::failing(problem.text))?;
    let app = call.state().app();
    let before = app.source(&run).await?;
    let name = app.engine().load(&run).await?.plan.0.main().name.clone();
    let (text, workflow) = (body.text, body.workflow);
    let what = aside(call.state(), move |desk| wanted(desk, before.as_ref(), &name, text, workflow)).await?;
    let choices = Choices { keep: body.keep, redo: body.again };
    let how = Replanning { inputs: body.inputs, choices, expect: body.expect, ..Replanning::new(what) };
    if body.preview {
        let comparison = app.compare(&run, &how, &call.caller()).await?;
        return Reply::json(&Replanned { comparison, outcome: None });
    }
    let (comparison, applied) = app.replan(&run, &how, &call.caller()).await?;
    Reply::json(&Replanned { comparison, outcome: Some(CommandOutcome::of(&applied)) })
}

fn wanted(
    desk: &AppState,
    before: Option<&SourceText>,
    name: &str,
    text: Option<String>,
    named: Option<String>,
) -> Result<Startable, Problem> {
    match (text, named) {
        (Some(text), None) => workflow::edited(&desk.disk(), before, name, &text).map_err(|why| match why {
            Unplanned::Mistakes(report) => Problem::mistakes(name, &report),
            other => other.rejection(name).into(),
        }),
        (None, Some(workflow)) => startable(desk, &workflow),
        _ => Err(Problem::unreadable("Give either `text` or `workflow`, a name.")),
    }
}
