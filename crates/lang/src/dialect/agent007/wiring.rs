//! Who waits for whom, and what outputs are called, known before any step is rewritten.

use std::collections::{HashMap, HashSet};

use longhaul_core::catalog::names::RESERVED;

use super::super::compose::{Ids, as_name, is_readable, member, renamed};
use crate::diagnostic::Diagnostic;
use crate::source::Node;

/// Names that every prompt can read and that no step makes.
pub(super) const BUILT_IN: &[&str] = &["task", "memory.project", "memory.user", "memory.global", "rag_context"];

/// What the steps of a file have to do with each other.
pub(super) struct Wiring<'n> {
    /// Ids, as they must be here.
    pub(super) ids: Ids,
    /// Outputs that are called otherwise here.
    pub(super) names: HashMap<String, String>,
    steps: Vec<Wired<'n>>,
}

struct Wired<'n> {
    id: &'n Node,
    output: Option<&'n str>,
    depends_on: Vec<&'n str>,
    inputs: Vec<&'n str>,
}

impl<'n> Wiring<'n> {
    /// Reads it off the steps.
    pub(super) fn of(steps: &'n [Node], out: &mut Vec<Diagnostic>) -> Self {
        let ids = Ids::of(steps.iter().filter_map(|step| step.get("id")), out);
        let names = changed_names(steps, out);
        Self { ids, names, steps: steps.iter().filter_map(wired).collect() }
    }

    /// Ids of the steps that make an output.
    pub(super) fn producers(&self, output: &str) -> Vec<&'n Node> {
        self.steps.iter().filter(|step| step.output == Some(output)).map(|step| step.id).collect()
    }

    /// The outputs that there are.
    pub(super) fn outputs(&self) -> impl Iterator<Item = &'n str> + '_ {
        self.steps.iter().filter_map(|step| step.output)
    }

    /// Ids of the steps that wait for a step directly.
    pub(super) fn dependents(&self, id: &str) -> Vec<&'n Node> {
        let output = self.step(id).and_then(|step| step.output);
        let waits = |step: &&Wired<'n>| {
            step.depends_on.contains(&id) || output.is_some_and(|output| step.inputs.contains(&output))
        };
        self.steps.iter().filter(waits).map(|step| step.id).collect()
    }

    /// Whether `later` waits for `earlier`, directly or not.
    pub(super) fn is_downstream(&self, later: &str, earlier: &str) -> bool {
        let mut seen = HashSet::new();
        let mut open = vec![earlier];
        while let Some(id) = open.pop() {
            for dependent in self.dependents(id).into_iter().filter_map(Node::as_text) {
                if dependent == later {
                    return true;
                }
                if seen.insert(dependent) {
                    open.push(dependent);
                }
            }
        }
        false
    }

    /// What an expression writes to read a step's output.
    pub(super) fn output_of(&self, id: &str) -> String {
        match self.step(id).and_then(|step| step.output) {
            Some(output) => self.name(output).to_owned(),
            None => format!("steps{}.output", member(self.ids.text(id))),
        }
    }

    /// What an output is called here.
    pub(super) fn name<'a>(&'a self, output: &'a str) -> &'a str {
        self.names.get(output).map_or(output, String::as_str)
    }

    fn step(&self, id: &str) -> Option<&Wired<'n>> {
        self.steps.iter().find(|step| step.id.as_text() == Some(id))
    }
}

fn wired(step: &Node) -> Option<Wired<'_>> {
    let texts = |key| step.get(key).and_then(Node::items).into_iter().flatten().filter_map(Node::as_text).collect();
    Some(Wired {
        id: step.get("id").filter(|id| id.as_text().is_some())?,
        output: step.get("output").and_then(Node::as_text),
        depends_on: texts("depends_on"),
        inputs: texts("inputs"),
    })
}

fn changed_names(steps: &[Node], out: &mut Vec<Diagnostic>) -> HashMap<String, String> {
    let mut changed = HashMap::new();
    for output in steps.iter().filter_map(|step| step.get("output")) {
        let Some(text) = output.as_text() else { continue };
        if text == "task" {
            let message = "an output cannot be called `task`: that is the text the run was started with";
            out.push(Diagnostic::error("LH0603", output.span, message).label("taken"));
            continue;
        }
        let reserved = RESERVED.iter().any(|(word, _)| *word == text);
        if (reserved || !is_readable(text)) && !changed.contains_key(text) {
            let native = if reserved { format!("{text}_output") } else { as_name(text) };
            let note = renamed(output, text, &native);
            out.push(if reserved { note.help(format!("`{text}` is a word of the language")) } else { note });
            changed.insert(text.to_owned(), native);
        }
    }
    changed
}
