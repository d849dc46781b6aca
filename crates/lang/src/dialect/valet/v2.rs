//! Translates Workflows V2: steps in written order.
//!
//! The original runs the children of a container sorted by id. Here they run as written, because that is what their
//! authors see.

mod containers;
mod leaves;
mod names;
mod prompt;
mod survey;

use longhaul_core::catalog::top::TYPE_NAMES;

use self::names::{Names, published};
use self::survey::{Body, Producer, Survey};
use super::writer::Writer;
use super::{REMOVED_TYPES, STEP_TYPES};
use crate::diagnostic::Diagnostic;
use crate::dialect::reader::{Reader, wrong_kind};
use crate::dialect::spelling::{broken_rule, no_effect, no_effect_note, nothing, on_one_line, respelled, value_name};
use crate::source::{Node, Sources, Value};

/// The most steps of a run.
const STEPS_MAX: &str = "50";

type Writing<'s> = Writer<'s, Names>;

/// The file in native keys.
pub(super) fn to_native(node: &Node, sources: &Sources, out: &mut Vec<Diagnostic>) -> Node {
    let mut writing = Writer::new(sources, Names::new(Survey::of(node)));
    let native = writing.file(node);
    out.append(&mut writing.out);
    native
}

impl Writing<'_> {
    fn file(&mut self, node: &Node) -> Node {
        let mut entries = self.head(node);
        let steps = match node.get("steps") {
            Some(steps) if steps.items().is_none() => {
                self.out.push(wrong_kind(steps, "`steps`", "a list"));
                Node::seq(steps.span, vec![Node::map(steps.span, [nothing(steps.span, None)])])
            }
            Some(steps) => self.body(steps, Body::top(), None),
            None => {
                let missing =
                    Diagnostic::error("LH0109", node.span, "a workflow needs `steps`").label("no `steps` here");
                self.out.push(missing);
                Node::seq(node.span, vec![Node::map(node.span, [nothing(node.span, None)])])
            }
        };
        let span = node.span;
        if let Some(inputs) = self.inputs(node) {
            entries.push(("inputs", inputs));
        }
        entries.push(("limits", on_one_line(Node::map(span, [("steps", Node::plain(span, STEPS_MAX))]))));
        entries.extend(self.on_failure(node));
        let compat = ["lenient-names", "open-inputs", "valet-answers"].map(|word| Node::plain(span, word));
        entries.push(("compat", Node::new(span, Value::Seq(compat.to_vec(), true))));
        entries.push(("do", steps));
        Node::map(span, entries)
    }

    /// Name and description. The original stores other top-level keys, but does not use them.
    fn head(&mut self, node: &Node) -> Vec<(&'static str, Node)> {
        const USED: &[&str] =
            &["id", "name", "description", "version", "steps", "failureNotify", "constraints", "variables"];
        for (key, _) in node.entries().unwrap_or_default() {
            let word = key.scalar().unwrap_or_default();
            if !USED.contains(&word) {
                let unused = no_effect(key.span, word, "nothing reads it");
                self.out.push(unused.did_you_mean(word, USED.iter().copied(), |_| None));
            }
        }
        let mut reader = Reader::again(node, "a workflow", &mut self.out);
        for (key, value) in reader.map("constraints") {
            match (key.scalar().unwrap_or_default(), value.as_bool()) {
                ("allowSelfModification", Some(false)) => {}
                ("allowSelfModification", _) => {
                    let why = "it has an effect in the registry, where it allows proposals";
                    reader.report(no_effect_note(key.span, "allowSelfModification", why));
                }
                (word, _) => reader.report(no_effect(key.span, word, "nothing reads it")),
            }
        }
        let texts = [("name", reader.text("name")), ("description", reader.text("description"))];
        texts.into_iter().filter_map(|(key, text)| Some((key, text?.clone()))).collect()
    }

    fn on_failure(&mut self, node: &Node) -> Option<(&'static str, Node)> {
        let told = node.get("failureNotify");
        match told.map(|told| told.scalar().unwrap_or_default()) {
            None | Some("orchestrator") => {
                let span = told.map_or(node.span, |told| told.span);
                Some(("on_failure", on_one_line(Node::map(span, [("notify", Node::plain(span, "orchestrator"))]))))
            }
            Some("none") => None,
            Some(_) => {
                let span = told.map_or(node.span, |told| told.span);
                let message = "`failureNotify` must be `orchestrator` or `none`";
                self.out.push(broken_rule(span, message, "not one of them"));
                None
            }
        }
    }

    /// The inputs that the file declares for the editor, then those that it reads.
    fn inputs(&mut self, node: &Node) -> Option<Node> {
        let mut entries: Vec<(Node, Node)> = Vec::new();
        if let Some(variables) = node.get("variables") {
            match variables.entries() {
                Some(declared) => entries.extend(declared.iter().filter_map(|(key, value)| self.declared(key, value))),
                None => self.out.push(no_effect(variables.span, "variables", "only a mapping declares values")),
            }
        }
        for (name, span) in &self.scope.inputs {
            if !entries.iter().any(|(key, _)| key.scalar() == Some(name)) {
                let input = [("type", Node::plain(*span, "any")), ("required", Node::plain(*span, "false"))];
                entries.push((Node::plain(*span, name.as_str()), on_one_line(Node::map(*span, input))));
            }
        }
        (!entries.is_empty()).then(|| Node::new(node.span, Value::Map(entries, false)))
    }

    fn declared(&mut self, key: &Node, value: &Node) -> Option<(Node, Node)> {
        let word = key.scalar().unwrap_or_default();
        if word == "task" {
            return None;
        }
        let name = value_name(word);
        if name != word && !self.scope.inputs.contains_key(&name) {
            self.out.push(respelled(key.span, "the variable", word, &name));
        }
        let declaration = is_declaration(value);
        let type_word =
            value.get("type").and_then(Node::scalar).filter(|word| declaration && TYPE_NAMES.contains(word));
        let mut input = vec![("type", Node::plain(value.span, type_word.unwrap_or("any")))];
        match (declaration, value.get("default")) {
            (false, _) => input.push(("default", value.clone())),
            (true, Some(default)) => input.push(("default", default.clone())),
            (true, None) => input.push(("required", Node::plain(value.span, "false"))),
        }
        input.extend(value.get("description").filter(|_| declaration).map(|text| ("description", text.clone())));
        Some((Node::plain(key.span, name), on_one_line(Node::map(value.span, input))))
    }

    /// A list of steps.
    fn body(&mut self, steps: &Node, body: Body, around: Option<names::Loop>) -> Node {
        let is_loop = around.is_some();
        self.scope.enter(body.clone(), around);
        let items = steps.items().unwrap_or_default().iter().enumerate();
        let written: Vec<Node> = items.filter_map(|(position, step)| self.step(step, &body, position)).collect();
        self.scope.leave(is_loop);
        Node::seq(steps.span, written)
    }

    fn step(&mut self, step: &Node, body: &Body, position: usize) -> Option<Node> {
        if step.entries().is_none() {
            self.out.push(wrong_kind(step, "a step", "a mapping"));
            return None;
        }
        let place = StepPlace { step, body, position };
        let Some(kind) = step.get("type") else {
            let missing = Diagnostic::error("LH0109", step.span, "a step needs `type`").label("no `type` here");
            self.out.push(missing.help(format!("types are: {}", STEP_TYPES.join(", "))));
            return Some(self.hole(&place));
        };
        let entries = match kind.scalar().unwrap_or_default() {
            "bash" => self.bash(&place),
            "tool" => self.tool(&place),
            "agent_prompt" => self.agent_prompt(&place),
            "notify" => self.notify(&place),
            "conditional" => self.conditional(&place),
            "loop" => self.for_each(&place),
            "parallel" => self.parallel(&place),
            "approval" => self.approval(&place),
            other => {
                self.out.push(unknown_type(kind, other));
                None
            }
        };
        let Some(entries) = entries else { return Some(self.hole(&place)) };
        let mut whole = self.step_head(&place);
        whole.extend(entries);
        Some(Node::map(step.span, whole))
    }

    /// A step that sets the output of an unreadable one.
    fn hole(&mut self, place: &StepPlace<'_>) -> Node {
        let name = self.output_name(place);
        let mut entries = self.step_head(place);
        entries.push(nothing(place.step.span, name));
        Node::map(place.step.span, entries)
    }

    fn step_head(&mut self, place: &StepPlace<'_>) -> Vec<(&'static str, Node)> {
        let id = place.id();
        let span = match place.step.get("id") {
            Some(written) => {
                self.check_id(written, &id);
                written.span
            }
            None => place.step.span,
        };
        let name = Reader::again(place.step, "a step", &mut self.out).said("name");
        let mut head = vec![("id", Node::plain(span, id))];
        head.extend(name.map(|name| ("name", name.clone())));
        head
    }

    fn check_id(&mut self, written: &Node, native: &str) {
        match written.as_text() {
            None => self.out.push(wrong_kind(written, "`id`", "text")),
            Some(id) if id.contains(['/', ':']) => {
                self.out.push(broken_rule(written.span, format!("the id `{id}` has `/` or `:` in it"), "not an id"));
            }
            Some(id) if id != native => self.out.push(respelled(written.span, "the step", id, native)),
            Some(_) => {}
        }
    }

    /// The `output`, if the step's output is named or read.
    fn output(&mut self, place: &StepPlace<'_>, more: Vec<(&'static str, Node)>) -> Option<(&'static str, Node)> {
        let variable = place.step.get("outputVariable");
        let span = variable.map_or(place.step.span, |variable| variable.span);
        let name = self.output_name(place);
        let mut entries: Vec<_> = name.map(|name| ("as", Node::plain(span, name))).into_iter().collect();
        match (entries.pop(), more.is_empty()) {
            (None, true) => None,
            (Some((_, name)), true) => Some(("output", name)),
            (name, false) => Some(("output", on_one_line(Node::map(span, name.into_iter().chain(more))))),
        }
    }

    fn output_name(&mut self, place: &StepPlace<'_>) -> Option<String> {
        let variable = place.step.get("outputVariable").filter(|variable| !variable.is_null());
        if let Some(variable) = variable
            && variable.as_text().is_none()
        {
            self.out.push(wrong_kind(variable, "`outputVariable`", "text"));
            return None;
        }
        let (key, producer) = self.produced(place)?;
        let name = published(&self.scope, &key, &producer)?;
        if name != key {
            let span = variable.map_or(place.step.span, |variable| variable.span);
            self.out.push(respelled(span, "the output", &key, &name));
        }
        Some(name)
    }

    /// Whether some text reads the step's output.
    fn is_read(&self, place: &StepPlace<'_>) -> bool {
        self.produced(place).is_some_and(|(key, producer)| producer.named || self.scope.survey.read.contains(&key))
    }

    fn produced(&self, place: &StepPlace<'_>) -> Option<(String, Producer)> {
        let id = place.id();
        let mine = |producer: &&Producer| producer.id == id && producer.body == *place.body;
        let mut all = self.scope.survey.producers.iter();
        all.find_map(|(key, producers)| Some((key.clone(), producers.iter().find(mine)?.clone())))
    }
}

