//! The report of a time: what finished, what failed and why, what waits and what to type, what it cost, what comes next.
//!
//! It follows from the summaries of the runs, so it loads no run. All renderings come from one value.

mod html;
mod markdown;
mod sections;
#[cfg(test)]
mod tests;
mod text;

use schemars::JsonSchema;
use serde::Serialize;

use crate::id::RunId;
use crate::notification::{self, OpenNotification, Zone};
use crate::status::RunStatus;
use crate::view::{Brief, Standing, StandingWord};
use crate::words::words;

words! {
    /// How a report is written.
    DigestFormat {
        /// For a terminal.
        Text = "text",
        /// Markdown.
        Markdown = "markdown",
        /// A page that needs nothing else.
        Html = "html",
    }
}

/// A run, as a list of the store has it.
#[derive(Debug, Clone)]
pub struct DigestRow {
    /// The run.
    pub run: RunId,
    /// Its workflow.
    pub workflow: String,
    /// Its status, as stored.
    pub status: String,
    /// The time of its last event.
    pub updated_at: i64,
    /// Its summary.
    pub brief: Brief,
    /// Whether an engine is there for it. Without one, a run that is not over does not continue.
    pub is_attended: bool,
}

/// Something that happens later.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Planned {
    /// When.
    pub at: i64,
    /// What: a trigger, or a run that continues.
    pub what: String,
}

/// The report.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Digest {
    /// The project, if the report is one of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The start of the time.
    pub since: i64,
    /// The end of the time.
    pub until: i64,
    /// Totals over all runs in the report.
    pub totals: DigestTotals,
    /// Things that wait for a person, oldest first.
    pub waiting: Vec<DigestWaiting>,
    /// Runs that failed, newest first.
    pub failed: Vec<DigestRun>,
    /// Runs that succeeded, newest first.
    pub succeeded: Vec<DigestRun>,
    /// Runs that were cancelled, newest first.
    pub cancelled: Vec<DigestRun>,
    /// Runs that are running, or continue by themselves.
    pub running: Vec<DigestRun>,
    /// Runs that a person stopped.
    pub stopped: Vec<DigestRun>,
    /// Runs that could continue, but no engine is running them.
    pub no_engine: Vec<DigestRun>,
    /// What comes next.
    pub planned: Vec<Planned>,
}

/// Totals of a report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct DigestTotals {
    /// All runs in the report.
    pub runs: u64,
    /// Runs that succeeded.
    pub succeeded: u64,
    /// Runs that failed.
    pub failed: u64,
    /// Runs that were cancelled.
    pub cancelled: u64,
    /// Runs that are not over.
    pub open: u64,
    /// Runs that wait for a person.
    pub needs_you: u64,
    /// Runs that a person stopped.
    pub stopped: u64,
    /// Runs that could continue, but no engine is running them.
    pub no_engine: u64,
    /// The cost of all of them since their start, in US dollars.
    pub usd: f64,
    /// Whether some cost is not known.
    pub at_least: bool,
    /// Their tokens, read and written.
    pub tokens: u64,
}

/// A run in the report.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DigestRun {
    /// The run.
    pub run: String,
    /// Its workflow.
    pub workflow: String,
    /// The start of its task.
    pub task: String,
    /// Its status.
    pub status: String,
    /// Why it ended, or what it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Its outputs in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outputs: Option<String>,
    /// The commit that holds its files, if git has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The number of steps that succeeded.
    pub steps: u64,
    /// Its cost since its start, in US dollars.
    pub usd: f64,
    /// How long it took, or has taken so far.
    pub duration_ms: i64,
    /// Since when it is stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
    /// The time until which it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<i64>,
    /// The command to type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// Something that waits for a person.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DigestWaiting {
    /// The run.
    pub run: String,
    /// Its workflow.
    pub workflow: String,
    /// The step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// What kind of wait: see `notify.on` of the settings.
    pub kind: String,
    /// The question, or the reason.
    pub text: String,
    /// Since when.
    pub since: i64,
    /// The command to type.
    pub command: String,
}

/// The report of the time from `since` to `now`.
pub fn digest(rows: &[DigestRow], mut planned: Vec<Planned>, since: i64, now: i64) -> Digest {
    let mut digest = Digest { since, until: now, ..Digest::default() };
    for row in rows {
        digest.add(row, now);
        planned.extend(continues(row));
    }
    digest.waiting.sort_by(|a, b| (a.since, &a.run, &a.step).cmp(&(b.since, &b.run, &b.step)));
    let Digest { failed, succeeded, cancelled, running, stopped, no_engine, .. } = &mut digest;
    for runs in [failed, succeeded, cancelled, running, stopped, no_engine] {
        runs.sort_by(|a, b| (b.ended_at, &b.run).cmp(&(a.ended_at, &a.run)));
    }
    planned.sort_by(|a, b| (a.at, &a.what).cmp(&(b.at, &b.what)));
    digest.planned = planned;
    digest
}

impl Digest {
    /// The same, named after its project.
    pub fn of(self, project: &str) -> Self {
        Self { project: Some(project.to_owned()), ..self }
    }

