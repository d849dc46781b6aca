//! `branch`: a decision node.
//!
//! The original turns the value into Python text and compares that, so a case `true` never meets a JSON
//! `true`. Here both spellings match.

use super::super::compose::{Entries, quoted};
use super::super::reader::{Reader, wrong_kind};
use super::{Scope, values};
use crate::diagnostic::Diagnostic;
use crate::source::Node;

const CONDITION_KEYS: &[&str] = &["op", "value", "next"];
const OPERATORS: &[&str] = &["==", "!=", "<", ">", "<=", ">="];
/// What JSON and Python call the same value.
const TWINS: &[(&str, &str)] = &[("true", "True"), ("false", "False"), ("null", "None")];

/// Adds where the branch goes.
pub(super) fn put(branch: &mut Reader<'_, '_>, scope: &Scope<'_, '_>, native: &mut Entries) {
    let path = branch.required_text("path").and_then(|path| values::path(path, scope, branch.out()));
    let path = path.unwrap_or_else(|| "none".to_owned());
    let mut routes = cases(branch, &path, scope);
    for condition in branch.list("conditions") {
        routes.extend(self::condition(condition, &path, scope, branch.out()));
    }
    let default = branch.text("default").filter(|target| target.as_text() != Some(""));
    routes.extend(default.map(|target| route(None, target, scope)));
    let origin = branch.node;
    let says_nothing = ["cases", "conditions", "default"].iter().all(|key| branch.get(key).is_none());
    if routes.is_empty() && says_nothing {
        let message = "a branch node leads nowhere: it has no `cases`, `conditions` or `default`";
        branch.report(Diagnostic::error("LH0603", origin.span, message).label("no way out"));
    }
    native.put("next", Node::seq(origin.span, routes));
}

fn cases(branch: &mut Reader<'_, '_>, path: &str, scope: &Scope<'_, '_>) -> Vec<Node> {
    let mut cases: Vec<&(Node, Node)> = branch.map("cases").iter().collect();
    let spellings: Vec<&str> = cases.iter().filter_map(|(key, _)| key.as_text()).collect();
    // Where a file has both spellings, the value of the original is the Python one's.
    cases.sort_by_key(|(key, _)| {
        let twin = TWINS.iter().find(|(json, _)| key.as_text() == Some(json));
        twin.is_some_and(|(_, python)| spellings.contains(python))
    });
    let mut routes = Vec::new();
    for (key, target) in cases {
        let Some(text) = key.as_text() else {
            branch.report(wrong_kind(key, "a case", "text"));
            continue;
        };
        if target.as_text().is_none() {
            branch.report(wrong_kind(target, "the target of a case", "text"));
            continue;
        }
        if TWINS.iter().any(|(json, python)| text == *json || text == *python) {
            branch.report(both_spellings(key, text));
        }
        let when = Node::text(key.span, format!("{path} is spelled({})", quoted(text)));
        routes.push(route(Some(when), target, scope));
    }
    routes
}

fn both_spellings(key: &Node, text: &str) -> Diagnostic {
    let twin = TWINS.iter().find(|(json, python)| text == *json || text == *python);
    let (json, python) = twin.copied().unwrap_or_default();
    let message =
        format!("the case `{text}` matches the value as JSON spells it (`{json}`) and as Python does (`{python}`)");
    Diagnostic::note("LH0317", key.span, message)
        .label("both spellings")
        .help(format!("workhorse itself only knows `{python}`"))
}

fn condition(node: &Node, path: &str, scope: &Scope<'_, '_>, out: &mut Vec<Diagnostic>) -> Option<Node> {
    let mut condition = Reader::open(node, "a condition", CONDITION_KEYS, out)?;
    if condition.get("op").is_none() {
        condition.missing("op");
    }
    let operator = condition.word("op", OPERATORS);
    let value = condition.required_text("value");
    let next = condition.required_text("next");
    let (operator, value) = (operator?.as_text()?, value?);
    let text = quoted(value.as_text()?);
    let expression = match operator {
        "==" => format!("{path} is spelled({text})"),
        // What cannot be found goes to the default, whatever is asked of it.
        "!=" => format!("{path} is defined and {path} is not spelled({text})"),
        _ => format!("compare({path}, {}, {text})", quoted(operator)),
    };
    Some(route(Some(Node::text(value.span, expression)), next?, scope))
}

fn route(when: Option<Node>, target: &Node, scope: &Scope<'_, '_>) -> Node {
    let mut route = Entries::at(target);
    route.put_some("when", when);
    route.put("to", scope.ids.native(target));
    route.flow()
}
