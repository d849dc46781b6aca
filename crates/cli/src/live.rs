//! Formats what agents say and do as lines for people.
//!
//! **Invariant:** output of agents reaches the terminal only as whole lines of text, without control characters.

use std::collections::HashMap;

use longhaul_agents::contract::TranscriptEntry;
use longhaul_core::Json;
use longhaul_core::event::Usage;
use longhaul_core::path::StepPath;
use longhaul_lang::diagnostic::plain;

use crate::{numbers, ui};

/// A longer line is shown in pieces, because it may never end.
const LINE_BYTES_MAX: usize = 4096;
/// Longer texts in an answer are left out; only their names are shown.
const PART_BYTES_MAX: usize = 40;

/// Collects the output of agents into lines.
#[derive(Debug, Default)]
pub(crate) struct Live {
    /// Lines that have no end yet.
    begun: HashMap<StepPath, String>,
}

impl Live {
    /// The lines that an entry completes.
    pub(crate) fn lines(&mut self, path: &StepPath, entry: &TranscriptEntry) -> Vec<String> {
        match entry {
            TranscriptEntry::Alive => Vec::new(),
            TranscriptEntry::Text { text, delta: true } => self.add(path, text),
            TranscriptEntry::Text { text, delta: false } => {
                let rest = self.rest(path);
                let told = answer(text).map(|words| said(path, &words).into_iter().collect());
                rest.into_iter().chain(told.unwrap_or_else(|| self.add(path, text))).collect()
            }
            other => self.rest(path).into_iter().chain(deed(path, other)).collect(),
        }
    }

    /// The unfinished line of an agent, when another line or the end follows.
    pub(crate) fn rest(&mut self, path: &StepPath) -> Option<String> {
        said(path, &self.begun.remove(path)?)
    }

    fn add(&mut self, path: &StepPath, text: &str) -> Vec<String> {
        let begun = self.begun.entry(path.clone()).or_default();
        begun.push_str(text);
        let mut lines = Vec::new();
        while let Some(end) = begun.find('\n') {
            lines.extend(said(path, &begun[..end]));
            begun.drain(..=end);
        }
        if begun.len() > LINE_BYTES_MAX {
            lines.extend(self.rest(path));
        }
        lines
    }
}

/// A line that an agent says; `None` for an empty line.
fn said(path: &StepPath, line: &str) -> Option<String> {
    let line = line.trim_end();
    (!line.is_empty()).then(|| ui::dim(format!("    {path} │ {}", plain(&line.replace('\t', "    ")))))
}

/// A JSON object, summarised in words. Programs read it with `longhaul outputs`.
pub(crate) fn answer(text: &str) -> Option<String> {
    let text = text.trim();
    let object: serde_json::Map<String, Json> = text.starts_with('{').then(|| serde_json::from_str(text).ok())??;
    let parts: Vec<String> = object.iter().map(|(name, value)| part(name, value)).collect();
    Some(format!("answers with {}", parts.join(", ")))
}

fn part(name: &str, value: &Json) -> String {
    match value {
        Json::Array(items) => format!("{} {name}", items.len()),
        Json::String(text) if text.len() <= PART_BYTES_MAX && !text.contains('\n') => format!("{name}: {text}"),
        Json::Bool(_) | Json::Number(_) => format!("{name}: {value}"),
        _ => name.to_owned(),
    }
}

/// An action of an agent, as a line.
fn deed(path: &StepPath, entry: &TranscriptEntry) -> Option<String> {
    let line = match entry {
        TranscriptEntry::ToolCall { name, summary, .. } => format!("⚙ {name} {summary}"),
        TranscriptEntry::Denied { name } => format!("✗ {name} was not allowed"),
        TranscriptEntry::Notice { text } => format!("! {text}"),
        TranscriptEntry::Background { tasks } if !tasks.is_empty() => {
            format!("⚙ in the background: {}", tasks.join(", "))
        }
        _ => return None,
    };
    Some(format!("    {path} {}", plain(line.trim_end())))
}

/// The line about an agent that is silent.
pub(crate) fn silence(path: &StepPath, words: &str) -> String {
    ui::dim(format!("    {path} … {}", plain(words)))
}

/// The usage of an attempt; `None` if it used nothing.
pub(crate) fn cost(path: &StepPath, usage: &Usage) -> Option<String> {
    numbers::usage(usage).map(|words| ui::dim(format!("    {path} · {words}")))
}
