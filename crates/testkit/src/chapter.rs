//! Runs a chapter of `tests/spec`: words, a workflow, a script, and the expected events.

use crate::VirtualWorld;

/// One chapter.
#[derive(Debug, Clone)]
pub struct Chapter {
    /// Its headline.
    pub title: String,
    workflow: String,
    script: String,
    /// The expected events.
    pub events: String,
}

impl Chapter {
    /// The chapters of a file: each starts with a headline and has a `yaml`, perhaps a `script`, and an `events` block.
    pub fn all(text: &str) -> Vec<Self> {
        let mut chapters = Vec::new();
        let mut title = String::new();
        let (mut workflow, mut script) = (String::new(), String::new());
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if let Some(headline) = line.strip_prefix("## ") {
                title = headline.to_owned();
                (workflow, script) = (String::new(), String::new());
            }
            let Some(kind) = line.strip_prefix("```").filter(|kind| !kind.is_empty()) else { continue };
            let block: String =
                lines.by_ref().take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect();
            match kind {
                "yaml" => workflow = block,
                "script" => script = block,
                "events" => {
                    let (workflow, script) = (workflow.clone(), script.clone());
                    chapters.push(Self { title: title.clone(), workflow, script, events: block });
                }
                _ => {}
            }
        }
        chapters
    }

    /// The events of the chapter, or the broken invariant.
    pub fn run(&self) -> Result<String, String> {
        let mut world = VirtualWorld::new(&self.workflow, &self.script)?;
        world.run()?;
        Ok(world.text())
    }
}

/// The text of a file with every `events` block replaced by the actual events.
pub fn rewritten(text: &str, events: &[String]) -> String {
    let mut out = String::new();
    let mut events = events.iter();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        if line == "```events" {
            lines.by_ref().take_while(|line| *line != "```").for_each(drop);
            out.push_str(events.next().map_or("", String::as_str));
            out.push_str("```\n");
        }
    }
    out
}
