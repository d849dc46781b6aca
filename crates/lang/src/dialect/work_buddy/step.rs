//! The steps of a unit.

use super::contract;
use super::unit::{input_name, policy};
use crate::diagnostic::Diagnostic;
use crate::dialect::reader::Reader;
use crate::dialect::spelling::{
    broken_rule, literal_text, literal_value, no_effect, nothing, on_one_line, respelled, step_id, step_reference,
    time_span, walk,
};
use crate::source::{Node, Span, Value};

const KEYS: &[&str] = &[
    "id",
    "name",
    "step_type",
    "depends_on",
    "execution",
    "optional",
    "auto_run",
    "workflow_ref",
    "requires",
    "invokes",
    "result_schema",
    "visibility",
    "requires_individual_consent",
];
const AUTO_RUN_KEYS: &[&str] = &["callable", "kwargs", "input_map", "timeout", "retry_on_timeout"];
const AUTO_RUN_SECONDS: f64 = 30.0;
/// What every callable begins with.
const PACKAGE: &str = "work_buddy.";
/// Where a mapped argument comes from the run's parameters.
const PARAMS: &str = "__params__";

type Entries = Vec<(&'static str, Node)>;

/// The steps of a unit, and the prose that belongs to them.
pub(super) struct Steps<'n> {
    steps: &'n [Node],
    instructions: &'n [(Node, Node)],
}

impl<'n> Steps<'n> {
    /// Of a unit.
    pub(super) fn new(unit: &'n Node, steps: &'n [Node]) -> Self {
        let instructions = unit.get("step_instructions").and_then(Node::entries).unwrap_or_default();
        Self { steps, instructions }
    }

    /// The steps in native keys.
    pub(super) fn write(&self, out: &mut Vec<Diagnostic>) -> Vec<Node> {
        let ids: Vec<&str> = self.steps.iter().filter_map(|step| step.get("id")?.scalar()).collect();
        for (key, _) in self.instructions {
            let word = key.scalar().unwrap_or_default();
            if !ids.contains(&word) {
                let unused = no_effect(key.span, word, "it is an instruction for a step that does not exist");
                out.push(unused.did_you_mean(word, ids.iter().copied(), |_| None));
            }
        }
        self.steps.iter().enumerate().filter_map(|(position, step)| self.step(step, position, out)).collect()
    }

    fn step(&self, step: &'n Node, position: usize, out: &mut Vec<Diagnostic>) -> Option<Node> {
        let mut reader = Reader::open(step, "a step", KEYS, out)?;
        let id = reader.required_said("id")?;
        let word = id.scalar().unwrap_or_default();
        let native = step_id(word);
        if native != word {
            reader.report(respelled(id.span, "the step", word, &native));
        }
        let mut entries: Entries = vec![("id", Node::plain(id.span, native))];
        let name = reader.said("name").filter(|name| name.scalar() != Some(word));
        entries.extend(name.map(|name| ("name", name.clone())));
        entries.extend(self.depends_on(&mut reader, position));
        entries.extend(self.action(&mut reader, id).unwrap_or_else(|| vec![nothing(id.span, None)]));
        entries.extend(modifiers(&mut reader));
        entries.extend(contract::output(&mut reader));
        Some(Node::map(step.span, entries))
    }

    /// A dependency must be declared before its dependant; one that is declared nowhere is left to the
    /// checks that follow.
    fn depends_on(&self, reader: &mut Reader<'n, '_>, position: usize) -> Option<(&'static str, Node)> {
        let written = reader.get("depends_on")?;
        let deps = if written.as_text().is_some() { vec![written] } else { reader.texts("depends_on") };
        for dep in &deps {
            let word = dep.scalar().unwrap_or_default();
            let later =
                self.steps.iter().skip(position).find(|step| step.get("id").and_then(Node::scalar) == Some(word));
            if let Some(later) = later {
                let message = format!("`{word}` must be declared before the step that depends on it");
                let place = later.get("id").map_or(later.span, |id| id.span);
                reader.report(broken_rule(dep.span, message, "declared later").related(place, "here"));
            }
        }
        let native = deps.iter().map(|dep| Node::plain(dep.span, step_id(dep.scalar().unwrap_or_default()))).collect();
        (!deps.is_empty()).then(|| ("depends_on", Node::new(written.span, Value::Seq(native, true))))
    }

    fn action(&self, reader: &mut Reader<'n, '_>, id: &Node) -> Option<Entries> {
        let kind = reader.said("step_type");
        if let Some(kind) = kind
            && !["code", "reasoning"].contains(&kind.scalar().unwrap_or_default())
        {
            let message = format!("`step_type` cannot be `{}`", kind.scalar().unwrap_or_default());
            reader.report(broken_rule(kind.span, message, "unknown word").help("it can be: code, reasoning"));
        }
        if let Some(call) = reader.get("auto_run") {
            return self.auto_run(call, reader);
        }
        if let Some(child) = reader.said("workflow_ref") {
            self.unused_instruction(id, "the workflow is started by itself", reader);
            return Some(vec![("workflow", child.clone())]);
        }
        let hands_on = kind.and_then(Node::scalar) == Some("code");
        let policy = if hands_on { Some(Node::plain(id.span, "main")) } else { policy(reader) };
        let Some((_, text)) = self.instruction(id) else {
            let word = id.scalar().unwrap_or_default();
            let error = Diagnostic::error("LH0109", id.span, format!("the step `{word}` has no instruction"));
            let help = format!("say what to do: `step_instructions.{word}`, or a section `## {word}` in Markdown");
            reader.report(error.label("nothing says what to do").help(help));
            return None;
        };
        let mut entries = vec![("prompt", literal_text(text))];
        entries.extend(policy.map(|policy| agent(id.span, policy)));
        Some(entries)
    }

