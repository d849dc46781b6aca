//! Rows in, report out.

use super::*;
use crate::notification::{Notification, NotificationKind};

const HOUR: i64 = 3_600_000;
/// 2026-11-16 at midnight, UTC.
const DAY: i64 = 1_794_787_200_000;

fn row(run: &str, status: &str, usd: f64) -> DigestRow {
    let mut brief = Brief::default();
    brief.line.started_at = DAY;
    brief.line.usd = usd;
    brief.line.done = 3;
    let ended = matches!(status, "succeeded" | "failed" | "cancelled").then_some(DAY + HOUR);
    brief.line.ended_at = ended;
    DigestRow {
        run: RunId::new(run).unwrap(),
        workflow: "night".to_owned(),
        status: status.to_owned(),
        updated_at: DAY,
        brief,
        is_attended: true,
    }
}

fn gate(run: &str, text: &str) -> DigestRow {
    let mut row = row(run, "waiting", 0.25);
    row.brief.notifications = vec![Notification {
        key: "gate:ask".to_owned(),
        kind: NotificationKind::Gate,
        step: Some("ask".parse().unwrap()),
        text: text.to_owned(),
        since: DAY + HOUR,
        due: None,
        choices: Vec::new(),
        labels: Vec::new(),
        told: Vec::new(),
        took_ms: None,
    }];
    row
}

#[test]
fn a_night_in_words() {
    let mut failed = row("run-2", "failed", 1.5);
    failed.brief.line.message = Some("exit code 2:\nmake failed".to_owned());
    failed.brief.line.task = "Fix it".to_owned();
    let mut done = row("run-3", "succeeded", 0.0);
    done.brief.outputs = Some("report: 3 commits".to_owned());
    done.brief.commit = Some("abc123".to_owned());
    let planned = vec![Planned { at: DAY + 22 * HOUR, what: "trigger nightly (t1) starts night".to_owned() }];
    let rows = [gate("run-1", "Deploy?"), failed, done, row("run-4", "running", 0.0)];
    let report = digest(&rows, planned, DAY, DAY + 8 * HOUR);
    let text = report.render(DigestFormat::Text, &Zone::utc());
    let expected = "\
Longhaul, 2026-11-16 00:00 to 2026-11-16 08:00
4 runs: 1 needs you, 1 failed, 1 succeeded, 1 running or waiting; $1.75

Needs you
  run-1 ask (night), gate
      Deploy?
      since 2026-11-16 01:00
      longhaul approve run-1 ask

Failed
  run-2 (night): Fix it
      ended 2026-11-16 01:00, 3 steps, 1h, $1.50
      exit code 2: make failed

Succeeded
  run-3 (night)
      ended 2026-11-16 01:00, 3 steps, 1h
      outputs: report: 3 commits
      files: commit abc123

Running or waiting
  run-4 (night)
      3 steps, 8h
      running

Next
  2026-11-16 22:00 trigger nightly (t1) starts night
";
    assert_eq!(text, expected);
}

#[test]
fn hostile_text_stays_text_in_every_format() {
    let mut row = gate("run-1", "<script>alert('x')</script>\n# [a](javascript:b) `c` https://evil.example \u{1b}[2J");
    row.workflow = "<img src=x onerror=y>".to_owned();
    let report = digest(&[row], Vec::new(), DAY, DAY + HOUR);
    let html = report.render(DigestFormat::Html, &Zone::utc());
    assert!(!html.contains("<script") && !html.contains("<img") && !html.contains('\u{1b}'), "{html}");
    assert!(!html.contains("src=\"") && !html.contains("href="), "nothing comes from elsewhere: {html}");
    let markdown = report.render(DigestFormat::Markdown, &Zone::utc());
    assert!(markdown.contains(r"\# \[a\](javascript:b) \`c\` https:\/\/evil"), "{markdown}");
    assert!(!markdown.contains("<script"), "{markdown}");
    let text = report.render(DigestFormat::Text, &Zone::utc());
    assert!(!text.contains('\u{1b}') && text.lines().count() < 10, "{text}");
}

