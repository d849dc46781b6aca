//! Checks steps (exactly one action, its companion keys, the modifiers) and their bodies.

use longhaul_core::catalog::{self, Field, StepKindEntry, kinds, modifiers, top};

use super::Conform;
use crate::diagnostic::{Diagnostic, closest};
use crate::source::{Node, Value};

/// The action keys of a step, in catalogue order. `parallel` beside `for_each` is a companion.
pub(crate) fn actions(step: &Node) -> Vec<(&'static StepKindEntry, &Node, &Node)> {
    let present = |kind: &&'static StepKindEntry| step.entry(kind.key).map(|(key, value)| (*kind, key, value));
    let mut found: Vec<_> = kinds::ALL.iter().filter_map(present).collect();
    if found.iter().any(|(kind, ..)| kind.key == "for_each") {
        found.retain(|(kind, ..)| kind.key != "parallel");
    }
    found
}

impl Conform<'_> {
    pub(super) fn steps(&mut self, node: &Node, what: &str) {
        let Some(items) = node.items() else {
            let hint = "write each step as a list entry: `- id: …`";
            let message = format!("{what} must be a list of steps, but this is {}", node.kind_words());
            self.out.push(Diagnostic::error("LH0107", node.span, message).label("expected a list").help(hint));
            return;
        };
        if items.is_empty() {
            self.out.push(
                Diagnostic::error("LH0215", node.span, format!("{what} has no steps"))
                    .label("at least one step is needed")
                    .help("add a step: `- run: …` or `- prompt: …`; a branch that does nothing can be left out"),
            );
        }
        for item in items {
            self.step(item);
        }
    }

    /// A list of steps, a single step, or a mapping with one of the three bodies.
    pub(super) fn body(&mut self, node: &Node, what: &str) {
        match &node.value {
            Value::Seq(..) => self.steps(node, what),
            Value::Map(..) if is_body_mapping(node) => {
                let fields: Vec<Field> =
                    top::ALL.iter().filter(|field| top::BODY_KEYS.contains(&field.key)).copied().collect();
                self.object(node, &fields, what);
                self.one_body(node, what);
            }
            Value::Map(..) => self.step(node),
            Value::Scalar(..) | Value::Alias(_) => self.wrong_kind(node, what, "a list of steps"),
        }
    }

    fn step(&mut self, node: &Node) {
        if self.is_enough() {
            return;
        }
        let Some(entries) = node.entries() else {
            let message = format!("a step is a mapping, but this is {}", node.kind_words());
            self.out.push(
                Diagnostic::error("LH0107", node.span, message)
                    .label("expected an action such as `prompt:` or `run:`")
                    .help("write `- run: …` or `- prompt: …`"),
            );
            return;
        };
        let actions = actions(node);
        let kind = actions.first().map(|(kind, ..)| *kind);
        let slip = entries.iter().find_map(|(key, _)| Some((key, slip_of(key)?))).filter(|_| kind.is_none());
        for (key, value) in entries {
            let meant = slip.filter(|(slip, _)| !std::ptr::eq(*slip, key)).map(|(_, kind)| kind);
            self.step_key(key, value, kind.or(meant));
        }
        match actions.as_slice() {
            [] => self.no_action(node),
            [(kind, ..)] => self.one_action(node, kind),
            [(first, first_key, _), rest @ ..] => self.several_actions((first.key, first_key), rest),
        }
    }

    fn one_action(&mut self, node: &Node, kind: &'static StepKindEntry) {
        let misnamed = kind.key == "if" && node.get("do").is_some();
        if !misnamed {
            self.required(node, kind.fields, &a_step(kind));
        }
        let inside = node.get(kind.key).is_some_and(|value| top::BODY_KEYS.iter().any(|key| value.get(key).is_some()));
        if has_field(kind, "do") && !inside {
            self.one_body(node, &a_step(kind));
        }
        if let Some(value) = node.get(kind.key) {
            self.pick_one(kind.key, value);
        }
    }

    /// Checks mappings of which exactly one key decides the meaning.
    fn pick_one(&mut self, key: &str, value: &Node) {
        let choices: &[&str] = match key {
            "prompt" => &["file", "skill"],
            "run" => &["command", "script"],
            "wait" => &["for", "until", "event"],
            _ => return,
        };
        let Some(entries) = value.entries() else { return };
        let given: Vec<&Node> = entries
            .iter()
            .map(|(key, _)| key)
            .filter(|key| choices.contains(&key.scalar().unwrap_or_default()))
            .collect();
        let list = choices.iter().map(|choice| format!("`{choice}`")).collect::<Vec<_>>().join(" or ");
        match given.as_slice() {
            [_] => {}
            [] => self.out.push(
                Diagnostic::error("LH0109", value.span, format!("`{key}` needs {list}"))
                    .label(format!("neither {list} here", list = list.replace(" or ", " nor ")))
                    .help(format!("add {list}")),
            ),
            [_, second, ..] => self.out.push(
                Diagnostic::error("LH0203", second.span, format!("`{key}` has one of {list}, not two"))
                    .label("one too many")
                    .help("keep one of them"),
            ),
        }
    }

    fn step_key(&mut self, key: &Node, value: &Node, kind: Option<&'static StepKindEntry>) {
        let word = key.scalar().unwrap_or_default();
        if let Some(field) = kind.and_then(|kind| kind.fields.iter().find(|field| field.key == word)) {
            return self.field(field, value);
        }
        if let Some(action) = catalog::kind(word) {
            return self.shape(value, &action.shape, &format!("`{word}`"));
        }
        if let Some(field) = modifiers::ALL.iter().find(|field| field.key == word) {
            return self.field(field, value);
        }
        let owners: Vec<&str> = kinds::ALL.iter().filter(|kind| has_field(kind, word)).map(|kind| kind.key).collect();
        match (kind, owners.as_slice()) {
            (Some(kind), [_, ..]) => self.out.push(
                Diagnostic::error("LH0206", key.span, format!("`{word}` does not go with `{}`", kind.key))
                    .label(format!("belongs to {}", quoted(&owners)))
                    .help(match (kind.key, word) {
                        ("if", "do") => "call it `then`".to_owned(),
                        _ => format!("remove it, or make this a step with {}", quoted(&owners)),
                    }),
            ),
            _ => {
                let what = kind.map_or("a step".to_owned(), a_step);
                self.unknown_key(key, &what, known_keys(kind));
            }
        }
    }

    fn no_action(&mut self, node: &Node) {
        let is_decision = node.get("next").is_some();
        let slip = node.entries().unwrap_or_default().iter().any(|(key, _)| slip_of(key).is_some());
        if is_decision || slip {
            return;
        }
        let id = node.get("id").and_then(Node::scalar).map_or(String::new(), |id| format!(" `{id}`"));
        self.out.push(
            Diagnostic::error("LH0202", node.span, format!("step{id} has no action"))
                .label("an action is missing")
                .help("give it one of: prompt, run, tool, http, if, switch, for_each, repeat, parallel, approve, ask, notify, wait, workflow, set, end"),
        );
    }

    fn several_actions(&mut self, first: (&str, &Node), rest: &[(&'static StepKindEntry, &Node, &Node)]) {
        for (kind, key, _) in rest {
            self.out.push(
                Diagnostic::error(
                    "LH0203",
                    key.span,
                    format!("a step has one action, but this one has `{}` and `{}`", first.0, kind.key),
                )
                .label("a second action")
                .related(first.1.span, "the first action")
                .help("make two steps"),
            );
        }
    }
}

/// Whether a mapping is a body and not a single step.
pub(crate) fn is_body_mapping(node: &Node) -> bool {
    let is_body = ["steps", "do", "nodes", "start"].iter().any(|key| node.get(key).is_some());
    is_body && actions(node).is_empty()
}

fn has_field(kind: &StepKindEntry, word: &str) -> bool {
    kind.fields.iter().any(|field| field.key == word)
}

fn known_keys(kind: Option<&'static StepKindEntry>) -> Vec<&'static str> {
    let modifiers = modifiers::ALL.iter().map(|field| field.key);
    match kind {
        Some(kind) => kind.fields.iter().map(|field| field.key).chain(modifiers).collect(),
        None => kinds::ALL.iter().map(|kind| kind.key).chain(modifiers).collect(),
    }
}

/// The kind of step that an unknown key probably means.
fn slip_of(key: &Node) -> Option<&'static StepKindEntry> {
    let word = key.scalar().unwrap_or_default();
    let exists =
        modifiers::ALL.iter().any(|field| field.key == word) || kinds::ALL.iter().any(|kind| has_field(kind, word));
    closest(word, &known_keys(None)).filter(|_| !exists).and_then(catalog::kind)
}

fn a_step(kind: &StepKindEntry) -> String {
    let article = if kind.key.starts_with(['a', 'e', 'i', 'h']) { "an" } else { "a" };
    format!("{article} `{}` step", kind.key)
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or ")
}