    fn instruction(&self, id: &Node) -> Option<(&'n Node, &'n Node)> {
        let (key, text) = self.instructions.iter().find(|(key, _)| key.scalar() == id.scalar())?;
        text.scalar().is_some_and(|text| !text.trim().is_empty()).then_some((key, text))
    }

    fn unused_instruction(&self, id: &Node, why: &str, reader: &mut Reader<'_, '_>) {
        if let Some((key, _)) = self.instruction(id) {
            reader.report(no_effect(key.span, key.scalar().unwrap_or_default(), why));
        }
    }

    fn auto_run(&self, call: &'n Node, reader: &mut Reader<'n, '_>) -> Option<Entries> {
        let mut reader = Reader::open(call, "`auto_run`", AUTO_RUN_KEYS, reader.out())?;
        let callable = reader.required_said("callable");
        if let Some(callable) =
            callable.filter(|callable| !callable.scalar().is_some_and(|path| path.starts_with(PACKAGE)))
        {
            let message = format!("a callable must begin with `{PACKAGE}`");
            reader.report(broken_rule(callable.span, message, "outside of the package"));
        }
        let arguments = self.arguments(&mut reader);
        let seconds = reader.number("timeout").unwrap_or(AUTO_RUN_SECONDS);
        let span = reader.get("timeout").map_or(call.span, |timeout| timeout.span);
        let again = reader.flag("retry_on_timeout").unwrap_or(true);
        let mut args = vec![("callable", callable?.clone())];
        args.extend(arguments.map(|kwargs| ("kwargs", kwargs)));
        let tool = Node::plain(call.span, "python.call");
        let timeout = Node::plain(span, time_span(milliseconds(seconds)));
        let mut entries = vec![("tool", tool), ("args", Node::map(call.span, args)), ("timeout", timeout)];
        if again {
            let on = Node::new(call.span, Value::Seq(vec![Node::plain(call.span, "timeout")], true));
            let retry = Node::map(call.span, [("max", Node::plain(call.span, "1")), ("on", on)]);
            entries.push(("retry", on_one_line(retry)));
        }
        Some(entries)
    }

    /// Written arguments, then mapped ones, which win.
    fn arguments(&self, reader: &mut Reader<'n, '_>) -> Option<Node> {
        let mapped = reader.map("input_map");
        let is_mapped = |key: &Node| mapped.iter().any(|(other, _)| other.scalar() == key.scalar());
        let written = reader.map("kwargs").iter().filter(|(key, value)| !value.is_null() && !is_mapped(key));
        let mut entries: Vec<(Node, Node)> = written.map(|(key, value)| (key.clone(), literal_value(value))).collect();
        for (key, source) in mapped {
            entries.extend(self.source(source, reader).map(|value| (key.clone(), value)));
        }
        (!entries.is_empty()).then(|| Node::new(reader.node.span, Value::Map(entries, false)))
    }

    /// Where a mapped argument comes from.
    fn source(&self, source: &Node, reader: &mut Reader<'_, '_>) -> Option<Node> {
        let Some(word) = source.as_text() else {
            reader.report(crate::dialect::reader::wrong_kind(source, "a source of `input_map`", "text"));
            return None;
        };
        let expression = match word.strip_prefix(PARAMS) {
            Some("") => "inputs".to_owned(),
            Some(path) if path.starts_with('.') => parameter(path.trim_start_matches('.')),
            _ => {
                self.check_source(source, word, reader)?;
                format!("{}.output", step_reference(&step_id(word)))
            }
        };
        Some(Node::text(source.span, format!("{{{{ {expression} }}}}")))
    }

    fn check_source(&self, source: &Node, word: &str, reader: &mut Reader<'_, '_>) -> Option<()> {
        let ids: Vec<&str> = self.steps.iter().filter_map(|step| step.get("id")?.scalar()).collect();
        if ids.contains(&word) {
            return Some(());
        }
        let error = broken_rule(source.span, format!("`{word}` is not a step"), "no step has this id");
        let otherwise = |_: &[&str]| Some(format!("a source is a step's id, `{PARAMS}` or `{PARAMS}.name`"));
        reader.report(error.did_you_mean(word, ids, otherwise));
        None
    }
}

fn parameter(path: &str) -> String {
    let mut parts = path.split('.');
    let first = parts.next().unwrap_or_default();
    walk(format!("inputs.{}", input_name(first)), parts)
}

fn agent(span: Span, policy: Node) -> (&'static str, Node) {
    ("agent", on_one_line(Node::map(span, [("driver", Node::plain(span, "host")), ("policy", policy)])))
}

fn modifiers(reader: &mut Reader<'_, '_>) -> Entries {
    let mut entries = Entries::new();
    if reader.flag("optional") == Some(true) {
        entries.extend(reader.get("optional").map(|flag| ("optional", flag.clone())));
    }
    for (theirs, ours) in [("requires", "requires"), ("invokes", "uses")] {
        let words: Vec<Node> = reader.texts(theirs).into_iter().cloned().collect();
        if let Some(first) = words.first() {
            entries.push((ours, Node::new(first.span, Value::Seq(words, true))));
        }
    }
    if reader.flag("requires_individual_consent") == Some(true) {
        let span = reader.get("requires_individual_consent").map_or(reader.node.span, |flag| flag.span);
        entries.push(("consent", Node::plain(span, "individual")));
    }
    entries
}

fn milliseconds(seconds: f64) -> u64 {
    std::time::Duration::try_from_secs_f64(seconds)
        .map_or(0, |span| u64::try_from(span.as_millis()).unwrap_or(u64::MAX))
}
