//! Evaluators and routers: steps whose answer decides what comes next.

use super::super::compose::{Entries, quoted};
use super::super::reader::Reader;
use super::wiring::Wiring;
use super::{condition, id_list};
use crate::diagnostic::Diagnostic;
use crate::source::Node;

const EVALUATE_KEYS: &[&str] = &["condition", "decision_field", "on_pass", "on_fail", "max_retries"];
const ROUTE_KEYS: &[&str] = &["when", "goto", "default"];
const RETRIES_MAX: u64 = 3;

/// The steps after an evaluator, and the step to which it sends the work back.
#[derive(Default)]
pub(super) struct Decision {
    pub(super) next: Option<Node>,
    pub(super) rewind: Option<Node>,
}

/// The decision of an evaluator.
pub(super) fn evaluator(id: &str, evaluate: &Node, wiring: &Wiring<'_>, out: &mut Vec<Diagnostic>) -> Option<Decision> {
    let mut block = Reader::open(evaluate, "`evaluate`", EVALUATE_KEYS, out)?;
    let pass = passes(&mut block, id, wiring);
    let on_pass = block.required_text("on_pass");
    let on_fail = block.required_text("on_fail");
    let max = block.count("max_retries").unwrap_or(RETRIES_MAX).max(1);
    let (on_pass, on_fail) = (on_pass?, on_fail?);
    let next = after_pass(id, on_pass, wiring);
    let Some(pass) = pass else {
        block.without_effect("on_fail", "without `condition` or `decision_field` the verdict is always a pass");
        return Some(Decision { next: Some(next), rewind: None });
    };
    let until = Node::text(pass.origin.span, pass.expression);
    if is_forward(id, on_fail, wiring) {
        block.without_effect("max_retries", "`on_fail` comes after this step, so nothing is done again");
        let next = vec![route(Some(until), on_pass, wiring), route(None, on_fail, wiring)];
        return Some(Decision { next: Some(Node::seq(evaluate.span, next)), rewind: None });
    }
    let mut rewind = Entries::at(evaluate);
    rewind.put("to", wiring.ids.native(on_fail));
    rewind.put("until", until);
    rewind.put("max", Node::plain(block.get("max_retries").unwrap_or(evaluate).span, max.to_string()));
    Some(Decision { next: Some(next), rewind: Some(rewind.block()) })
}

struct Pass<'n> {
    origin: &'n Node,
    expression: String,
}

/// The condition of a pass; `None` if it always passes.
fn passes<'n>(block: &mut Reader<'n, '_>, id: &str, wiring: &Wiring<'_>) -> Option<Pass<'n>> {
    let field = block.text("decision_field");
    if let Some(origin) = block.text("condition") {
        block.without_effect("decision_field", "`condition` is there and decides");
        let expression = condition::expression(origin, wiring, block.out());
        return Some(Pass { origin, expression });
    }
    let field_name = quoted(field?.as_text().unwrap_or_default());
    let output = wiring.output_of(id);
    let expression = format!("({output} | verdict({field_name}) | default('') | lower) == 'pass'");
    Some(Pass { origin: field?, expression })
}

/// After a pass, all direct dependents but one are skipped.
fn after_pass(id: &str, on_pass: &Node, wiring: &Wiring<'_>) -> Node {
    let others = wiring.dependents(id).into_iter().filter(|other| other.as_text() != on_pass.as_text());
    let never = |other| route(Some(Node::text(on_pass.span, "false")), other, wiring);
    let mut routes: Vec<Node> = others.map(never).collect();
    if routes.is_empty() {
        return wiring.ids.native(on_pass);
    }
    routes.push(route(None, on_pass, wiring));
    Node::seq(on_pass.span, routes)
}

fn is_forward(id: &str, on_fail: &Node, wiring: &Wiring<'_>) -> bool {
    let on_fail = on_fail.as_text().unwrap_or_default();
    wiring.is_downstream(on_fail, id) && !wiring.is_downstream(id, on_fail)
}

fn route(when: Option<Node>, to: &Node, wiring: &Wiring<'_>) -> Node {
    let mut route = Entries::at(to);
    route.put_some("when", when);
    route.put("to", wiring.ids.native(to));
    route.flow()
}

/// The targets of a router.
pub(super) fn routes(id: &str, routes: &Node, wiring: &Wiring<'_>, out: &mut Vec<Diagnostic>) -> Option<Node> {
    let mut entries = Vec::new();
    let mut fallback = None;
    let answer = format!("({} | lower | trim)", wiring.output_of(id));
    for item in routes.items().unwrap_or_default() {
        let Some(mut entry) = Reader::open(item, "a route", ROUTE_KEYS, out) else { continue };
        let when = entry.text("when");
        let is_default = entry.flag("default").unwrap_or(false);
        let Some(goto) = entry.required_text("goto") else { continue };
        if let Some(text) = when {
            let expression = format!("{} in {answer}", quoted(&text.as_text().unwrap_or_default().to_lowercase()));
            entries.push(route(Some(Node::text(text.span, expression)), goto, wiring));
        }
        if is_default && fallback.is_none() {
            fallback = Some(route(None, goto, wiring));
        } else if is_default {
            entry.without_effect("default", "another route before it is the default");
        } else if when.is_none() {
            entry.report(never_taken(item));
            entries.push(route(Some(Node::text(item.span, "false")), goto, wiring));
        }
    }
    entries.extend(fallback);
    (!entries.is_empty()).then(|| Node::seq(routes.span, entries))
}

fn never_taken(route: &Node) -> Diagnostic {
    Diagnostic::warning("LH0603", route.span, "this route is never taken: it has no `when` and is not the default")
        .label("never taken")
        .help("add `when: text` or `default: true`")
}

/// The dependencies of a step: `depends_on`, and the steps that make its `inputs`.
pub(super) fn depends_on(step: &mut Reader<'_, '_>, wiring: &Wiring<'_>) -> Option<Node> {
    let origin = step.get("depends_on").or_else(|| step.get("inputs"))?;
    let mut ids: Vec<Node> = step.texts("depends_on").into_iter().map(|id| wiring.ids.native(id)).collect();
    for input in step.texts("inputs") {
        let name = input.as_text().unwrap_or_default();
        let producers = wiring.producers(name);
        if producers.is_empty() && !super::wiring::BUILT_IN.contains(&name) {
            step.report(unknown_input(input, &step.what, wiring));
        }
        for producer in producers {
            let id = Node::new(input.span, wiring.ids.native(producer).value);
            if ids.iter().all(|known| known.scalar() != id.scalar()) {
                ids.push(id);
            }
        }
    }
    id_list(origin, ids)
}

fn unknown_input(input: &Node, what: &str, wiring: &Wiring<'_>) -> Diagnostic {
    let name = input.as_text().unwrap_or_default();
    let known = wiring.outputs().chain(super::wiring::BUILT_IN.iter().copied());
    Diagnostic::error("LH0303", input.span, format!("{what} takes `{name}`, which no step makes"))
        .label("no `output` has this name")
        .did_you_mean(name, known, |_| None)
}
