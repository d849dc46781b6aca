//! Plays a chapter: prepares the project, runs the workflow, answers for people, and reports what was seen.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::binary::{self, Told};
use crate::builtin::chapter::Chapter;

const RUN: &str = "test";
/// One attempt at a time, so that parallel steps run in the same order every time.
const ALONE: [&str; 3] = ["--quiet", "--slots", "1"];
/// The most answers before a chapter counts as endless.
const ANSWERS_MAX: usize = 60;

/// The result of a chapter.
#[derive(Debug, Clone, Default)]
pub(crate) struct Played {
    /// The text for its `seen` block.
    pub(crate) seen: String,
    /// The taken routes of state machines: from which step to which.
    pub(crate) ways: Vec<(String, String)>,
}

/// Plays a chapter.
pub(crate) fn play(chapter: &Chapter) -> Played {
    let stage = Stage::new(chapter);
    let told = stage.begin(chapter);
    let mut answers: Vec<(&str, &str)> =
        chapter.answers.lines().map(|line| line.split_once(' ').unwrap_or((line, ""))).collect();
    let mut events = stage.events();
    for _ in 0..ANSWERS_MAX {
        let asked = stage.answer(&events, &mut answers);
        if asked == 0 {
            break;
        }
        stage.resume();
        events = stage.events();
    }
    if events.is_empty() {
        return Played { seen: format!("BROKEN {}{}", told.stdout, told.stderr), ways: Vec::new() };
    }
    let mut seen: Vec<String> = events.iter().filter_map(|event| stage.line(event)).collect();
    if events.last().is_some_and(|event| event["event"] != "run_finished") {
        seen.push("= waiting".to_owned());
    }
    seen.extend(answers.iter().map(|(step, answer)| format!("NOT ASKED {step} {answer}")));
    seen.extend(stage.not_told(chapter, &events));
    seen.extend(stage.after(chapter));
    let ways = events.iter().filter(|event| event["event"] == "routed").map(way).collect();
    Played { seen: seen.iter().map(|line| format!("{line}\n")).collect(), ways }
}

fn way(event: &Value) -> (String, String) {
    let plain = plain(event["path"].as_str().unwrap_or_default());
    let from = plain.rsplit('/').next().unwrap_or_default().to_owned();
    (from, event["to"].as_str().unwrap_or_default().to_owned())
}

/// The project of a chapter.
struct Stage {
    folder: TempDir,
}

impl Stage {
    fn new(chapter: &Chapter) -> Self {
        let stage = Self { folder: tempfile::tempdir().unwrap() };
        let prepared = stage.shell(&chapter.shell);
        assert_eq!(prepared.code, 0, "{}: {}{}", chapter.title, prepared.stdout, prepared.stderr);
        std::fs::create_dir_all(stage.path().join(".longhaul")).unwrap();
        let replies: String = chapter.replies.lines().map(|line| format!("  {line}\n")).collect();
        let list = if replies.is_empty() { "replies: []\n".to_owned() } else { format!("replies:\n{replies}") };
        std::fs::write(stage.path().join(".longhaul/replies.yaml"), list).unwrap();
        stage
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn longhaul(&self, args: &[&str]) -> Told {
        let mut command = binary::command(self.path(), args);
        binary::told(self.alone(&mut command).output().unwrap())
    }

    /// Without the repository that may surround the folder of tests.
    fn alone<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.env("GIT_CEILING_DIRECTORIES", self.path().parent().unwrap())
    }

    fn shell(&self, script: &str) -> Told {
        let mut command = Command::new("bash");
        command.args(["-euc", script]).current_dir(self.path()).env("HOME", self.path().join("no-such-home"));
        command.env_remove("XDG_STATE_HOME");
        command.env("LONGHAUL", env!("CARGO_BIN_EXE_longhaul")).env("NO_COLOR", "1");
        binary::told(self.alone(&mut command).output().unwrap())
    }

    fn begin(&self, chapter: &Chapter) -> Told {
        let mut lines = chapter.run.lines();
        let first = lines.next().unwrap_or_default();
        let (workflow, task) = first.split_once(' ').unwrap_or((first, ""));
        let mut args = vec!["run", workflow, task, "--run-id", RUN, "--script", ".longhaul/replies.yaml"];
        args.extend(ALONE);
        lines.for_each(|input| args.extend(["--input", input]));
        self.longhaul(&args)
    }

    fn resume(&self) {
        let args = [&["resume", RUN, "--script", ".longhaul/replies.yaml"], &ALONE[..]].concat();
        self.longhaul(&args);
    }

