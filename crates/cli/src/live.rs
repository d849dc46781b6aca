//! What agents say and do, as lines for people.
//!
//! **Invariant:** nothing of an agent reaches the terminal but whole lines of text, without characters that command it.

use std::collections::HashMap;

use longhaul_agents::contract::TranscriptEntry;
use longhaul_core::Json;
use longhaul_core::event::Usage;
use longhaul_core::path::StepPath;
use longhaul_lang::diagnostic::plain;

use crate::{numbers, ui};

/// A line that is longer is shown in pieces: nobody knows whether it ever ends.
const LINE_BYTES_MAX: usize = 4096;
/// Texts in an answer that are longer are only named.
const PART_BYTES_MAX: usize = 40;

/// Puts what agents say into lines.
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

    /// The line that stays without an end, because something else came after it or nothing did.
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

/// What it says; empty lines are left out.
fn said(path: &StepPath, line: &str) -> Option<String> {
    let line = line.trim_end();
    (!line.is_empty()).then(|| ui::dim(format!("    {path} │ {}", plain(&line.replace('\t', "    ")))))
}

/// A text that is a JSON object, in words: it is for programs, and `longhaul outputs` has it.
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

/// What it does.
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

/// How an agent is doing that says nothing.
pub(crate) fn silence(path: &StepPath, words: &str) -> String {
    ui::dim(format!("    {path} … {}", plain(words)))
}

/// What an attempt used; `None` if that is nothing.
pub(crate) fn cost(path: &StepPath, usage: &Usage) -> Option<String> {
    numbers::usage(usage).map(|words| ui::dim(format!("    {path} · {words}")))
}
