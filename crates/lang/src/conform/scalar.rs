//! Scalars: words, numbers, time spans, patterns.

use longhaul_core::approval::Approvers;
use longhaul_core::catalog::Shape;
use longhaul_core::{duration, id};

use super::Conform;
use crate::diagnostic::Diagnostic;
use crate::expr;
use crate::schema;
use crate::source::Node;
use crate::when;

impl Conform<'_> {
    pub(super) fn scalar(&mut self, node: &Node, shape: &Shape, what: &str) {
        match shape {
            Shape::Bool if node.as_bool().is_none() => self.wrong_kind(node, what, &words(shape)),
            Shape::Bool => {}
            Shape::Int(min, max) => self.integer(node, (*min, *max), what),
            Shape::Number => self.number(node, what),
            Shape::Expr if node.scalar().is_some() && !node.is_null() => {}
            text => match node.as_text() {
                Some(content) => self.text(node, content, text, what),
                None => self.not_text(node, text, what),
            },
        }
    }

    /// A number or a boolean where text is wanted: quotes are the remedy.
    fn not_text(&mut self, node: &Node, shape: &Shape, what: &str) {
        let message = format!("{what} must be {}, but this is {}", words(shape), node.kind_words());
        let diagnostic = Diagnostic::error("LH0107", node.span, message).label(format!("expected {}", words(shape)));
        self.out.push(match (node.scalar(), shape) {
            (Some(text), Shape::Duration | Shape::DurationOrNone)
                if node.scalar_json().is_some_and(|v| v.is_number()) =>
            {
                diagnostic.help(format!("add a unit: `{text}s`, `{text}m` or `{text}h`"))
            }
            _ if node.is_null() => diagnostic.help("give it a value, or remove the key"),
            (Some(text), _) if !text.is_empty() => diagnostic.help(format!("put it in quotes: \"{text}\"")),
            _ => diagnostic,
        });
    }

    fn integer(&mut self, node: &Node, (min, max): (u64, u64), what: &str) {
        let value = node.scalar_json();
        let Some(number) = value.as_ref().filter(|value| value.is_number()) else {
            return self.wrong_kind(node, what, "a whole number");
        };
        let in_range = number.as_u64().is_some_and(|n| (min..=max).contains(&n));
        if !in_range {
            let range = if max == u64::MAX { format!("{min} or more") } else { format!("between {min} and {max}") };
            self.out.push(
                Diagnostic::error("LH0510", node.span, format!("{what} must be a whole number, {range}"))
                    .label("out of range"),
            );
        }
    }

    fn number(&mut self, node: &Node, what: &str) {
        match node.scalar_json().and_then(|value| value.as_f64()) {
            None => self.wrong_kind(node, what, "a number"),
            Some(number) if number < 0.0 => self.out.push(
                Diagnostic::error("LH0510", node.span, format!("{what} must not be negative")).label("out of range"),
            ),
            Some(_) => {}
        }
    }

    fn text(&mut self, node: &Node, text: &str, shape: &Shape, what: &str) {
        match shape {
            Shape::Choice(known) if !known.contains(&text) => self.out.push(
                Diagnostic::error("LH0509", node.span, format!("{what} cannot be `{text}`"))
                    .label("not one of the words it can be")
                    .did_you_mean(text, known.iter().copied(), |known| {
                        let meant = schema::foreign_type(text).filter(|word| known.contains(word));
                        meant
                            .map(|word| format!("write `{word}`"))
                            .or_else(|| Some(format!("it can be: {}", known.join(", "))))
                    }),
            ),
            Shape::Duration if !expr::is_template(text) => self.duration(node, text, what),
            Shape::DurationOrNone if text != "none" => self.duration(node, text, what),
            Shape::Id if !id::is_step_id(text) => self.out.push(bad_id(node, text)),
            Shape::Name if !id::is_name(text) => self.out.push(bad_name(node, text)),
            Shape::Label => self.out.extend(no_label(node, text, what)),
            Shape::Approvers => self.out.extend(no_approvers(node, text, what)),
            Shape::Cron => self.out.extend(when::cron_problem(node.span, text)),
            Shape::TimeZone => self.out.extend(when::zone_problem(node.span, text)),
            Shape::Time if !expr::is_template(text) => self.out.extend(when::time_problem(node.span, text)),
            Shape::Glob => self.out.extend(when::glob_problem(node.span, text)),
            _ => {}
        }
    }

    fn duration(&mut self, node: &Node, text: &str, what: &str) {
        if duration::parse_ms(text).is_some() {
            return;
        }
        self.out.push(
            Diagnostic::error("LH0501", node.span, format!("{what} must be a time span, but `{text}` is none"))
                .label("not a time span")
                .help("write a number and a unit, as in `90s`, `30m`, `2h`, `7d` or `1d12h`"),
        );
    }
}

