//! Reads values and paths as the original does.

use super::super::compose::{is_readable, member};
use super::Scope;
use crate::diagnostic::Diagnostic;
use crate::source::{Node, Style, Value};

/// A value of YAML 1.1, in which `yes` and `off` are booleans.
pub(super) fn python(node: &Node, out: &mut Vec<Diagnostic>) -> Node {
    let value = match &node.value {
        Value::Scalar(text, Style::Plain) => match old_boolean(text) {
            Some(flag) => {
                let message = format!("`{text}` is read as `{flag}` here, as YAML 1.1 does");
                out.push(
                    Diagnostic::note("LH0605", node.span, message).label("a boolean").help("quote it if it is text"),
                );
                return Node::plain(node.span, flag.to_string());
            }
            None => node.value.clone(),
        },
        Value::Seq(items, flow) => Value::Seq(items.iter().map(|item| python(item, out)).collect(), *flow),
        Value::Map(entries, flow) => {
            Value::Map(entries.iter().map(|(key, value)| (key.clone(), python(value, out))).collect(), *flow)
        }
        Value::Scalar(..) | Value::Alias(_) => node.value.clone(),
    };
    Node::new(node.span, value)
}

fn old_boolean(text: &str) -> Option<bool> {
    match text {
        "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Some(true),
        "no" | "No" | "NO" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

/// A dot path as an expression. A path leads only through mappings, so numbers are keys.
pub(super) fn path(path: &Node, scope: &Scope<'_, '_>, out: &mut Vec<Diagnostic>) -> Option<String> {
    let text = path.as_text()?;
    if text.is_empty() {
        let message = "an empty path leads nowhere";
        out.push(Diagnostic::error("LH0603", path.span, message).label("empty").help("name a value: `result.status`"));
        return None;
    }
    let mut segments = text.split('.');
    let first = segments.next().unwrap_or_default();
    let first = match scope.vars.get(first) {
        Some(native) => native.clone(),
        None if is_readable(first) => first.to_owned(),
        // Only a parameter of the run can have this name.
        None => format!("inputs{}", member(first)),
    };
    Some(segments.fold(first, |path, segment| path + &member(segment)))
}

/// A number of seconds, or `infinity`.
pub(super) fn timeout(node: &Node, out: &mut Vec<Diagnostic>) -> Option<Node> {
    if matches!(node.scalar(), Some("infinity" | "inf" | ".inf")) {
        return Some(Node::plain(node.span, "none"));
    }
    let seconds = node.scalar_json().and_then(|value| value.as_f64()).filter(|seconds| *seconds > 0.0);
    let Some(seconds) = seconds else {
        let message = "`timeout` must be a number of seconds above zero, or `infinity`";
        out.push(Diagnostic::error("LH0107", node.span, message).label("expected seconds"));
        return None;
    };
    let text = if seconds.fract() == 0.0 { format!("{seconds:.0}s") } else { format!("{:.0}ms", seconds * 1000.0) };
    Some(Node::plain(node.span, text))
}
