//! Finds every text of a step that the template engine will read.
//!
//! The catalogue says which texts are templates and which are expressions. So this file names only the few keys whose
//! position matters.

use std::ops::Range;

use longhaul_core::catalog::{Field, Shape, modifiers, top};

use crate::expr::{self, Language};
use crate::model::{Action, Step, Unit};
use crate::source::{Node, Value};

/// What a text can read of its own step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    /// Only names from before the step.
    Before,
    /// The step's own result too.
    After,
    /// The names that a round of its body set.
    Round,
}

/// The purpose of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Text or a value.
    Plain,
    /// A condition: an expression with braces inside is a mistake.
    Condition,
    /// A text for an agent or a person.
    Prompt,
    /// A command line.
    Shell,
    /// A prompt file; the node contains its path.
    File,
}

/// One text.
#[derive(Debug, Clone)]
pub(crate) struct Site<'n> {
    /// The scalar node.
    pub(crate) node: &'n Node,
    /// The range of the scalar's text.
    pub(crate) range: Range<usize>,
    pub(crate) language: Language,
    pub(crate) position: Position,
    pub(crate) purpose: Purpose,
    /// Whether it may read `env` and `secrets`.
    pub(crate) secrets: bool,
    /// The key of the text.
    pub(crate) key: &'static str,
}

impl Site<'_> {
    pub(crate) fn text(&self) -> &str {
        self.node.scalar().and_then(|text| text.get(self.range.clone())).unwrap_or_default()
    }
}

/// All texts of a step, without those of the steps inside it.
pub(crate) fn of_step<'n>(step: &Step<'n>) -> Vec<Site<'n>> {
    let mut walk = Walk::default();
    if let Action::Is(kind, value) = step.action {
        let open = ["run", "http", "tool"].contains(&kind.key);
        let purpose = match kind.key {
            "prompt" | "approve" | "ask" | "notify" => Purpose::Prompt,
            _ => Purpose::Plain,
        };
        walk.context = Context { secrets: open, purpose, position: Position::Before, key: kind.key };
        if kind.key == "repeat" {
            walk.context.position = Position::Round;
        }
        walk.visit(value, &kind.shape);
        walk.context.position = Position::Before;
        walk.fields(step.node, kind.fields);
    }
    for field in modifiers::ALL {
        let position = if ["next", "rewind", "review", "progress"].contains(&field.key) {
            Position::After
        } else {
            Position::Before
        };
        let purpose = if field.key == "review" { Purpose::Prompt } else { Purpose::Plain };
        walk.context = Context { secrets: field.key == "env", purpose, position, key: field.key };
        if let Some(value) = step.node.get(field.key) {
            walk.visit(value, &field.shape);
        }
    }
    walk.found
}

/// Texts of a unit that are evaluated after its body.
pub(crate) fn of_outputs<'n>(unit: &Unit<'n>) -> Vec<Site<'n>> {
    of_top(unit, |key| key == "outputs")
}

/// Texts of a unit that are evaluated before its first step.
pub(crate) fn of_header<'n>(unit: &Unit<'n>) -> Vec<Site<'n>> {
    of_top(unit, |key| key != "outputs" && !top::BODY_KEYS.contains(&key) && key != "workflows")
}

fn of_top<'n>(unit: &Unit<'n>, wanted: impl Fn(&str) -> bool) -> Vec<Site<'n>> {
    let mut walk = Walk::default();
    for field in top::ALL.iter().filter(|field| wanted(field.key)) {
        let purpose = if field.key == "context" { Purpose::Prompt } else { Purpose::Plain };
        walk.context =
            Context { secrets: field.key == "defaults", purpose, position: Position::Before, key: field.key };
        if let Some(value) = unit.node.get(field.key) {
            walk.visit(value, &field.shape);
        }
    }
    walk.found
}

#[derive(Clone, Copy)]
struct Context {
    secrets: bool,
    purpose: Purpose,
    position: Position,
    key: &'static str,
}