/// A step and its place.
struct StepPlace<'a> {
    step: &'a Node,
    body: &'a Body,
    position: usize,
}

impl StepPlace<'_> {
    fn id(&self) -> String {
        self.body.id_of(self.position, self.step)
    }

    /// The name of the step in messages.
    fn title(&self) -> String {
        let name = self.step.get("name").and_then(Node::as_text).filter(|name| !name.trim().is_empty());
        name.map_or_else(|| self.id(), str::to_owned)
    }
}

/// Whether this is `{type, default, description, required}` and not a value.
fn is_declaration(value: &Node) -> bool {
    let known = ["type", "default", "description", "required"];
    value.entries().is_some_and(|entries| {
        !entries.is_empty() && entries.iter().all(|(key, _)| key.scalar().is_some_and(|key| known.contains(&key)))
    })
}

fn unknown_type(kind: &Node, word: &str) -> Diagnostic {
    match REMOVED_TYPES.iter().find(|(removed, _)| *removed == word) {
        Some((_, advice)) => Diagnostic::error("LH0604", kind.span, format!("steps of type `{word}` no longer exist"))
            .label("removed")
            .help(*advice),
        None => broken_rule(kind.span, format!("`{word}` is not a type of step"), "unknown type").did_you_mean(
            word,
            STEP_TYPES.iter().copied(),
            |known| Some(format!("types are: {}", known.join(", "))),
        ),
    }
}
