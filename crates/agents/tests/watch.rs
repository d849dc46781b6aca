//! Timelines of agents that work and agents that hang: `tests/watch.txt`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use longhaul_agents::contract::{Entry, Meter};
use longhaul_agents::watch::{Advice, Limits, Watcher};

const TIMELINES: &str = include_str!("../../../tests/watch.txt");

#[derive(Default)]
struct Timeline<'a> {
    name: &'a str,
    limits: &'a str,
    steps: BTreeMap<i64, Vec<&'a str>>,
    asked: Vec<i64>,
    until_ms: i64,
    expected: String,
}

fn ms(text: &str) -> i64 {
    let span: jiff::Span = text.parse().unwrap_or_else(|_| panic!("`{text}` is no span"));
    span.total(jiff::Unit::Millisecond).unwrap() as i64
}

fn shown(at_ms: i64) -> String {
    let (hours, minutes, seconds) = (at_ms / 3_600_000, at_ms / 60_000 % 60, at_ms / 1000 % 60);
    let parts = [(hours, 'h'), (minutes, 'm'), (seconds, 's')];
    parts.iter().filter(|(count, _)| *count > 0).map(|(count, unit)| format!("{count}{unit}")).collect()
}

fn timelines() -> Vec<Timeline<'static>> {
    TIMELINES.split("\n## ").skip(1).map(timeline).collect()
}

fn timeline(text: &str) -> Timeline<'_> {
    let (name, lines) = text.split_once('\n').unwrap();
    let mut out = Timeline { name, ..Timeline::default() };
    let mut every = Vec::new();
    for line in lines.lines().filter(|line| !line.is_empty()) {
        let (word, rest) = line.split_once(' ').unwrap();
        match word {
            "limits" => out.limits = rest,
            "until" => out.until_ms = ms(rest),
            "?" => out.asked.push(ms(rest)),
            "=" => writeln!(out.expected, "{rest}").unwrap(),
            "every" => every.push(rest.split_once(' ').unwrap()),
            at => out.steps.entry(ms(at)).or_default().push(rest),
        }
    }
    for (period, what) in every {
        let period = ms(period);
        for at in 1..=out.until_ms / period {
            out.steps.entry(at * period).or_default().push(what);
        }
    }
    out
}

fn limits(text: &str) -> Limits {
    let mut limits = Limits { tool_ms: None, ..Limits::default() };
    let words: Vec<_> = text.split(' ').collect();
    for pair in words.chunks(2) {
        let value = (pair[1] != "never").then(|| ms(pair[1]));
        match pair[0] {
            "silent" => limits.silent_ms = value,
            "tool" => limits.tool_ms = value,
            "grace" => limits.grace_ms = value.unwrap(),
            "linger" => limits.linger_ms = value,
            other => panic!("`{other}`?"),
        }
    }
    limits
}

fn entry(what: &str) -> Entry {
    let (word, rest) = what.split_once(' ').unwrap_or((what, ""));
    let (id, words) = rest.split_once(' ').unwrap_or((rest, ""));
    match word {
        "session" => Entry::Session { id: "s".to_owned(), model: None },
        "text" => Entry::Text { text: "more".to_owned(), delta: true },
        "empty" => Entry::Text { text: String::new(), delta: true },
        "thinking" => Entry::Thinking { text: "hm".to_owned() },
        "tool" => Entry::ToolCall {
            id: id.to_owned(),
            name: "Bash".to_owned(),
            summary: words.to_owned(),
            input: serde_json::Value::Null,
        },
        "done" => Entry::ToolResult { id: id.to_owned(), ok: true, text: String::new() },
        "notice" => Entry::Notice { text: rest.to_owned() },
        "usage" => Entry::Usage { meter: Meter { output_tokens: rest.parse().unwrap(), ..Meter::default() } },
        "behind" => {
            Entry::Background { tasks: rest.split(',').filter(|task| !task.is_empty()).map(str::to_owned).collect() }
        }
        "goes" => Entry::GoesOn,
        "alive" => Entry::Alive,
        "result" => Entry::Result,
        other => panic!("`{other}`?"),
    }
}

/// Lives through a timeline second by second, and does as it is advised.
fn live(timeline: &Timeline<'_>) -> String {
    let mut watcher = Watcher::new(limits(timeline.limits), 0);
    let (mut out, mut percent, mut ticks, mut asleep_until) = (String::new(), None, 0, 0);
    for now in (0..=timeline.until_ms).step_by(1000) {
        for what in timeline.steps.get(&now).into_iter().flatten() {
            match what.split_once(' ') {
                Some(("asleep", span)) => asleep_until = now + ms(span),
                Some(("cpu", share)) => percent = Some(share.parse::<u64>().unwrap()),
                _ if *what == "exit" => return out,
                _ => watcher.saw(&entry(what), now),
            }
        }
        if now < asleep_until {
            continue;
        }
        if let Some(percent) = percent.filter(|_| now % 5000 == 0) {
            ticks += percent * 5;
            watcher.activity(ticks, now);
        }
        let watch = watcher.what(now);
        let word = format!("{:?}", watch.advice).to_lowercase();
        if watch.advice != Advice::Wait || timeline.asked.contains(&now) {
            writeln!(out, "{} {word}: {}", shown(now), watch.words).unwrap();
        }
        let due = watcher.due_ms().is_some_and(|due| due <= now);
        assert_eq!(due, watch.advice != Advice::Wait, "{}: at {}", timeline.name, shown(now));
        match watch.advice {
            Advice::Wait => {}
            Advice::Interrupt => watcher.interrupted(now),
            Advice::Kill | Advice::Collect => return out,
        }
    }
    out
}

#[test]
fn hanging_is_told_from_working() {
    let all = timelines();
    assert!(all.len() >= 20, "{}", all.len());
    let mut wrong = String::new();
    for timeline in &all {
        let found = live(timeline);
        if found != timeline.expected {
            writeln!(wrong, "## {}\n{found}", timeline.name).unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn processes_that_end_are_a_sign_of_work() {
    let mut watcher = Watcher::new(Limits { silent_ms: Some(60_000), ..Limits::default() }, 0);
    watcher.activity(500, 10_000);
    watcher.activity(3, 50_000);
    (0..100_000).step_by(5000).for_each(|now| drop(watcher.what(now)));
    assert_eq!(watcher.what(100_000).advice, Advice::Wait);
    assert_eq!(watcher.what(110_000).advice, Advice::Interrupt);
}
