//! What both of Valet's formats need while they are written natively: texts and conditions with their
//! paths resolved, and a place for reports.

use super::{condition, template};
use crate::diagnostic::Diagnostic;
use crate::dialect::spelling::quoted;
use crate::source::{Node, Sources, Span, Style, Value, place};

/// A path, where it stands.
pub(super) struct Reference<'t> {
    /// As written.
    pub(super) path: &'t str,
    /// Where.
    pub(super) span: Span,
    /// Whether it stands in a condition, where a name without a root is a variable.
    pub(super) in_condition: bool,
}

impl<'t> Reference<'t> {
    /// Its parts.
    pub(super) fn segments(&self) -> Vec<&'t str> {
        self.path.split('.').map(str::trim).collect()
    }
}

/// Knows what paths mean at the place that is being written.
pub(super) trait Scope {
    /// The native expression for a path.
    fn read(&mut self, reference: &Reference<'_>, out: &mut Vec<Diagnostic>) -> String;
}

/// Writes native nodes.
pub(super) struct Writer<'s, S> {
    /// For places inside scalars.
    pub(super) sources: &'s Sources,
    /// What was found.
    pub(super) out: Vec<Diagnostic>,
    /// What paths mean.
    pub(super) scope: S,
}

impl<'s, S: Scope> Writer<'s, S> {
    /// Writes with these names.
    pub(super) fn new(sources: &'s Sources, scope: S) -> Self {
        Self { sources, out: Vec::new(), scope }
    }

    /// A text with templates.
    pub(super) fn template(&mut self, node: &Node) -> Node {
        self.rewritten(node, template::rewrite)
    }

    /// A command with templates.
    pub(super) fn command(&mut self, node: &Node) -> Node {
        self.rewritten(node, template::rewrite_command)
    }

    /// A value with templates in its texts.
    pub(super) fn value(&mut self, node: &Node) -> Node {
        match &node.value {
            Value::Scalar(_, Style::Plain) if node.as_text().is_none() => node.clone(),
            Value::Scalar(..) => self.template(node),
            Value::Seq(items, flow) => {
                let items = items.iter().map(|item| self.value(item)).collect();
                Node::new(node.span, Value::Seq(items, *flow))
            }
            Value::Map(entries, flow) => {
                let entries = entries.iter().map(|(key, value)| (key.clone(), self.value(value))).collect();
                Node::new(node.span, Value::Map(entries, *flow))
            }
            Value::Alias(_) => node.clone(),
        }
    }

    /// A condition as an expression.
    pub(super) fn condition(&mut self, node: &Node) -> Option<Node> {
        let text = node.scalar()?;
        let Self { sources, out, scope } = self;
        let translated = condition::translate(text, &mut |at| {
            let span = place(sources, node, at.range);
            scope.read(&Reference { path: at.path, span, in_condition: true }, out)
        });
        match translated {
            Ok(translated) => {
                for range in translated.null_tests {
                    self.out.push(null_test(place(self.sources, node, range)));
                }
                Some(Node::text(node.span, translated.text))
            }
            Err(error) => {
                let span = place(self.sources, node, error.range);
                let message = "this condition cannot be read";
                self.out.push(Diagnostic::error("LH0302", span, message).label(error.label));
                None
            }
        }
    }

    /// What a path that is a value of its own reads: `outputs.files`, braces accepted.
    pub(super) fn path(&mut self, node: &Node) -> String {
        let text = node.scalar().unwrap_or_default().trim();
        let inner = text.strip_prefix("{{").and_then(|text| text.strip_suffix("}}")).unwrap_or(text).trim();
        let reference = Reference { path: inner, span: node.span, in_condition: false };
        self.scope.read(&reference, &mut self.out)
    }

    fn rewritten(&mut self, node: &Node, rewrite: for<'t> fn(&'t str, &mut template::Read<'t, '_>) -> String) -> Node {
        let Some(text) = node.scalar() else { return node.clone() };
        let Self { sources, out, scope } = self;
        let native = rewrite(text, &mut |path, range| {
            let span = place(sources, node, range);
            match is_path(path) {
                true => scope.read(&Reference { path, span, in_condition: false }, out),
                false => not_a_path(path, span, out),
            }
        });
        // An unchanged scalar keeps its own layout, and with it the exact places of later findings.
        if native == text { node.clone() } else { Node::text(node.span, native) }
    }
}

fn is_path(text: &str) -> bool {
    !text.contains(|c: char| c.is_whitespace() || "()|+*/,'\"=<>!&".contains(c))
}

fn not_a_path(text: &str, span: Span, out: &mut Vec<Diagnostic>) -> String {
    let message = format!("`{text}` is not a path");
    let help = "a template is one path here, such as `variables.name` or `outputs.step.field`";
    out.push(Diagnostic::error("LH0302", span, message).label("only paths can stand in braces").help(help));
    quoted("")
}

fn null_test(span: Span) -> Diagnostic {
    let message = "this comparison with `null` also sees values that were never given";
    Diagnostic::note("LH0605", span, message).label("a missing value is null here")
}
