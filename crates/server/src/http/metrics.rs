//! Metrics of runs for Prometheus.

use longhaul_core::status::RunStatus;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Instant;

use axum::http::StatusCode;
use longhaul_store::Query;

use super::call::{Call, Reply};
use super::problem::Problem;
use super::rows::row;

/// How many runs to read at once.
const PAGE: usize = 1000;

/// The numbers that are counted.
#[derive(Default)]
struct Numbers {
    runs: BTreeMap<String, u64>,
    steps: u64,
    tokens: u64,
    attempts: u64,
    usd: f64,
    questions: u64,
}

pub(super) async fn metrics(call: Call) -> Result<Reply, Problem> {
    let began = Instant::now();
    let numbers = counted(&call).await?;
    let seconds = began.elapsed().as_secs_f64();
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    Ok(Reply::bytes(StatusCode::OK, kind, page(&numbers, seconds, call.site.hub.streams())))
}

async fn counted(call: &Call) -> Result<Numbers, Problem> {
    let mut numbers = Numbers::default();
    let mut before = None;
    loop {
        let page = call.state().engine().list(Query { before, limit: PAGE, ..Query::default() }).await?;
        for row in page.iter().map(row) {
            *numbers.runs.entry(row.status).or_default() += 1;
            numbers.steps += row.summary.done;
            numbers.tokens += row.spent.0;
            numbers.attempts += row.spent.1;
            numbers.usd += row.summary.usd;
            numbers.questions += row.asks.unwrap_or_default();
        }
        if page.len() < PAGE {
            return Ok(numbers);
        }
        before = page.last().map(|row| row.run.clone());
    }
}

fn page(numbers: &Numbers, seconds: f64, streams: usize) -> String {
    let mut page = String::new();
    let mut add = |name: &str, about: &str, values: Vec<(String, String)>| {
        // Writing to a string does not fail.
        let _ = writeln!(page, "# HELP longhaul_{name} {about}\n# TYPE longhaul_{name} gauge");
        for (labels, value) in values {
            let _ = writeln!(page, "longhaul_{name}{labels} {value}");
        }
    };
    let one = |value: String| vec![(String::new(), value)];
    let by_status = |status: &&str| {
        let count = numbers.runs.get(*status).copied().unwrap_or_default();
        (format!("{{status=\"{status}\"}}"), count.to_string())
    };
    add("runs", "Runs that the store keeps, by status.", RunStatus::WORDS.iter().map(by_status).collect());
    add("steps_succeeded", "Steps of those runs that succeeded.", one(numbers.steps.to_string()));
    add("attempts", "Attempts of those runs.", one(numbers.attempts.to_string()));
    add("tokens", "Tokens that those runs have read and written.", one(numbers.tokens.to_string()));
    add("usd", "The cost of those runs in US dollars.", one(numbers.usd.to_string()));
    add("questions_open", "Questions that wait for an answer.", one(numbers.questions.to_string()));
    add("streams", "Streams that are open.", one(streams.to_string()));
    add("store_seconds", "How long the store took to list all runs.", one(format!("{seconds:.6}")));
    page
}