struct Walk<'n> {
    found: Vec<Site<'n>>,
    context: Context,
}

impl Default for Walk<'_> {
    fn default() -> Self {
        let context = Context { secrets: false, purpose: Purpose::Plain, position: Position::Before, key: "" };
        Self { found: Vec::new(), context }
    }
}

impl<'n> Walk<'n> {
    fn fields(&mut self, node: &'n Node, fields: &[Field]) {
        for field in fields {
            if let Some(value) = node.get(field.key) {
                self.visit(value, &field.shape);
            }
        }
    }

    fn visit(&mut self, node: &'n Node, shape: &Shape) {
        match (shape, &node.value) {
            (Shape::Template, Value::Scalar(..)) => self.template(node, self.context.purpose),
            (Shape::Expr, Value::Scalar(..)) => self.expression(node),
            (Shape::Shell, Value::Scalar(..)) => self.template(node, Purpose::Shell),
            (Shape::PromptFile, Value::Scalar(..)) => self.template(node, Purpose::File),
            (Shape::Any | Shape::Duration | Shape::Time, _) => self.any(node),
            (Shape::Computed, _) => self.computed(node),
            (Shape::List(item), Value::Seq(items, _)) | (Shape::OneOrMany(item), Value::Seq(items, _)) => {
                items.iter().for_each(|entry| self.visit(entry, item));
            }
            (Shape::OneOrMany(item), _) => self.visit(node, item),
            (Shape::Map(value), Value::Map(entries, _)) => {
                entries.iter().for_each(|(_, entry)| self.visit(entry, value))
            }
            (Shape::Object(fields), Value::Map(..)) => self.fields(node, fields),
            (Shape::Either(shapes), _) => self.either(node, shapes),
            _ => {}
        }
    }

    /// For lists and mappings, the type decides; for scalars, the first alternative with texts.
    fn either(&mut self, node: &'n Node, shapes: &[Shape]) {
        let before = self.found.len();
        for shape in shapes {
            self.visit(node, shape);
            if self.found.len() > before {
                return;
            }
        }
    }

    fn any(&mut self, node: &'n Node) {
        match &node.value {
            Value::Scalar(text, _) if expr::is_template(text) => self.template(node, self.context.purpose),
            Value::Scalar(..) | Value::Alias(_) => {}
            Value::Seq(items, _) => items.iter().for_each(|item| self.any(item)),
            Value::Map(entries, _) => entries.iter().for_each(|(_, value)| self.any(value)),
        }
    }

    fn computed(&mut self, node: &'n Node) {
        match &node.value {
            Value::Scalar(text, _) if expr::is_template(text) => self.template(node, self.context.purpose),
            Value::Scalar(text, _) if node.as_text().is_some() => {
                self.push(node, 0..text.len(), Language::Expression, self.context.purpose)
            }
            Value::Scalar(..) | Value::Alias(_) => {}
            Value::Seq(items, _) => items.iter().for_each(|item| self.computed(item)),
            Value::Map(entries, _) => entries.iter().for_each(|(_, value)| self.computed(value)),
        }
    }

    fn template(&mut self, node: &'n Node, purpose: Purpose) {
        let length = node.scalar().map_or(0, str::len);
        self.push(node, 0..length, Language::Template, purpose);
    }

    fn expression(&mut self, node: &'n Node) {
        let text = node.scalar().unwrap_or_default();
        let range = expr::whole_expression(text).map_or(0..text.len(), |(_, range)| range);
        if node.as_text().is_some() {
            self.push(node, range, Language::Expression, Purpose::Condition);
        }
    }

    fn push(&mut self, node: &'n Node, range: Range<usize>, language: Language, purpose: Purpose) {
        let Context { secrets, position, key, .. } = self.context;
        self.found.push(Site { node, range, language, position, purpose, secrets, key });
    }
}
