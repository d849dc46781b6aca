//! Steps with steps inside: `conditional`, `loop`, `parallel`.

use longhaul_core::id::is_name;

use super::names::Loop;
use super::{StepPlace, Writing};
use crate::diagnostic::Diagnostic;
use crate::dialect::reader::{Reader, wrong_kind};
use crate::dialect::spelling::{broken_rule, expression_of, literal_value, no_effect, respelled, value_name};
use crate::dialect::valet::writer::{Reference, Scope};
use crate::source::{Node, Value};

type Entries = Option<Vec<(&'static str, Node)>>;

impl Writing<'_> {
    pub(super) fn conditional(&mut self, place: &StepPlace<'_>) -> Entries {
        const KEYS: &[&str] = &["id", "name", "type", "outputVariable", "condition", "then", "else"];
        let mut reader = Reader::open(place.step, "a `conditional` step", KEYS, &mut self.out)?;
        if reader.get("condition").is_none() {
            reader.missing("condition");
        }
        let (condition, [then, otherwise]) =
            (reader.get("condition"), ["then", "else"].map(|key| list(&mut reader, key)));
        let condition = condition.and_then(|condition| self.asked(condition));
        let then = then.map(|steps| self.body(steps, place.body.inside(place.position, "then"), None));
        let otherwise = otherwise.map(|steps| self.body(steps, place.body.inside(place.position, "else"), None));
        self.leaves_nothing(place);
        // The bodies stay, so that what they leave can still be read.
        let condition = condition.unwrap_or_else(|| Node::text(place.step.span, "true"));
        match (then.filter(has_steps), otherwise.filter(has_steps)) {
            (Some(then), None) => Some(vec![("if", condition), ("then", then)]),
            (Some(then), Some(otherwise)) => Some(vec![("if", condition), ("then", then), ("else", otherwise)]),
            (None, Some(otherwise)) => {
                let negated = format!("not ({})", condition.scalar().unwrap_or_default());
                Some(vec![("if", Node::text(condition.span, negated)), ("then", otherwise)])
            }
            (None, None) => {
                self.out.push(no_effect(place.step.span, &place.id(), "it has no steps in `then` or `else`"));
                None
            }
        }
    }

    /// A condition in one of its three forms.
    fn asked(&mut self, condition: &Node) -> Option<Node> {
        if let Some(flag) = condition.as_bool() {
            return Some(Node::text(condition.span, flag.to_string()));
        }
        match &condition.value {
            Value::Scalar(..) if condition.as_text().is_some() => self.condition(condition),
            Value::Map(..) => self.legacy_condition(condition),
            _ => {
                self.out.push(wrong_kind(condition, "`condition`", "text, `true`, `false` or a mapping"));
                None
            }
        }
    }

    fn legacy_condition(&mut self, condition: &Node) -> Option<Node> {
        let mut reader = Reader::open(condition, "a condition", &["variable", "equals"], &mut self.out)?;
        let variable = reader.required_said("variable")?;
        let path = variable.scalar().unwrap_or_default().trim();
        let reference = Reference { path, span: variable.span, in_condition: true };
        let read = self.scope.read(&reference, &mut self.out);
        let text = match condition.get("equals") {
            Some(value) => format!("{read} == {}", expression_of(&value.to_json())),
            None => read,
        };
        Some(Node::text(condition.span, text))
    }

    pub(super) fn for_each(&mut self, place: &StepPlace<'_>) -> Entries {
        const KEYS: &[&str] = &["id", "name", "type", "outputVariable", "over", "steps", "itemVar", "indexVar"];
        let mut reader = Reader::open(place.step, "a `loop` step", KEYS, &mut self.out)?;
        let steps = required_list(&mut reader, "steps");
        let item = loop_name(&mut reader, "itemVar", "item");
        let index = loop_name(&mut reader, "indexVar", "index");
        if reader.get("over").is_none() {
            reader.missing("over");
        }
        let over = reader.get("over");
        let over = over.and_then(|over| self.items(over));
        let natively = |name: &Node| Node::plain(name.span, value_name(name.scalar().unwrap_or_default()));
        let names = [("as", natively(&item)), ("index", natively(&index))];
        let around = Loop {
            item: item.scalar().unwrap_or_default().to_owned(),
            index: index.scalar().unwrap_or_default().to_owned(),
        };
        let body = steps.map(|steps| self.body(steps, place.body.inside(place.position, "steps"), Some(around)));
        self.leaves_nothing(place);
        let over = over.unwrap_or_else(|| Node::seq(place.step.span, Vec::new()));
        let mut entries = vec![("for_each", over)];
        entries.extend(names);
        entries.push(("do", body?));
        Some(entries)
    }

    /// What a loop goes over: a written list, or a path. Texts of a written list are no templates.
    fn items(&mut self, over: &Node) -> Option<Node> {
        if over.items().is_some() {
            return Some(literal_value(over));
        }
        let Some(path) = over.as_text() else {
            self.out.push(wrong_kind(over, "`over`", "a list or a path"));
            return None;
        };
        let inner = path.trim().trim_start_matches("{{").trim_end_matches("}}").trim();
        match inner.split('.').collect::<Vec<_>>().as_slice() {
            ["outputs", key, ..] if !self.scope.survey.producers.contains_key(*key) => {
                let known = self.scope.survey.producers.keys().map(String::as_str);
                let error = Diagnostic::error("LH0303", over.span, format!("no step leaves `{key}`"));
                let error = error.label("nothing to go over").did_you_mean(key, known, |_| None);
                self.out.push(error);
                None
            }
            ["outputs" | "variables" | "loop", _, ..] => Some(Node::text(over.span, self.path(over))),
            _ => {
                let message = "`over` must be a list, or a path that begins with `outputs` or `variables`";
                self.out.push(broken_rule(over.span, message, "not a path"));
                None
            }
        }
    }

    pub(super) fn parallel(&mut self, place: &StepPlace<'_>) -> Entries {
        const KEYS: &[&str] = &["id", "name", "type", "outputVariable", "steps"];
        let mut reader = Reader::open(place.step, "a `parallel` step", KEYS, &mut self.out)?;
        let steps = required_list(&mut reader, "steps")?;
        self.leaves_nothing(place);
        let body = place.body.inside(place.position, "steps");
        let mut branches = Vec::new();
        for (position, child) in steps.items().unwrap_or_default().iter().enumerate() {
            // A branch does not see the others, so each is written as if it stood alone.
            self.scope.enter(body.branch(position), None);
            let written = self.step(child, &body, position);
            self.scope.leave(false);
            if let Some(written) = written {
                let name = Node::plain(child.span, body.id_of(position, child));
                branches.push((name, Node::seq(child.span, vec![written])));
            }
        }
        Some(vec![("parallel", Node::new(steps.span, Value::Map(branches, false)))])
    }
}

