//! Numbers the steps: turns trees into the tables of the model.

use std::collections::HashMap;
use std::rc::Rc;

use longhaul_core::id;
use longhaul_core::plan::{BodyIx, Compat, StepIx, UnitIx};

use super::load::{Forest, Use};
use super::{Action, Body, Model, Order, Route, Step, Unit, step_ix};
use crate::conform::{actions, is_body_mapping};
use crate::diagnostic::Diagnostic;
use crate::source::{Node, Value};

pub(super) fn build<'n>(forest: &'n Forest, out: &mut Vec<Diagnostic>) -> Model<'n> {
    let mut builder = Builder { model: Model { units: Vec::new(), bodies: Vec::new(), steps: Vec::new() }, out };
    let firsts: Vec<UnitIx> = forest
        .trees
        .iter()
        .enumerate()
        .map(|(at, tree)| builder.reserve(&tree.node, tree.name.clone(), &tree.dir, at == 0))
        .collect();
    for (tree, unit) in forest.trees.iter().zip(&firsts) {
        let others = tree.uses.iter().filter_map(|(name, used)| match used {
            Use::Tree(at) => Some((name.clone(), firsts[*at])),
            Use::Broken(_) | Use::Outside => None,
        });
        let known: HashMap<String, UnitIx> = others.collect();
        builder.fill(*unit, Rc::new(known));
    }
    builder.link();
    builder.model
}

struct Builder<'n, 'o> {
    model: Model<'n>,
    out: &'o mut Vec<Diagnostic>,
}

impl<'n> Builder<'n, '_> {
    fn reserve(&mut self, node: &'n Node, name: String, dir: &'n str, own: bool) -> UnitIx {
        let compat =
            node.get("compat").and_then(Node::items).unwrap_or_default().iter().filter_map(compat_of).collect();
        let name = node.get("name").and_then(Node::as_text).map_or(name, str::to_owned);
        self.model.units.push(Unit { node, name, dir, body: None, known: Rc::default(), own, compat });
        UnitIx(index(self.model.units.len() - 1))
    }

    /// Adds the unit's own workflows, then its body.
    fn fill(&mut self, unit: UnitIx, outer: Rc<HashMap<String, UnitIx>>) {
        let Unit { node, dir, own, .. } = *self.model.unit(unit);
        let mut locals = Vec::new();
        let mut named = HashMap::new();
        for (key, value) in node.get("workflows").and_then(Node::entries).unwrap_or_default() {
            if let (Some(name), Some(_)) = (key.scalar(), value.entries()) {
                let local = self.reserve(value, name.to_owned(), dir, own);
                named.insert(name.to_owned(), local);
                locals.push(local);
            }
        }
        // Thousands of workflows in one file share one table of names.
        let known = match named.is_empty() {
            true => outer,
            false => Rc::new(outer.iter().map(|(name, unit)| (name.clone(), *unit)).chain(named).collect()),
        };
        self.model.units[unit.at()].known = Rc::clone(&known);
        let body = self.body(node, unit, None);
        self.model.units[unit.at()].body = body;
        for local in locals {
            self.fill(local, Rc::clone(&known));
        }
    }

    /// The body of a mapping that has one.
    fn body(&mut self, node: &'n Node, unit: UnitIx, parent: Option<StepIx>) -> Option<BodyIx> {
        let keys = [("steps", Order::Graph), ("do", Order::Sequence), ("nodes", Order::Machine)];
        let (order, list) = keys.into_iter().find_map(|(key, order)| Some((order, node.get(key)?)))?;
        let items: Vec<&'n Node> = list.items()?.iter().collect();
        Some(self.steps_of(Frame { node: list, unit, parent, order, start: node.get("start") }, &items))
    }

    /// The body of a container: a list, a single step, or a mapping.
    fn loose_body(&mut self, node: &'n Node, unit: UnitIx, parent: StepIx) -> Option<BodyIx> {
        let frame = Frame { node, unit, parent: Some(parent), order: Order::Sequence, start: None };
        match &node.value {
            Value::Seq(items, _) => Some(self.steps_of(frame, &items.iter().collect::<Vec<_>>())),
            Value::Map(..) if is_body_mapping(node) => self.body(node, unit, Some(parent)),
            Value::Map(..) => Some(self.steps_of(frame, &[node])),
            Value::Scalar(..) | Value::Alias(_) => None,
        }
    }

    fn steps_of(&mut self, frame: Frame<'n>, items: &[&'n Node]) -> BodyIx {
        let Frame { node, unit, parent, order, start } = frame;
        let body = BodyIx(index(self.model.bodies.len()));
        self.model.bodies.push(Body { node, unit, parent, order, start, steps: Vec::new(), by_id: HashMap::new() });
        let items: Vec<&'n Node> = items.iter().copied().filter(|item| item.entries().is_some()).collect();
        let ids = ids_of(&items);
        let first = self.model.steps.len();
        for (item, id) in items.iter().zip(ids) {
            self.add_step(item, id, body);
        }
        for at in first..first + items.len() {
            self.add_inner(step_ix(at), unit);
        }
        body
    }

    fn add_step(&mut self, node: &'n Node, id: String, body: BodyIx) {
        let step = step_ix(self.model.steps.len());
        let span = node.get("id").map_or(node.span, |id| id.span);
        let action = match actions(node).first() {
            Some((kind, _, value)) => Action::Is(kind, value),
            None if node.get("next").is_some() => Action::Decide,
            None => Action::None,
        };
        let written = node.get("id").filter(|node| node.as_text() == Some(id.as_str()));
        let owner = &mut self.model.bodies[body.at()];
        owner.steps.push(step);
        if let Some(first) = owner.by_id.get(&id) {
            if let Some(written) = written {
                let first = self.model.steps[first.at()].span;
                self.out.push(duplicate_id(written, &id, first));
            }
        } else {
            owner.by_id.insert(id.clone(), step);
        }
        let step = Step { node, id, span, body, action, deps: Vec::new(), next: Vec::new(), inner: Vec::new() };
        self.model.steps.push(step);
    }

    /// The bodies inside a container.
    fn add_inner(&mut self, at: StepIx, unit: UnitIx) {
        let step = self.model.step(at);
        let (node, action) = (step.node, step.action);
        let mut inner: Vec<(&'n str, BodyIx)> = Vec::new();
        let mut loose = |builder: &mut Self, name: &'n str, body: Option<&'n Node>| {
            inner.extend(body.and_then(|body| builder.loose_body(body, unit, at)).map(|body| (name, body)));
        };
        match action.key() {
            "if" => {
                loose(self, "then", node.get("then"));
                loose(self, "else", node.get("else"));
            }
            "switch" => {
                for (key, body) in node.get("cases").and_then(Node::entries).unwrap_or_default() {
                    loose(self, key.scalar().unwrap_or_default(), Some(body));
                }
                loose(self, "default", node.get("default"));
            }
            "parallel" => {
                for (key, body) in action.value().and_then(Node::entries).unwrap_or_default() {
                    loose(self, key.scalar().unwrap_or_default(), Some(body));
                }
            }
            "for_each" | "repeat" => inner.extend(self.body(node, unit, Some(at)).map(|body| ("do", body))),
            _ => {}
        }
        self.model.steps[at.at()].inner = inner;
    }

    /// Connects dependencies and routes, once every step has its number.
    fn link(&mut self) {
        for at in 0..self.model.bodies.len() {
            let steps = self.model.bodies[at].steps.clone();
            for (position, step) in steps.iter().enumerate() {
                let next = self.routes(*step, at);
                self.model.steps[step.at()].next = next;
                let deps = match self.model.bodies[at].order {
                    Order::Graph => self.named_deps(*step, at),
                    Order::Sequence => position
                        .checked_sub(1)
                        .map(|before| (steps[before], self.model.step(*step).span))
                        .into_iter()
                        .collect(),
                    Order::Machine => Vec::new(),
                };
                self.model.steps[step.at()].deps = deps;
            }
            self.targets_depend(at);
        }
    }

    fn named_deps(&self, step: StepIx, body: usize) -> Vec<(StepIx, crate::source::Span)> {
        let names = self.model.step(step).node.get("depends_on").map(one_or_many).unwrap_or_default();
        let by_id = &self.model.bodies[body].by_id;
        let mut deps: Vec<(StepIx, crate::source::Span)> = Vec::new();
        for name in names {
            if let Some(dep) = name.as_text().and_then(|id| by_id.get(id))
                && !deps.iter().any(|(known, _)| known == dep)
            {
                deps.push((*dep, name.span));
            }
        }
        deps
    }

    fn routes(&self, step: StepIx, body: usize) -> Vec<Route<'n>> {
        let by_id = &self.model.bodies[body].by_id;
        let Some(next) = self.model.step(step).node.get("next") else { return Vec::new() };
        let route = |to: &'n Node, when: Option<&'n Node>| {
            let target = to.as_text().and_then(|id| by_id.get(id))?;
            Some(Route { when, to: *target, span: to.span })
        };
        match next.items() {
            None => route(next, None).into_iter().collect(),
            Some(items) => items.iter().filter_map(|item| route(item.get("to")?, item.get("when"))).collect(),
        }
    }

    /// In a graph, the targets of `next` depend on the step.
    fn targets_depend(&mut self, body: usize) {
        if self.model.bodies[body].order != Order::Graph {
            return;
        }
        for step in self.model.bodies[body].steps.clone() {
            let targets: Vec<_> = self.model.step(step).next.iter().map(|route| (route.to, route.span)).collect();
            for (target, span) in targets {
                let deps = &mut self.model.steps[target.at()].deps;
                if !deps.iter().any(|(dep, _)| *dep == step) {
                    deps.push((step, span));
                }
            }
        }
    }
}

