//! Keeps the last line of each agent.

use std::collections::HashMap;

use longhaul_agents::contract::TranscriptEntry;
use longhaul_core::path::StepPath;

use crate::live;

/// The most bytes of an unfinished line that are kept.
const LINE_BYTES_MAX: usize = 4096;

/// The last line of each agent.
#[derive(Debug, Default)]
pub(crate) struct Said {
    lines: HashMap<StepPath, String>,
    /// Lines that have no end yet.
    begun: HashMap<StepPath, String>,
}

impl Said {
    pub(crate) fn lines(&self) -> &HashMap<StepPath, String> {
        &self.lines
    }

    /// Notes a message or an action of an agent.
    pub(crate) fn note(&mut self, path: &StepPath, entry: &TranscriptEntry) {
        let line = match entry {
            TranscriptEntry::Text { text, delta } => self.text(path, text, *delta),
            TranscriptEntry::Thinking { text } => last_line(text),
            TranscriptEntry::ToolCall { name, summary, .. } => Some(format!("⚙ {name} {summary}")),
            TranscriptEntry::Denied { name } => Some(format!("✗ {name} was not allowed")),
            TranscriptEntry::Notice { text } => Some(format!("! {text}")),
            _ => None,
        };
        if let Some(line) = line {
            self.lines.insert(path.clone(), line);
        }
    }

    /// Notes the state of a silent agent.
    pub(crate) fn silence(&mut self, path: &StepPath, words: &str) {
        self.lines.insert(path.clone(), format!("… {words}"));
    }

    /// Forgets the last line of an attempt that is over, before the next one starts.
    pub(crate) fn forget(&mut self, path: &StepPath) {
        self.lines.remove(path);
        self.begun.remove(path);
    }

    fn text(&mut self, path: &StepPath, text: &str, delta: bool) -> Option<String> {
        if !delta {
            self.begun.remove(path);
            return live::answer(text).or_else(|| last_line(text));
        }
        let begun = self.begun.entry(path.clone()).or_default();
        begun.push_str(text);
        let last = last_line(begun);
        if let Some(end) = begun.rfind('\n') {
            begun.drain(..=end);
        }
        if begun.len() > LINE_BYTES_MAX {
            begun.clear();
        }
        last
    }
}

fn last_line(text: &str) -> Option<String> {
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_a_line_are_put_together() {
        let path: StepPath = "a".parse().unwrap();
        let mut said = Said::default();
        let mut after = |text: &str, delta: bool| {
            said.note(&path, &TranscriptEntry::Text { text: text.to_owned(), delta });
            said.lines()[&path].clone()
        };
        assert_eq!(after("Look", true), "Look");
        assert_eq!(after("ing.\n", true), "Looking.");
        assert_eq!(after("\n", true), "Looking.");
        assert_eq!(after("Now", true), "Now");
        assert_eq!(after("One.\nTwo.\n\n", false), "Two.");
        assert_eq!(after("{\"findings\": [1, 2], \"ok\": true}", false), "answers with 2 findings, ok: true");
    }
}
