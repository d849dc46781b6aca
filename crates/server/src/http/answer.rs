//! Questions: lists open ones, says who may answer them, and takes answers.

use longhaul_app::{GivenAnswer, RunCommand};
use longhaul_core::approval;
use longhaul_core::event::Answer;
use longhaul_core::id::RunId;
use longhaul_core::origin::{Caller, Face};
use longhaul_core::path::StepPath;
use longhaul_core::rejection::{Rejection, Remedy};
use longhaul_core::status::RunStatus;
use longhaul_core::view::{self, Asked};
use longhaul_runtime::{Error, Loaded};
use longhaul_store::{Query, RunRow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::{Call, Reply, path_of};
use super::problem::{Problem, remedy};
use super::rows::row;
use super::tell::command;
use crate::app_state::AppState;

/// How many runs to read at once.
const PAGE: usize = 500;
/// The statuses of runs that can ask something.
pub(super) const ASKING: [RunStatus; 3] = [RunStatus::Waiting, RunStatus::Running, RunStatus::Paused];

/// An open question.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Question {
    run: RunId,
    workflow: String,
    task: String,
    #[serde(flatten)]
    asked: Asked,
    here: Here,
}

/// Whether the caller may answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Here {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// Whether the caller may answer in the owner's place.
    #[serde(rename = "override", skip_serializing_if = "std::ops::Not::not")]
    overrides: bool,
}

/// All open questions.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Questions {
    questions: Vec<Question>,
    /// Runs that may have questions, but cannot be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unreadable: Vec<Unreadable>,
}

/// A run that cannot be read.
#[derive(Debug, Serialize, JsonSchema)]
struct Unreadable {
    run: RunId,
    /// Why the run cannot be read.
    why: String,
}

/// Every open question, longest open first.
pub(super) async fn list(call: Call) -> Result<Reply, Problem> {
    let (mut questions, mut unreadable) = (Vec::new(), Vec::new());
    for run in asking(call.state()).await? {
        match call.state().engine().load(&run).await {
            Ok(loaded) => questions.extend(questions_of(&call, &run, &loaded).await?),
            Err(Error::UnknownRun(_) | Error::Store(longhaul_store::Error::UnknownRun)) => {}
            Err(error) if error.is_damage() => unreadable.push(Unreadable { run, why: error.to_string() }),
            Err(error) => return Err(error.into()),
        }
    }
    questions.sort_by_key(|question| question.asked.asked_at);
    Reply::json(&Questions { questions, unreadable })
}

/// Runs that ask something, according to their rows in lists.
async fn asking(desk: &AppState) -> Result<Vec<RunId>, Problem> {
    let mut runs = Vec::new();
    let mut before = None;
    loop {
        let statuses = RunStatus::words_of(ASKING);
        let page = desk.engine().list(Query { statuses, before, limit: PAGE, ..Query::default() }).await?;
        let asks = |of: &&RunRow| row(of).asks.is_none_or(|asks| asks > 0);
        runs.extend(page.iter().filter(asks).map(|row| row.run.clone()));
        if page.len() < PAGE {
            return Ok(runs);
        }
        before = page.last().map(|row| row.run.clone());
    }
}

/// The open questions of a run, as the caller sees them.
pub(super) async fn questions_of(call: &Call, run: &RunId, loaded: &Loaded) -> Result<Vec<Question>, Problem> {
    let (plan, state) = (&loaded.plan.0, &loaded.state);
    let asked = view::questions(plan, state);
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let caller = call.state().engine().identified(call.caller()).await?;
    let task = state.started.as_ref().map(|started| started.task.clone()).unwrap_or_default();
    let question = |asked: Asked| Question {
        run: run.clone(),
        workflow: plan.main().name.clone(),
        task: task.clone(),
        here: here(loaded, &asked.path, &caller),
        asked,
    };
    Ok(asked.into_iter().map(question).collect())
}

fn here(loaded: &Loaded, path: &StepPath, caller: &Caller) -> Here {
    let Some(why) = refusal(loaded, path, caller) else { return Here { ok: true, why: None, overrides: false } };
    let instead = Caller { overrides: true, ..caller.clone() };
    let words = |known: &Remedy| if caller.who.face == Face::Api { remedy(known) } else { known.plain() };
    Here { ok: false, overrides: refusal(loaded, path, &instead).is_none(), why: Some(why.in_words(words)) }
}

/// Why a caller may not answer, and who may.
fn refusal(loaded: &Loaded, path: &StepPath, caller: &Caller) -> Option<Rejection> {
    approval::refusal(&loaded.plan.0, &loaded.state, path, Some(caller), None)
}

/// An answer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Answering {
    /// The step that asks.
    path: String,
    #[schemars(with = "Said")]
    answer: Answer,
    #[serde(default)]
    comment: Option<String>,
    /// The hash of the text that the caller saw.
    #[serde(default)]
    shown: Option<String>,
    /// Answer in the owner's place.
    #[serde(default, rename = "override")]
    overrides: bool,
}

/// The possible answers.
#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "the schema of `Answer`, without `timed_out`")]
enum Said {
    Approve,
    Skip,
    Deny { reason: Option<String> },
    Edit { value: serde_json::Value },
    Value { value: serde_json::Value },
}

pub(super) async fn answer(call: Call) -> Result<Reply, Problem> {
    let body: Answering = call.body()?;
    if body.answer == Answer::TimedOut {
        return Err(Problem::unreadable("`timed_out` is not an answer that a caller can give."));
    }
    let path = path_of(&body.path)?;
    let caller = Caller { overrides: body.overrides, ..call.caller() };
    let said = GivenAnswer { comment: body.comment, shown: body.shown, ..GivenAnswer::to(path, body.answer) };
    command(&call, RunCommand::Answer(said), caller).await
}