#[test]
fn totals_are_exact_for_a_thousand_runs_and_lists_are_cut() {
    let rows: Vec<DigestRow> = (0..1000)
        .map(|number| match number % 4 {
            0 => gate(&format!("run-{number}"), "Deploy?"),
            1 => row(&format!("run-{number}"), "failed", 0.25),
            2 => row(&format!("run-{number}"), "succeeded", 0.25),
            _ => row(&format!("run-{number}"), "a-word-of-tomorrow", 0.25),
        })
        .collect();
    let report = digest(&rows, Vec::new(), DAY, DAY + HOUR);
    let totals = report.totals;
    assert_eq!((totals.runs, totals.failed, totals.succeeded), (1000, 250, 250));
    assert_eq!((totals.open, totals.needs_you, totals.usd), (500, 250, 250.0));
    assert_eq!(report.failed.len(), 250);
    let text = report.render(DigestFormat::Text, &Zone::utc());
    assert_eq!(text.matches("  and 200 more\n").count(), 4);
    assert!(text.starts_with("Longhaul, 2026-11-16 00:00 to 2026-11-16 01:00\n1000 runs: 250 need you"), "{text}");
}

#[test]
fn what_ended_before_is_left_out_and_an_unknown_cost_is_said() {
    let mut early = row("run-1", "succeeded", 9.0);
    early.brief.line.ended_at = Some(DAY - 1);
    let mut unknown = row("run-2", "succeeded", 0.0);
    unknown.brief.at_least = true;
    let report = digest(&[early.clone(), unknown], Vec::new(), DAY, DAY + HOUR);
    assert_eq!(report.headline(), "1 run: 1 succeeded; at least $0.00");
    let empty = digest(&[early], Vec::new(), DAY, DAY + HOUR);
    assert!(empty.is_empty());
    assert_eq!(empty.headline(), "No run finished, and none is open.");
}

#[test]
fn a_run_that_does_not_continue_is_not_called_running() {
    let waits = |run: &str| {
        let mut row = gate(run, "waits");
        row.brief.notifications[0].kind = NotificationKind::Limit;
        row.brief.notifications[0].due = Some(DAY + 3 * HOUR);
        row.brief.standing = serde_json::from_value(serde_json::json!(
            {"is": "waiting", "text": "`a` waits for its limit", "until": DAY + 3 * HOUR}
        ))
        .unwrap();
        row
    };
    let alone = DigestRow { is_attended: false, ..waits("run-2") };
    let mut stopped = DigestRow { status: "stopped".to_owned(), ..waits("run-3") };
    stopped.brief.standing = serde_json::from_value(serde_json::json!(
        {"is": "stopped", "text": "stopped by ana", "since": DAY, "command": "longhaul resume run-3"}
    ))
    .unwrap();
    let report = digest(&[waits("run-1"), alone, stopped], Vec::new(), DAY, DAY + HOUR);
    assert_eq!(report.planned.len(), 1, "only a run with an engine continues: {:?}", report.planned);
    let text = report.render(DigestFormat::Text, &Zone::named("Europe/Berlin").unwrap());
    let expected = "\
Longhaul, 2026-11-16 01:00 to 2026-11-16 02:00
3 runs: 1 stopped, 1 without an engine, 1 running or waiting; $0.75

Stopped
  run-3 (night)
      3 steps, 1h, $0.25
      stopped by ana
      since 2026-11-16 01:00
      longhaul resume run-3

Without an engine
  run-2 (night)
      3 steps, 1h, $0.25
      no engine is running it; `a` waits for its limit
      longhaul resume run-2

Running or waiting
  run-1 (night)
      3 steps, 1h, $0.25
      waiting: `a` waits for its limit
      until 2026-11-16 04:00

Next
  2026-11-16 04:00 run-1 (night) continues
";
    assert_eq!(text, expected);
}
