//! A chapter of `tests/builtin`.
//!
//! ```text
//! ## Its headline
//! shell     prepares the project
//! replies   what the scripted agent says; the first that fits
//! run       the workflow and its task; on further lines, inputs as NAME=VALUE
//! answers   the end of a step's path without numbers, then approve, deny REASON, answer VALUE or edit VALUE
//! told      the path of a step, ` | `, and what its prompt must contain
//! after     commands; what they print is part of what is seen
//! seen      agents called, questions (?), answers (>), the end (=), and what `after` printed ($)
//! ```
//!
//! `shell` and `replies` before the first headline belong to every chapter of the file, the replies after its own.

/// One way through a workflow.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chapter {
    pub(crate) title: String,
    pub(crate) shell: String,
    pub(crate) replies: String,
    pub(crate) run: String,
    pub(crate) answers: String,
    pub(crate) told: String,
    pub(crate) after: String,
    pub(crate) seen: String,
}

impl Chapter {
    /// The chapters of a file.
    pub(crate) fn all(text: &str) -> Vec<Self> {
        let mut common = Self::default();
        let mut chapters: Vec<Self> = Vec::new();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if let Some(title) = line.strip_prefix("## ") {
                chapters.push(Self { title: title.to_owned(), ..Self::default() });
            }
            let Some(kind) = line.strip_prefix("```") else { continue };
            let block: String =
                lines.by_ref().take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect();
            chapters.last_mut().unwrap_or(&mut common).take(kind, block);
        }
        chapters.iter_mut().for_each(|chapter| chapter.share(&common));
        chapters
    }

    fn take(&mut self, kind: &str, block: String) {
        match kind {
            "shell" => self.shell = block,
            "replies" => self.replies = block,
            "run" => self.run = block,
            "answers" => self.answers = block,
            "told" => self.told = block,
            "after" => self.after = block,
            "seen" => self.seen = block,
            _ => panic!("a chapter has no `{kind}`"),
        }
    }

    fn share(&mut self, common: &Self) {
        self.shell.insert_str(0, &common.shell);
        self.replies.push_str(&common.replies);
    }
}

/// The text of a file with every `seen` block replaced by the actual result.
pub(crate) fn rewritten(text: &str, came: &[String]) -> String {
    let mut out = String::new();
    let mut came = came.iter();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        if line == "```seen" {
            lines.by_ref().take_while(|line| *line != "```").for_each(drop);
            out.push_str(came.next().map_or("", String::as_str));
            out.push_str("```\n");
        }
    }
    out
}
