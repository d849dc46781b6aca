//! The first pass over a file: which steps have an output under which key, and which keys are read.
//!
//! The second pass writes the steps. It must know whether a later step reads the output of an earlier one. This pass
//! reports nothing and ignores invalid parts.

use std::collections::{BTreeMap, BTreeSet};

use crate::dialect::spelling::step_id;
use crate::source::Node;

/// A list of steps, by the prefix of their default ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Body(pub(super) String);

impl Body {
    /// The steps of the file.
    pub(super) fn top() -> Self {
        Self("step".to_owned())
    }

    /// The steps in a list of one of its steps.
    pub(super) fn inside(&self, position: usize, list: &str) -> Self {
        Self(format!("{}-{position}-{list}", self.0))
    }

    /// The body of one branch among the steps of a `parallel`.
    pub(super) fn branch(&self, position: usize) -> Self {
        Self(format!("{}-{position}-branch", self.0))
    }

    /// The id of a step without one.
    fn default_id(&self, position: usize) -> String {
        step_id(&format!("{}-{position}", self.0))
    }

    /// The id of a step.
    pub(super) fn id_of(&self, position: usize, step: &Node) -> String {
        written_id(step).map_or_else(|| self.default_id(position), step_id)
    }
}

/// A step with an output.
#[derive(Debug, Clone)]
pub(super) struct Producer {
    /// Its `type`.
    pub(super) kind: String,
    /// Its native id.
    pub(super) id: String,
    /// The list that contains it.
    pub(super) body: Body,
    /// Whether the key is its `outputVariable`, not its id.
    pub(super) named: bool,
    /// For `parallel`: how many branches it has.
    pub(super) branches: usize,
}

/// The result of the first pass.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// The steps with an output, by key.
    pub(super) producers: BTreeMap<String, Vec<Producer>>,
    /// Keys of `outputs` that some text mentions.
    pub(super) read: BTreeSet<String>,
    /// Names that loops define for items and positions.
    pub(super) loop_names: BTreeSet<String>,
}

impl Survey {
    /// Looks over a file.
    pub(super) fn of(file: &Node) -> Self {
        let mut survey = Self::default();
        survey.body(file.get("steps"), &Body::top(), "step");
        survey.mentions(file);
        survey
    }

    fn body(&mut self, steps: Option<&Node>, body: &Body, path: &str) {
        for (position, step) in steps.and_then(Node::items).unwrap_or_default().iter().enumerate() {
            let own_path = format!("{path}[{position}]");
            self.producer(step, body, (position, &own_path));
            self.loop_names(step);
            for list in ["then", "else", "steps"] {
                self.body(step.get(list), &body.inside(position, list), &format!("{own_path}_{list}"));
            }
        }
    }

    fn producer(&mut self, step: &Node, body: &Body, (position, path): (usize, &str)) {
        let variable = step.get("outputVariable").and_then(Node::as_text);
        let key = variable.or_else(|| written_id(step)).unwrap_or(path);
        let producer = Producer {
            kind: kind_of(step).to_owned(),
            id: body.id_of(position, step),
            body: body.clone(),
            named: variable.is_some(),
            branches: step.get("steps").and_then(Node::items).map_or(0, <[Node]>::len),
        };
        self.producers.entry(key.to_owned()).or_default().push(producer);
    }

    fn loop_names(&mut self, step: &Node) {
        if step.get("type").and_then(Node::as_text) == Some("loop") {
            for (key, default) in [("itemVar", "item"), ("indexVar", "index")] {
                let name = step.get(key).and_then(Node::as_text).unwrap_or(default);
                self.loop_names.insert(name.to_owned());
            }
        }
    }

    fn mentions(&mut self, node: &Node) {
        if let Some(text) = node.scalar() {
            let after = text.split("outputs.").skip(1);
            let key =
                |rest: &str| rest.split([' ', '.', '}', ')', '=', '!', '<', '>', '&', '|']).next().map(str::to_owned);
            self.read.extend(after.filter_map(key));
        }
        node.items().unwrap_or_default().iter().for_each(|item| self.mentions(item));
        node.entries().unwrap_or_default().iter().for_each(|(_, value)| self.mentions(value));
    }
}

/// Its type; the tool `bash` counts as a step of that type.
fn kind_of(step: &Node) -> &str {
    let text = |key| step.get(key).and_then(Node::as_text).unwrap_or_default();
    match (text("type"), text("tool")) {
        ("tool", "bash") => "bash",
        (kind, _) => kind,
    }
}

fn written_id(step: &Node) -> Option<&str> {
    step.get("id").and_then(Node::as_text).filter(|id| !id.trim().is_empty())
}
