//! The runs of a project as a table: one line per run, and a second line for what a person should know or type.
//!
//! **Invariant:** a pure function of the rows, the time and the width. On a terminal no line is wider than it.

use std::io::IsTerminal;

use longhaul_core::view::{Standing, StandingWord};
use longhaul_lang::diagnostic::plain;
use longhaul_server::http::Row;

use crate::{numbers, ui, width};

/// The length of a generated run id.
const ID_COLUMNS: usize = 11;
const WORKFLOW_MAX: usize = 20;

/// The table, with a heading line; nothing if there are no runs.
pub(crate) fn lines(rows: &[Row], now: i64) -> Vec<String> {
    let most = |length: &dyn Fn(&Row) -> usize, least: usize| rows.iter().map(length).max().unwrap_or(0).max(least);
    let ids = most(&|row| width::of(&row.run), ID_COLUMNS);
    let workflows = most(&|row| width::of(&plain(&row.workflow)), "WORKFLOW".len()).min(WORKFLOW_MAX);
    let cells = |run: &str, rest: [&str; 4], workflow: &str, task: &str| {
        let [state, started, time, cost] = rest;
        let rest =
            format!("  {state:<9}  {started:<12}  {time:>6}  {cost:>7}  {}  {task}", width::fit(workflow, workflows));
        (width::fit(run, ids), width::seen(&rest, ids))
    };
    let (run, rest) = cells("RUN", ["STATE", "STARTED", "TIME", "COST"], "WORKFLOW", "TASK");
    let heading = ui::dim(format!("{run}{rest}"));
    let mut lines: Vec<String> = rows.first().map(|_| heading).into_iter().collect();
    for row in rows {
        let line = &row.summary;
        let time = numbers::span(line.ended_at.unwrap_or(now) - line.started_at);
        let cost = if line.usd > 0.0 { format!("${:.2}", line.usd) } else { String::new() };
        let task = plain(line.task.lines().next().unwrap_or_default());
        let state = row.standing.is.for_people();
        let started = longhaul_runtime::local_time(line.started_at);
        let (run, rest) = cells(&row.run, [state, &started, &time, &cost], &plain(&row.workflow), &task);
        lines.push(format!("{}{rest}", ui::bold(run)));
        lines.extend(note(&row.standing, ids));
    }
    lines
}

/// What the state of a run does not say by itself: the question, the reason, until when, and the command to type.
fn note(standing: &Standing, indent: usize) -> Option<String> {
    let until = standing.until.filter(|_| standing.is == StandingWord::Waiting);
    let until = until.map(|until| format!("until {}: ", longhaul_runtime::local_time(until))).unwrap_or_default();
    let is_told = !matches!(standing.is, StandingWord::Running | StandingWord::Succeeded | StandingWord::Queued);
    let text = format!("{until}{}", plain(&standing.text));
    let command = standing.command.as_ref().map(|command| format!("→ {command}"));
    let words: Vec<String> = Some(text).filter(|text| !text.is_empty()).into_iter().chain(command).collect();
    let indent = " ".repeat(indent + 2);
    let told = is_told && !words.is_empty();
    told.then(|| format!("{indent}{}", ui::dim(fitted(&words, width::of(&indent)))))
}

/// The text and the command in one line. If both do not fit, the text is cut, because the command is to be copied.
fn fitted(words: &[String], after: usize) -> String {
    let whole = words.join("  ");
    let [text, command] = words else { return width::seen(&whole, after) };
    let room = if std::io::stdout().is_terminal() { width::columns().saturating_sub(after) } else { usize::MAX };
    match width::of(command) + 20 {
        least if width::of(&whole) <= room || least > room => width::seen(&whole, after),
        _ => format!("{}  {command}", width::cut(text, room.saturating_sub(width::of(command) + 2))),
    }
}
