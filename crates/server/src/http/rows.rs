//! Lists runs.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use longhaul_core::origin::{Origin, SOME_RUN};
use longhaul_core::status::RunStatus;
use longhaul_core::view::{Brief, RunLine, Standing};
use longhaul_runtime::{Attendance, Engine, Error};
use longhaul_store::{Query, RunRow};
use schemars::JsonSchema;
use serde::Serialize;

use super::call::{Call, Reply};
use super::problem::Problem;

/// How many runs to read at once in a text search.
const PAGE: usize = 500;

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "RunRow")]
pub struct Row {
    /// The id of the run.
    pub run: String,
    /// The name of the workflow.
    pub workflow: String,
    /// The status in one word.
    pub status: String,
    /// The time of the last event, in milliseconds since 1970.
    pub updated_at: i64,
    /// Where it stands: running, stopped, waiting for a person or a time, without an engine, or over.
    pub standing: Standing,
    /// Other facts in short.
    pub summary: RunLine,
    /// The run that started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The caller who started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<Origin>,
    /// The number of open questions; `None` if an earlier version wrote the row.
    #[serde(skip)]
    pub(super) asks: Option<u64>,
    /// Whether a client makes the turns of its agents.
    #[serde(skip)]
    is_hosted: bool,
    /// The numbers of tokens and of attempts.
    #[serde(skip)]
    pub(super) spent: (u64, u64),
}

/// The row of a run in lists, with whether an engine is there for it.
pub fn attended_row(listed: &RunRow, attendance: &Attendance) -> Row {
    let row = row(listed);
    let is_attended = row.is_hosted || attendance.has(&listed.run);
    Row { standing: row.standing.clone().attended(&row.run, is_attended), ..row }
}

/// The row of a run in lists, as far as the journal knows.
pub fn row(row: &RunRow) -> Row {
    let brief: Brief = serde_json::from_str(&row.head.summary).unwrap_or_default();
    let above = brief.owner.as_ref().and_then(|owner| owner.inside.first()).filter(|run| *run != SOME_RUN);
    Row {
        run: row.run.to_string(),
        workflow: row.head.workflow.clone(),
        status: row.head.status.clone(),
        updated_at: row.updated_ms,
        parent: row.head.parent.as_ref().map(ToString::to_string).or_else(|| above.cloned()),
        standing: brief.standing_of(&row.head.status),
        is_hosted: brief.is_hosted,
        asks: brief.asks,
        spent: (brief.tokens, brief.attempts),
        summary: brief.line,
        owner: brief.owner,
    }
}

/// A page of runs.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Runs")]
pub(super) struct Page {
    runs: Vec<Row>,
    /// The value of `before` for the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

pub(super) async fn list(call: Call) -> Result<Reply, Problem> {
    let limit = usize::try_from(call.number("limit", 100, 1..=500)?).unwrap_or(100);
    let before = match call.query("before") {
        Some(id) => {
            Some(call.state().engine().find(id).await.map_err(|_| Problem::unreadable("`before` is not a run."))?)
        }
        None => None,
    };
    let filter = Filter::of(&call)?;
    let query = Query { before, ..filter.query };
    let mut runs = found(call.state().engine(), query, filter.text.as_deref(), limit + 1).await?;
    let next = (runs.len() > limit).then(|| runs[limit - 1].run.clone());
    runs.truncate(limit);
    Reply::json_with(StatusCode::OK, &Page { runs, next })
}

/// Which runs a caller asks for.
struct Filter {
    query: Query,
    text: Option<String>,
}

impl Filter {
    fn of(call: &Call) -> Result<Self, Problem> {
        let statuses: Vec<String> = call.query_all("status").map(str::to_owned).collect();
        if let Some(unknown) = statuses.iter().find(|word| word.parse::<RunStatus>().is_err()) {
            return Err(Problem::unreadable(format!(
                "`{unknown}` is not a status; there are: {}.",
                RunStatus::WORDS.join(", ")
            )));
        }
        let workflow = call.query("workflow").map(str::to_owned);
        let prefix = call.query("id").map(str::to_owned);
        let text = call.query("text").map(str::to_lowercase).filter(|text| !text.is_empty());
        let created_from_ms = time(call, "since")?;
        let created_before_ms = time(call, "until")?;
        Ok(Self {
            query: Query { statuses, workflow, prefix, created_from_ms, created_before_ms, ..Query::default() },
            text,
        })
    }

    fn fits(&self, row: &Row) -> bool {
        self.text.as_ref().is_none_or(|text| speaks_of(row, text))
    }
}

/// A time of the query, in milliseconds since 1970.
fn time(call: &Call, name: &str) -> Result<Option<i64>, Problem> {
    let time = call.number(name, u64::MAX, 0..=i64::MAX as u64)?;
    Ok(i64::try_from(time).ok())
}

/// How many runs match, how they ended, and what they cost.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct Totals {
    runs: u64,
    /// The number of runs with each status.
    statuses: BTreeMap<String, u64>,
    /// Their cost so far, in US dollars.
    usd: f64,
    /// Tokens, read and written.
    tokens: u64,
}

impl Totals {
    fn add(&mut self, row: &Row) {
        self.runs += 1;
        *self.statuses.entry(row.status.clone()).or_default() += 1;
        // A damaged row must not spoil the sum.
        self.usd += Some(row.summary.usd).filter(|usd| usd.is_finite()).unwrap_or_default();
        self.tokens = self.tokens.saturating_add(row.spent.0);
    }
}

pub(super) async fn totals(call: Call) -> Result<Reply, Problem> {
    let filter = Filter::of(&call)?;
    let mut totals = Totals::default();
    let mut before = None;
    loop {
        let page = call.state().engine().list(Query { limit: PAGE, before, ..filter.query.clone() }).await?;
        page.iter().map(row).filter(|row| filter.fits(row)).for_each(|row| totals.add(&row));
        if page.len() < PAGE {
            return Reply::json(&totals);
        }
        before = page.last().map(|row| row.run.clone());
    }
}

/// Runs that match, at most `limit`.
async fn found(engine: &Engine, query: Query, text: Option<&str>, limit: usize) -> Result<Vec<Row>, Error> {
    let attendance = engine.attendance().await?;
    let row = |listed: &RunRow| attended_row(listed, &attendance);
    let Some(text) = text else {
        return Ok(engine.list(Query { limit, ..query }).await?.iter().map(row).collect());
    };
    let mut rows = Vec::new();
    let mut before = query.before.clone();
    loop {
        let page = engine.list(Query { limit: PAGE, before, ..query.clone() }).await?;
        rows.extend(page.iter().map(row).filter(|row| speaks_of(row, text)));
        if page.len() < PAGE || rows.len() >= limit {
            rows.truncate(limit);
            return Ok(rows);
        }
        before = page.last().map(|row| row.run.clone());
    }
}

fn speaks_of(row: &Row, text: &str) -> bool {
    [&row.run, &row.workflow, &row.summary.task].iter().any(|part| part.to_lowercase().contains(text))
}
