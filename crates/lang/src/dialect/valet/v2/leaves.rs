//! Translates steps without steps inside: `bash`, `tool`, `notify`, `approval`.

use super::{StepPlace, Writing};
use crate::diagnostic::Diagnostic;
use crate::dialect::reader::Reader;
use crate::dialect::spelling::{broken_rule, escape, no_effect_note, time_span};
use crate::source::Node;

type Entries = Option<Vec<(&'static str, Node)>>;

const COMMAND_MS: u64 = 120_000;
const COMMAND_MS_MIN: u64 = 1_000;
const COMMAND_MS_MAX: u64 = 600_000;

/// A tool of the original: its name, its required and its optional arguments.
struct Tool {
    name: &'static str,
    needs: &'static [&'static str],
    takes: &'static [&'static str],
}

const TOOLS: &[Tool] = &[
    Tool { name: "bash", needs: &["command"], takes: &["cwd", "timeoutMs", "description"] },
    Tool {
        name: "spawn_session",
        needs: &["task", "workspace"],
        takes: &["repoUrl", "branch", "ref", "title", "model"],
    },
    Tool { name: "send_message", needs: &["targetSessionId", "content"], takes: &["interrupt"] },
    Tool { name: "list_workflows", needs: &[], takes: &[] },
    Tool {
        name: "run_workflow",
        needs: &["workflowId"],
        takes: &["variables", "repoUrl", "repoBranch", "repoRef", "branch", "ref", "sourceRepoFullName"],
    },
    Tool { name: "list_workflow_executions", needs: &[], takes: &["workflowId", "limit"] },
];

impl Writing<'_> {
    pub(super) fn bash(&mut self, place: &StepPlace<'_>) -> Entries {
        const KEYS: &[&str] = &["id", "name", "type", "outputVariable", "command", "cwd", "timeoutMs", "description"];
        let mut entries = self.command_of(place, (place.step, "a `bash` step", KEYS))?;
        entries.extend(self.output(place, Vec::new()));
        Some(entries)
    }

    /// `run`, `cwd` and `timeout` from a mapping with a command in it.
    fn command_of(&mut self, place: &StepPlace<'_>, (node, what, keys): (&Node, &str, &[&str])) -> Entries {
        let mut reader = Reader::open(node, what, keys, &mut self.out)?;
        let command = reader.required_said("command");
        let cwd = reader.text("cwd").cloned();
        let description = reader.text("description");
        let limit = reader.count("timeoutMs");
        let timeout_at = reader.get("timeoutMs").map_or(node.span, |node| node.span);
        let (ms, clamped) = clamp(limit.unwrap_or(COMMAND_MS), (COMMAND_MS_MIN, COMMAND_MS_MAX));
        if clamped {
            reader.report(held(timeout_at, "timeoutMs", ms));
        }
        let mut entries = vec![];
        match (description, place.step.get("name")) {
            (Some(text), None) => entries.push(("name", text.clone())),
            (Some(text), Some(_)) => reader.report(no_effect_note(text.span, "description", "the step has a name")),
            (None, _) => {}
        }
        entries.push(("run", self.command(command?)));
        entries.extend(cwd.map(|cwd| ("cwd", self.template(&cwd))));
        entries.push(("timeout", Node::plain(timeout_at, time_span(ms))));
        Some(entries)
    }

    pub(super) fn tool(&mut self, place: &StepPlace<'_>) -> Entries {
        const KEYS: &[&str] = &["id", "name", "type", "outputVariable", "tool", "arguments"];
        let mut reader = Reader::open(place.step, "a `tool` step", KEYS, &mut self.out)?;
        let name = reader.required_text("tool")?;
        reader.map("arguments");
        let word = name.scalar().unwrap_or_default();
        let Some(tool) = TOOLS.iter().find(|tool| tool.name == word) else {
            self.out.push(unknown_tool(name, word));
            return None;
        };
        let empty = Node::map(place.step.span, []);
        let arguments = place.step.get("arguments").filter(|node| node.entries().is_some()).unwrap_or(&empty);
        let keys: Vec<&str> = tool.needs.iter().chain(tool.takes).copied().collect();
        let what = format!("a call of `{word}`");
        if word == "bash" {
            let mut entries = self.command_of(place, (arguments, &what, &keys))?;
            entries.extend(self.output(place, Vec::new()));
            return Some(entries);
        }
        let mut reader = Reader::open(arguments, what, &keys, &mut self.out)?;
        for needed in tool.needs {
            if reader.get(needed).is_none() {
                reader.missing(needed);
            }
        }
        let mut entries = vec![("tool", Node::plain(name.span, format!("longhaul.{word}")))];
        if arguments.entries().is_some_and(|entries| !entries.is_empty()) {
            entries.push(("args", self.value(arguments)));
        }
        if self.is_read(place) {
            entries.extend(self.output(place, vec![("parse", Node::plain(name.span, "json"))]));
        }
        Some(entries)
    }

    pub(super) fn notify(&mut self, place: &StepPlace<'_>) -> Entries {
        const KEYS: &[&str] = &["id", "name", "type", "outputVariable", "content", "target"];
        let mut reader = Reader::open(place.step, "a `notify` step", KEYS, &mut self.out)?;
        let content = reader.required_said("content");
        let target = reader.text("target");
        if let Some(target) = target
            && target.scalar() != Some("orchestrator")
        {
            reader.report(broken_rule(target.span, "`target` can only be `orchestrator`", "not a target"));
        }
        let channel = Node::plain(target.map_or(place.step.span, |target| target.span), "orchestrator");
        let entries = vec![("notify", channel), ("text", self.template(content?))];
        self.leaves_nothing(place);
        Some(entries)
    }

    pub(super) fn approval(&mut self, place: &StepPlace<'_>) -> Entries {
        const KEYS: &[&str] = &["id", "name", "type", "outputVariable", "prompt"];
        let mut reader = Reader::open(place.step, "an `approval` step", KEYS, &mut self.out)?;
        let prompt = reader.said("prompt");
        let span = place.step.span;
        let question = match prompt {
            Some(prompt) => self.template(prompt),
            None => Node::text(span, format!("Approve: {}", escape(&place.title()))),
        };
        self.leaves_nothing(place);
        Some(vec![
            ("approve", question),
            ("on_deny", Node::plain(span, "cancel")),
            ("timeout", Node::plain(span, "24h")),
            ("on_timeout", Node::plain(span, "cancel")),
        ])
    }

    /// Reports an `outputVariable` on a step without an output.
    pub(super) fn leaves_nothing(&mut self, place: &StepPlace<'_>) {
        if let Some((key, _)) = place.step.entry("outputVariable") {
            self.out.push(no_effect_note(key.span, "outputVariable", "the step has no value"));
        }
    }
}

/// A value limited to a range, and whether it changed.
pub(super) fn clamp(ms: u64, (min, max): (u64, u64)) -> (u64, bool) {
    let held = ms.clamp(min, max);
    (held, held != ms)
}

/// The finding that a number is limited to its range.
pub(super) fn held(span: crate::source::Span, key: &str, ms: u64) -> Diagnostic {
    Diagnostic::note("LH0605", span, format!("`{key}` is {} here", time_span(ms))).label("out of bounds")
}

fn unknown_tool(name: &Node, word: &str) -> Diagnostic {
    let message = format!("there is no tool `{word}`");
    let known = TOOLS.iter().map(|tool| tool.name);
    Diagnostic::error("LH0406", name.span, message)
        .label("unknown tool")
        .did_you_mean(word, known, |known| Some(format!("tools are: {}", known.join(", "))))
}
