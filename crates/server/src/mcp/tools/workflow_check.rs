//! `workflow_check`: lists all findings about a workflow.

use longhaul_lang::diagnostic::{render, summary};
use longhaul_lang::{CheckReport, CheckRequest};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::app_state::AppState;
use crate::mcp::answers::Checked;
use crate::mcp::arguments::schema;
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};

/// The most findings to show. Many often have one cause.
const TOLD_MAX: usize = 20;

pub(crate) const TOOL: Tool = Tool {
    name: "workflow_check",
    title: "Check a workflow",
    about: "Checks a workflow, by name or as text that is not saved yet, and says everything that is wrong with it: code, place, remedy. \
            Executes nothing, writes nothing.",
    nature: Nature::Looks,
    schema: schema::<Args>,
    call: |call| Box::pin(check(call)),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The name of a workflow, as `workflow_list` gives it.
    #[serde(default)]
    workflow: Option<String>,
    /// The text of a workflow, instead of a name.
    #[serde(default)]
    text: Option<String>,
}

async fn check(mut call: Call) -> Result<Reply, Problem> {
    let args: Args = call.arguments()?;
    let report = match (&args.workflow, args.text) {
        (Some(name), None) => call.state.workflow(name)?.1,
        (None, Some(text)) => of_text(&call.state, "text", text),
        _ => return Err(Problem::new("give either `workflow`, the name of a workflow, or `text`, the text of one")),
    };
    Ok(Reply::Done(in_words(&report), json!(as_data(&report))))
}

/// Checks a text.
pub(super) fn of_text(desk: &AppState, name: &str, text: String) -> CheckReport {
    let request = CheckRequest { file: format!("{name}.yaml"), name: name.to_owned(), text, ..CheckRequest::default() };
    longhaul_lang::check(request, &desk.disk())
}

/// The findings as text, for models and people.
pub(crate) fn in_words(report: &CheckReport) -> String {
    if report.diagnostics.is_empty() {
        return "nothing is wrong with it".to_owned();
    }
    let found = report.diagnostics.iter().take(TOLD_MAX).map(|found| render(found, &report.sources, false));
    let more = report.diagnostics.len().saturating_sub(TOLD_MAX);
    let more = if more == 0 { String::new() } else { format!("\n\n… and {more} more") };
    format!("{}{more}\n\n{}", found.collect::<Vec<_>>().join("\n\n"), summary(&report.diagnostics))
}

pub(super) fn as_data(report: &CheckReport) -> Checked {
    let diagnostics =
        report.diagnostics.iter().take(TOLD_MAX).map(|found| json!(found.report(&report.sources))).collect();
    let dialect = report.dialect.name().to_owned();
    Checked { ok: !report.has_errors(), dialect, count: report.diagnostics.len(), diagnostics }
}
