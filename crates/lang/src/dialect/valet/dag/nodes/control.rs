//! Nodes that decide, wait and stop: `if`, `wait`, `approval`, `stop`.

use longhaul_core::Json;

use super::super::Writing;
use super::super::edges::{Edges, Way};
use super::{Action, first_said, one_of, open};
use crate::dialect::reader::Reader;
use crate::dialect::spelling::{broken_rule, escape, expression_of, no_effect, on_one_line, time_span, value_name};
use crate::source::{Node, Value};

const WAIT_MS_MAX: u64 = 7 * 24 * 3_600_000;

impl Writing<'_> {
    /// An `if`: a step that only chooses, and extra steps for routes with several targets.
    pub(in super::super) fn decision(&mut self, node: &Node, id: &Node, edges: &Edges) -> Option<Vec<Node>> {
        let condition = self.joined_conditions(node)?;
        let own = id.scalar().unwrap_or_default();
        let targets = [Way::Yes, Way::No].map(|way| edges.target(own, way));
        if targets.iter().all(Option::is_none) {
            let message = format!("`{own}` has nothing to choose between");
            let help = "add edges with `fromOutput` `true` or `false`";
            self.out.push(broken_rule(node.span, message, "no way out").help(help));
            return None;
        }
        let [yes, no] = &targets;
        let negated = || Node::text(condition.span, format!("not ({})", condition.scalar().unwrap_or_default()));
        let routes = match (yes, no) {
            (Some(yes), Some(no)) => vec![route(Some(condition.clone()), yes), route(None, no)],
            (Some(only), None) => vec![route(Some(condition.clone()), only)],
            (None, Some(only)) => vec![route(Some(negated()), only)],
            (None, None) => Vec::new(),
        };
        let mut entries = self.node_head(node, id, edges);
        entries.push(("next", Node::seq(node.span, routes)));
        let hubs = targets.iter().flatten().filter(|target| target.hub).map(|target| {
            let name = Node::plain(target.span, value_name(&target.id));
            let set = Node::new(target.span, Value::Map(vec![(name, Node::plain(target.span, "true"))], true));
            Node::map(target.span, [("id", Node::plain(target.span, target.id.as_str())), ("set", set)])
        });
        Some(std::iter::once(Node::map(node.span, entries)).chain(hubs).collect())
    }

    fn joined_conditions(&mut self, node: &Node) -> Option<Node> {
        let mut reader = open(node, "an `if` node", &["conditions", "condition", "combinator"], &mut self.out)?;
        let combinator = one_of(&mut reader, ["combinator", "combinator"], &["and", "or", "all", "any"]);
        let single = reader.get("condition");
        if single.is_none() && reader.get("conditions").is_none() {
            reader.missing("conditions");
        }
        let several = if single.is_some() { &[] } else { reader.list("conditions") };
        let parts: Vec<Node> = single.into_iter().chain(several).filter_map(|part| self.one_condition(part)).collect();
        let glue = match combinator.and_then(Node::scalar) {
            Some("or" | "any") => " or ",
            _ => " and ",
        };
        match parts.as_slice() {
            [] => None,
            [one] => Some(one.clone()),
            [first, ..] => {
                let texts: Vec<String> =
                    parts.iter().map(|part| format!("({})", part.scalar().unwrap_or_default())).collect();
                Some(Node::text(first.span, texts.join(glue)))
            }
        }
    }

    /// A text, or `{left, operator, right}`.
    fn one_condition(&mut self, part: &Node) -> Option<Node> {
        if part.as_text().is_some() {
            return self.condition(part);
        }
        if let Some(flag) = part.as_bool() {
            return Some(Node::text(part.span, flag.to_string()));
        }
        const KEYS: &[&str] = &["left", "field", "path", "variable", "operator", "op", "right", "value"];
        let mut reader = Reader::open(part, "a condition", KEYS, &mut self.out)?;
        let left = first_said(&mut reader, &["left", "field", "path", "variable"]);
        if left.is_none() {
            reader.missing("left");
        }
        let operator = first_said(&mut reader, &["operator", "op"]);
        let right = part.get("right").or_else(|| part.get("value"));
        let left = self.path(left?);
        let right = right.map_or_else(|| "none".to_owned(), |right| self.operand(right));
        let word = operator.and_then(Node::scalar).unwrap_or("==");
        let Some(text) = compared(&left, word, &right) else {
            let span = operator.map_or(part.span, |operator| operator.span);
            self.out.push(broken_rule(span, format!("`{word}` is not an operator"), "unknown operator"));
            return None;
        };
        Some(Node::text(part.span, text))
    }

    /// The right side of a comparison: a path in braces, or a value.
    fn operand(&mut self, right: &Node) -> String {
        match right.as_text() {
            Some(text) if text.trim().starts_with("{{") && text.trim().ends_with("}}") => self.path(right),
            _ => expression_of(&right.to_json()),
        }
    }

    pub(super) fn wait(&mut self, node: &Node) -> Action {
        let mut reader = open(node, "a `wait` node", &["duration", "durationMs", "duration_ms"], &mut self.out)?;
        let written = ["duration", "durationMs", "duration_ms"].into_iter().find_map(|key| reader.get(key));
        let Some(written) = written else {
            reader.missing("duration");
            return None;
        };
        let span = self.duration(written)?;
        Some(vec![("wait", span)])
    }

    /// A time span: a text as it is, a number as milliseconds.
    fn duration(&mut self, written: &Node) -> Option<Node> {
        match written.scalar_json() {
            Some(Json::Number(number)) => {
                let ms = number.as_u64().unwrap_or(u64::MAX);
                if ms > WAIT_MS_MAX {
                    self.out.push(broken_rule(written.span, "a wait is at most 7 days", "too long"));
                }
                Some(Node::plain(written.span, time_span(ms)))
            }
            Some(Json::String(text)) if text.contains("{{") => {
                let template = self.template(written);
                Some(Node::map(written.span, [("for", template)]))
            }
            Some(Json::String(_)) => Some(written.clone()),
            _ => {
                self.out.push(super::super::wrong_kind(written, "`duration`", "a time span or a number"));
                None
            }
        }
    }

    pub(super) fn approval(&mut self, node: &Node) -> Action {
        const KEYS: &[&str] =
            &["prompt", "summary", "details", "timeout", "timeoutMs", "timeout_ms", "onDeny", "on_deny"];
        let mut reader = open(node, "an `approval` node", KEYS, &mut self.out)?;
        let texts = ["prompt", "summary", "details"].map(|key| reader.said(key));
        let denied = one_of(&mut reader, ["onDeny", "on_deny"], &["fail", "skip"]);
        let timeout = ["timeout", "timeoutMs", "timeout_ms"].into_iter().find_map(|key| reader.get(key));
        let title = node.get("name").or_else(|| node.get("id")).and_then(Node::scalar).unwrap_or_default();
        let question = self.paragraphs(&texts);
        let question = question.unwrap_or_else(|| Node::text(node.span, format!("Approve: {}", escape(title))));
        let timeout = timeout.and_then(|timeout| self.duration(timeout));
        let denied = denied.map_or_else(|| Node::plain(node.span, "fail"), Node::clone);
        let mut entries = vec![("approve", question), ("on_deny", denied)];
        if let Some(timeout) = timeout {
            entries.push(("timeout", timeout));
            entries.push(("on_timeout", Node::plain(node.span, "deny")));
        }
        Some(entries)
    }

    pub(super) fn stop(&mut self, node: &Node) -> Action {
        let mut reader = open(node, "a `stop` node", &["outcome", "output", "message"], &mut self.out)?;
        let words = &["success", "succeeded", "completed", "ok", "failure", "failed", "error", "cancelled", "canceled"];
        let outcome = one_of(&mut reader, ["outcome", "outcome"], words);
        let message = reader.said("message");
        if let Some((key, _)) = node.entry("output") {
            reader.report(no_effect(key.span, "output", "the outputs of a run are the names that its steps set"));
        }
        let word = match outcome.and_then(Node::scalar) {
            Some("failure" | "failed" | "error") => "failure",
            Some("cancelled" | "canceled") => "cancelled",
            _ => "success",
        };
        let mut entries = vec![("end", Node::plain(outcome.map_or(node.span, |outcome| outcome.span), word))];
        entries.extend(message.map(|message| ("message", self.template(message))));
        Some(entries)
    }
}

fn route(when: Option<Node>, target: &super::super::edges::Target) -> Node {
    let to = Node::plain(target.span, target.id.as_str());
    on_one_line(Node::map(target.span, when.map(|when| ("when", when)).into_iter().chain([("to", to)])))
}

/// A comparison, with the operator as a word or a sign.
fn compared(left: &str, operator: &str, right: &str) -> Option<String> {
    Some(match operator {
        "==" | "===" | "eq" | "equals" => format!("{left} == {right}"),
        "!=" | "!==" | "ne" | "neq" | "not_equals" | "notEquals" => format!("{left} != {right}"),
        ">" | "gt" => format!("ordered({left}, '>', {right})"),
        "<" | "lt" => format!("ordered({left}, '<', {right})"),
        ">=" | "gte" => format!("ordered({left}, '>=', {right})"),
        "<=" | "lte" => format!("ordered({left}, '<=', {right})"),
        "contains" => format!("{right} in {left}"),
        "exists" => format!("({left}) is defined and ({left}) is not none"),
        "truthy" => left.to_owned(),
        "falsy" => format!("not ({left})"),
        _ => return None,
    })
}