fn list<'n>(reader: &mut Reader<'n, '_>, key: &str) -> Option<&'n Node> {
    reader.list(key);
    reader.get(key).filter(|node| node.items().is_some())
}

fn required_list<'n>(reader: &mut Reader<'n, '_>, key: &str) -> Option<&'n Node> {
    let steps = list(reader, key);
    let absent = reader.get(key).is_none();
    match steps {
        Some(steps) if has_steps(steps) => Some(steps),
        Some(steps) => {
            reader.report(broken_rule(steps.span, format!("{} needs at least one step", reader.what), "no steps"));
            None
        }
        None => {
            if absent {
                reader.missing(key);
            }
            None
        }
    }
}

fn has_steps(steps: &Node) -> bool {
    steps.items().is_some_and(|steps| !steps.is_empty())
}

/// The name that a loop gives, as written; its default where it is not one.
fn loop_name(reader: &mut Reader<'_, '_>, key: &str, default: &str) -> Node {
    let span = reader.node.span;
    let Some(written) = reader.text(key) else { return Node::plain(span, default) };
    let word = written.scalar().unwrap_or_default();
    if !is_name(word) {
        let help = "a name is a letter or `_`, then letters, digits and `_`";
        reader.report(broken_rule(written.span, format!("`{word}` cannot be a name"), "not a name").help(help));
        return Node::plain(span, default);
    }
    if value_name(word) != word {
        reader.report(respelled(written.span, "the loop's name", word, &value_name(word)));
    }
    written.clone()
}