    fn events(&self) -> Vec<Value> {
        let told = self.longhaul(&["events", RUN, "--json"]);
        told.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Answers the questions that have an answer; returns how many.
    fn answer(&self, events: &[Value], answers: &mut Vec<(&str, &str)>) -> usize {
        let mut count = 0;
        for path in open_questions(events) {
            let Some(at) = answers.iter().position(|(step, _)| is_at(&path, step)) else { continue };
            let (_, answer) = answers.remove(at);
            let (word, rest) = answer.split_once(' ').unwrap_or((answer, ""));
            let rest = if word == "deny" && !rest.is_empty() { vec!["--reason", rest] } else { vec![rest] };
            let args: Vec<&str> = [word, RUN, &path].into_iter().chain(rest).filter(|arg| !arg.is_empty()).collect();
            let told = self.longhaul(&args);
            assert_eq!(told.code, 0, "{args:?}: {}{}", told.stdout, told.stderr);
            count += 1;
        }
        count
    }

    /// An event as a line of `seen`; `None` for most events.
    fn line(&self, event: &Value) -> Option<String> {
        let path = event["path"].as_str().unwrap_or_default();
        match event["event"].as_str()? {
            "attempt_started" => self.prompt(event).map(|_| match event["attempt"].as_u64() {
                Some(1) | None => path.to_owned(),
                Some(attempt) => format!("{path}@{attempt}"),
            }),
            "question_asked" => Some(format!("? {path}: {}", first_line(&event["text"]))),
            "answered" => Some(format!("> {}", said(&event["answer"]))),
            "run_finished" => Some(ended(event)),
            _ => None,
        }
    }

    /// The prompt of an agent; `None` for a step without one.
    fn prompt(&self, event: &Value) -> Option<String> {
        let attempt = format!("@{}", event["attempt"]);
        let steps = binary::state(binary::command(self.path(), &[])).join("runs").join(RUN).join("steps");
        std::fs::read_to_string(steps.join(event["path"].as_str()?).join(attempt).join("prompt.md")).ok()
    }

    fn not_told(&self, chapter: &Chapter, events: &[Value]) -> Vec<String> {
        let begun: Vec<&Value> = events.iter().filter(|event| event["event"] == "attempt_started").collect();
        let holds = |line: &&str| {
            let Some((step, text)) = line.split_once(" | ") else { return false };
            let of_step = begun
                .iter()
                .filter(|event| event["path"] == step || event["path"].as_str().is_some_and(|path| is_at(path, step)));
            of_step.filter_map(|event| self.prompt(event)).any(|prompt| prompt.contains(text))
        };
        chapter.told.lines().filter(|line| !holds(line)).map(|line| format!("NOT TOLD {line}")).collect()
    }

    fn after(&self, chapter: &Chapter) -> Vec<String> {
        if chapter.after.is_empty() {
            return Vec::new();
        }
        let told = self.shell(&chapter.after);
        told.stdout.lines().chain(told.stderr.lines()).map(|line| format!("$ {line}")).collect()
    }
}

fn open_questions(events: &[Value]) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    for event in events {
        let path = event["path"].as_str().unwrap_or_default();
        match event["event"].as_str() {
            Some("question_asked") => open.push(path.to_owned()),
            Some("answered") => open.retain(|asked| asked != path),
            Some("run_finished") => open.clear(),
            _ => {}
        }
    }
    open
}

/// Whether a path, without its numbers, ends with these steps.
fn is_at(path: &str, steps: &str) -> bool {
    format!("/{}", plain(path)).ends_with(&format!("/{steps}"))
}

/// A path without the numbers of items, rounds and visits.
fn plain(path: &str) -> String {
    let mut inside = false;
    let kept = path.chars().filter(|c| {
        let opens = matches!(c, '[' | '#');
        inside = opens || inside && !matches!(c, ']' | '/');
        !inside && *c != ']'
    });
    kept.collect()
}

fn first_line(text: &Value) -> &str {
    text.as_str().unwrap_or_default().trim().lines().next().unwrap_or_default()
}

fn said(answer: &Value) -> String {
    if let Some(word) = answer.as_str() {
        return word.to_owned();
    }
    let Some((word, with)) = answer.as_object().and_then(|answer| answer.iter().next()) else { return String::new() };
    let Some(value) = with.get("value").or_else(|| with.get("reason")) else { return word.clone() };
    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if word == "value" { value } else { format!("{word}: {value}") }
}

fn ended(event: &Value) -> String {
    let word = match event["outcome"].as_str() {
        Some("success") => "succeeded",
        Some("failure") => "failed",
        _ => "cancelled",
    };
    match first_line(&event["message"]) {
        "" => format!("= {word}"),
        message => format!("= {word}: {message}"),
    }
}