struct Frame<'n> {
    node: &'n Node,
    unit: UnitIx,
    parent: Option<StepIx>,
    order: Order,
    start: Option<&'n Node>,
}

/// The ids of a body's steps. A missing id is made from the action, and is unique.
fn ids_of(items: &[&Node]) -> Vec<String> {
    let written =
        |item: &&Node| item.get("id").and_then(Node::as_text).filter(|id| id::is_step_id(id)).map(str::to_owned);
    let mut taken: std::collections::HashSet<String> = items.iter().filter_map(written).collect();
    let mut counts: HashMap<&str, u32> = HashMap::new();
    let mut make = |item: &Node| {
        let base = actions(item).first().map_or("decision", |(kind, ..)| kind.key);
        loop {
            let count = counts.entry(base).or_insert(0);
            *count += 1;
            let id = if *count == 1 { base.replace('_', "-") } else { format!("{}-{count}", base.replace('_', "-")) };
            if taken.insert(id.clone()) {
                return id;
            }
        }
    };
    items.iter().map(|item| written(item).unwrap_or_else(|| make(item))).collect()
}

fn duplicate_id(node: &Node, id: &str, first: crate::source::Span) -> Diagnostic {
    Diagnostic::error("LH0205", node.span, format!("two steps of this body have the id `{id}`"))
        .label("used a second time")
        .related(first, "first used here")
        .help("give one of them another id")
}

/// A value or the items of a list.
pub(crate) fn one_or_many(node: &Node) -> Vec<&Node> {
    node.items().map_or_else(|| vec![node], |items| items.iter().collect())
}

fn compat_of(node: &Node) -> Option<Compat> {
    Compat::named(node.as_text()?)
}

fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
