//! What `longhaul run` looks at before it starts or continues a run.

use anyhow::Result;
use longhaul_app::App;
use longhaul_config::SameFolder;
use longhaul_core::id::RunId;
use longhaul_core::plan::Plan;
use longhaul_core::rejection::Rejection;
use longhaul_core::state::State;
use longhaul_lang::diagnostic;
use longhaul_project::{Project, Settings};

use crate::ui;

/// Refuses to continue a run of another workflow or another task.
pub(super) fn is_the_same(run: &RunId, state: &State, plan: &Plan, task: &str) -> Result<()> {
    let Some(started) = &state.started else { return Ok(()) };
    let remedy = "choose another --run-id, or start a new run with --fresh";
    let (is, wanted) = (&started.workflow, &plan.main().name);
    if is != wanted {
        let why = format!("`{run}` is a run of `{}`, not of `{wanted}`", diagnostic::plain(is));
        return Err(Rejection::conflict(why).say(remedy).into());
    }
    if !task.is_empty() && task != started.task {
        return Err(Rejection::conflict(format!("`{run}` was started with another task")).say(remedy).into());
    }
    Ok(())
}

/// The warning about a workflow that reads a task and gets none.
pub(super) fn without_task(workflow: &str) -> String {
    format!(
        "warning: the workflow reads `task`, and none was given, so it is empty; give one: longhaul run {workflow} \"TASK\""
    )
}

/// Warns about other runs that edit files of this folder, or refuses to start beside them.
pub(super) async fn same_folder(app: &App, plan: &Plan) -> Result<()> {
    let project = Project::current()?;
    let setting = Settings::of(&project)?.same_folder.unwrap_or_default();
    if setting == SameFolder::Allow {
        return Ok(());
    }
    let others = app.editing_beside(plan, &project.root).await?;
    let Some((first, workflow)) = others.first() else { return Ok(()) };
    let more = if others.len() > 1 { format!(" (and {} more)", others.len() - 1) } else { String::new() };
    let workflow = diagnostic::plain(workflow);
    let why = format!("`{first}`{more} ({workflow}) also edits files in {}", project.root.display());
    let remedy = format!(
        "wait until it is over, stop it (longhaul cancel {first}), or start this run in another checkout (git worktree add)"
    );
    if setting == SameFolder::Refuse {
        return Err(Rejection::conflict(why).say(remedy).into());
    }
    ui::say(format!("warning: {why}; the changes will mix: {remedy}"));
    Ok(())
}