fn no_approvers(node: &Node, text: &str, what: &str) -> Option<Diagnostic> {
    text.parse::<Approvers>().err().map(|_| {
        Diagnostic::error("LH0509", node.span, format!("{what} cannot be `{text}`"))
            .label("nobody who could answer")
            .help("write `initiator`, `anyone` or `role:NAME`")
    })
}

/// No worker can have it.
fn no_label(node: &Node, text: &str, what: &str) -> Option<Diagnostic> {
    let is_one = !text.is_empty() && !text.contains(char::is_whitespace);
    (!is_one).then(|| {
        Diagnostic::error("LH0509", node.span, format!("{what} cannot be `{text}`"))
            .label("no worker can have such a label")
            .help("a label has no spaces; several are a list: `[gpu, linux]`")
    })
}

pub(super) fn bad_id(node: &Node, text: &str) -> Diagnostic {
    let suggestion: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
    let suggestion = suggestion.trim_matches('-').chars().take(id::ID_CHARS_MAX).collect::<String>();
    let diagnostic = Diagnostic::error("LH0204", node.span, format!("`{text}` cannot be the id of a step"))
        .label("letters, digits, `_` and `-`, at most 80");
    if id::is_step_id(&suggestion) { diagnostic.help(format!("write `{suggestion}`")) } else { diagnostic }
}

fn bad_name(node: &Node, text: &str) -> Diagnostic {
    let suggestion: String = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let diagnostic = Diagnostic::error("LH0204", node.span, format!("`{text}` cannot be a name"))
        .label("letters, digits and `_`, not starting with a digit");
    if id::is_name(&suggestion) { diagnostic.help(format!("write `{suggestion}`")) } else { diagnostic }
}

/// What a shape is, in words that fit "must be …".
pub(super) fn words(shape: &Shape) -> String {
    match shape {
        Shape::Any | Shape::Json | Shape::Computed => "a value".to_owned(),
        Shape::Text | Shape::Template | Shape::PromptFile | Shape::ScriptFile | Shape::Glob => "text".to_owned(),
        Shape::Shell => "a command".to_owned(),
        Shape::Expr => "an expression".to_owned(),
        Shape::Bool => "`true` or `false`".to_owned(),
        Shape::Int(..) => "a whole number".to_owned(),
        Shape::Number => "a number".to_owned(),
        Shape::Duration => "a time span".to_owned(),
        Shape::DurationOrNone => "a time span or `none`".to_owned(),
        Shape::Time => "a moment".to_owned(),
        Shape::Cron => "a cron line".to_owned(),
        Shape::TimeZone => "a time zone".to_owned(),
        Shape::Label => "a label".to_owned(),
        Shape::Approvers => "`initiator`, `anyone` or `role:NAME`".to_owned(),
        Shape::Id => "a step id".to_owned(),
        Shape::Name => "a name".to_owned(),
        Shape::Choice(known) => format!("one of {}", known.join(", ")),
        Shape::List(_) => "a list".to_owned(),
        Shape::OneOrMany(item) => format!("{} or a list", words(item)),
        Shape::Map(_) | Shape::Object(_) | Shape::Workflow => "a mapping".to_owned(),
        Shape::Schema => "a schema".to_owned(),
        Shape::Body => "a body".to_owned(),
        Shape::Steps => "a list of steps".to_owned(),
        Shape::Either(shapes) => super::words_of(shapes),
    }
}