    /// Whether nothing happened and nothing waits.
    pub fn is_empty(&self) -> bool {
        self.totals.runs == 0
    }

    /// The report in a format. Times are those of the zone.
    pub fn render(&self, format: DigestFormat, zone: &Zone) -> String {
        let sections = sections::of(self, zone);
        match format {
            DigestFormat::Text => text::render(&sections),
            DigestFormat::Markdown => markdown::render(&sections),
            DigestFormat::Html => html::render(&sections),
        }
    }

    /// The first line.
    pub fn headline(&self) -> String {
        sections::headline(self)
    }

    fn add(&mut self, row: &DigestRow, now: i64) {
        let status = row.status.parse::<RunStatus>().ok();
        let is_over = status.is_some_and(RunStatus::is_over);
        let ended = row.brief.line.ended_at.unwrap_or(row.updated_at);
        // A run that is over counts if it ended in that time; every other run counts now.
        if is_over && ended < self.since {
            return;
        }
        self.count(row, status);
        let waits = waiting(row);
        let stands = row.standing();
        let run = run(row, &stands, is_over.then_some(ended), now);
        match status {
            Some(RunStatus::Succeeded) => self.succeeded.push(run),
            Some(RunStatus::Failed) => self.failed.push(run),
            Some(RunStatus::Cancelled) => self.cancelled.push(run),
            _ if stands.is == StandingWord::Stopped => {
                self.totals.stopped += 1;
                self.stopped.push(run);
            }
            _ if waits.is_empty() && stands.is == StandingWord::NoEngine => {
                self.totals.no_engine += 1;
                self.no_engine.push(run);
            }
            _ if waits.is_empty() => self.running.push(run),
            _ => {
                self.totals.needs_you += 1;
                self.waiting.extend(waits);
            }
        }
    }

    fn count(&mut self, row: &DigestRow, status: Option<RunStatus>) {
        let totals = &mut self.totals;
        totals.runs += 1;
        totals.usd += row.brief.line.usd;
        totals.at_least |= row.brief.at_least;
        totals.tokens = totals.tokens.saturating_add(row.brief.tokens);
        *match status {
            Some(RunStatus::Succeeded) => &mut totals.succeeded,
            Some(RunStatus::Failed) => &mut totals.failed,
            Some(RunStatus::Cancelled) => &mut totals.cancelled,
            _ => &mut totals.open,
        } += 1;
    }
}

impl DigestRow {
    fn standing(&self) -> Standing {
        self.brief.standing_of(&self.status).attended(self.run.as_str(), self.is_attended)
    }
}

fn pending(row: &DigestRow) -> impl Iterator<Item = OpenNotification> {
    let (run, workflow) = (row.run.clone(), row.workflow.clone());
    row.brief.notifications.iter().map(move |notification| OpenNotification {
        run: run.clone(),
        workflow: workflow.clone(),
        task: String::new(),
        notification: notification.clone(),
    })
}

fn waiting(row: &DigestRow) -> Vec<DigestWaiting> {
    let for_person = pending(row).filter(|one| one.notification.kind.is_for_person());
    let waiting = |one: OpenNotification| DigestWaiting {
        run: one.run.to_string(),
        workflow: one.workflow.clone(),
        step: one.notification.step.as_ref().map(ToString::to_string),
        kind: one.notification.kind.to_string(),
        text: one.notification.text.clone(),
        since: one.notification.since,
        command: notification::command(&one),
    };
    for_person.map(waiting).collect()
}

/// A run that continues by itself at a known time. Only a run with an engine does.
fn continues(row: &DigestRow) -> Option<Planned> {
    let is_held = matches!(row.status.parse(), Ok(RunStatus::Stopped | RunStatus::Paused));
    if is_held || !row.is_attended {
        return None;
    }
    let due = row.brief.notifications.iter().filter(|one| !one.kind.is_for_person()).filter_map(|one| one.due).min()?;
    Some(Planned { at: due, what: format!("{} ({}) continues", row.run, row.workflow) })
}

fn run(row: &DigestRow, stands: &Standing, ended_at: Option<i64>, now: i64) -> DigestRun {
    let Brief { line, outputs, commit, .. } = &row.brief;
    let over = pending(row).next().filter(|_| ended_at.is_some());
    DigestRun {
        run: row.run.to_string(),
        workflow: row.workflow.clone(),
        task: line.task.clone(),
        status: row.status.clone(),
        why: match ended_at {
            None => Some(stands.line()),
            Some(_) => line.message.clone().or_else(|| line.waits.clone()),
        },
        outputs: outputs.clone(),
        commit: commit.clone(),
        steps: line.done,
        usd: line.usd,
        duration_ms: (ended_at.unwrap_or(now) - line.started_at).max(0),
        since: stands.since.filter(|_| stands.is == StandingWord::Stopped),
        until: stands.until.filter(|_| stands.is == StandingWord::Waiting),
        ended_at,
        command: match over {
            Some(over) => Some(notification::command(&over)),
            None => stands.command.clone(),
        },
    }
}
