//! Entries and endings as a person reads them: a line each, what is empty left out.

use longhaul_agents::contract::{Ending, Entry, Meter};

/// A line for each entry; signs of life that follow each other share one.
pub(crate) fn entries(entries: &[Entry]) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut alive = 0;
    for entry in entries {
        if *entry == Entry::Alive {
            alive += 1;
            continue;
        }
        flush(&mut lines, &mut alive);
        lines.push(one(entry));
    }
    flush(&mut lines, &mut alive);
    lines.join("\n")
}

fn flush(lines: &mut Vec<String>, alive: &mut usize) {
    if *alive > 0 {
        lines.push(format!("alive    {alive}x"));
    }
    *alive = 0;
}

fn one(entry: &Entry) -> String {
    match entry {
        Entry::Session { id, model } => format!("session  {id} {}", model.as_deref().unwrap_or("-")),
        Entry::Text { text, delta } => format!("text     {}{}", if *delta { "+" } else { "" }, line(text)),
        Entry::Thinking { text } => format!("thinking {}", line(text)),
        Entry::ToolCall { id, name, summary, input } => format!("call     {id} {name} `{summary}` {input}"),
        Entry::ToolResult { id, ok, text } => {
            format!("result   {id} {} {}", if *ok { "ok" } else { "failed" }, line(text))
        }
        Entry::Denied { name } => format!("denied   {name}"),
        Entry::Notice { text } => format!("notice   {}", line(text)),
        Entry::Usage { meter } => format!("usage    {}", measured(meter)),
        Entry::Background { tasks } => format!("behind   {}", tasks.join(", ")),
        Entry::GoesOn => "continues".to_owned(),
        Entry::Alive => unreachable!("counted"),
        Entry::Result => "over".to_owned(),
    }
}

fn line(text: &str) -> String {
    text.replace('\n', "\\n")
}

fn measured(meter: &Meter) -> String {
    let usd = meter.usd.map_or("-".to_owned(), |usd| format!("{usd:.6}"));
    format!("in {} (cached {}) out {} usd {usd}", meter.input_tokens, meter.cached_tokens, meter.output_tokens)
}

/// What an ending says, a line each.
pub(crate) fn ending(ending: &Ending) -> String {
    let trouble = &ending.trouble;
    let fields = [
        ("text", Some(line(&ending.text)).filter(|text| !text.is_empty())),
        ("structured", ending.structured.as_ref().map(ToString::to_string)),
        ("session", ending.session.clone()),
        ("used", ending.used.as_ref().map(measured)),
        ("at least", ending.at_least.then(|| "yes".to_owned())),
        ("in all", ending.session_total.as_ref().map(measured)),
        ("denied", Some(ending.denied.join(" ")).filter(|names| !names.is_empty())),
        ("finished", ending.finished.then(|| "yes".to_owned())),
        ("error", trouble.is_error.then(|| "yes".to_owned())),
        ("status", trouble.status.map(|status| status.to_string())),
        ("code", trouble.code.clone()),
        ("message", Some(line(&trouble.message)).filter(|text| !text.is_empty())),
        ("stop", trouble.stop.clone()),
        ("resets", trouble.resets_at_ms.map(|at| at.to_string())),
        ("retry", trouble.retry_after_ms.map(|ms| ms.to_string())),
        ("question", trouble.question.clone()),
        ("compacted", trouble.compacted.map(|done| done.to_string())),
    ];
    let lines = fields.into_iter().filter_map(|(name, value)| value.map(|value| format!("{name}: {value}")));
    lines.collect::<Vec<_>>().join("\n")
}
