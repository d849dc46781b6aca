//! Turns the tables of a plan into nodes, outside in and in written order.
//!
//! The walk uses its own stack, because a plan may be nested very deeply.

use indexmap::{IndexMap, IndexSet};
use longhaul_core::plan::{BodyIx, Form, Order, Plan, Step, StepIx, UnitIx};

use super::{GraphNode, detail};

/// The nodes of a drawing, and the key of each step.
pub(super) struct Walk {
    /// The nodes, each group before its members.
    pub(super) nodes: Vec<GraphNode>,
    /// Steps in the order of the nodes.
    pub(super) keys: IndexMap<StepIx, String>,
}

/// The next things to visit.
enum Visit {
    Step(StepIx, Option<String>),
    Branch(Branch, String),
}

/// One of several bodies of a step.
struct Branch {
    /// The part of the key.
    slug: String,
    /// The name that people see.
    title: String,
    body: BodyIx,
}

impl Walk {
    /// The nodes of the workflow, then those of the sub-workflows it uses, each once.
    pub(super) fn of(plan: &Plan) -> Self {
        let mut walk = Self { nodes: Vec::new(), keys: IndexMap::new() };
        let mut units = IndexSet::from([UnitIx(0)]);
        let mut at = 0;
        while let Some(&unit) = units.get_index(at) {
            let parent = (at > 0).then(|| walk.unit(plan, unit));
            let first = walk.nodes.len();
            walk.body(plan, plan.unit(unit).body, parent);
            units.extend(walk.nodes[first..].iter().filter_map(|node| called(plan, node)));
            at += 1;
        }
        walk
    }

    fn unit(&mut self, plan: &Plan, ix: UnitIx) -> String {
        let unit = plan.unit(ix);
        let key = format!("@{}", ix.0);
        let detail = unit.description.as_deref().and_then(detail::short);
        let node =
            GraphNode { key: key.clone(), id: unit.name.clone(), title: unit.name.clone(), detail, ..unit_node() };
        self.nodes.push(node);
        key
    }

    fn body(&mut self, plan: &Plan, body: BodyIx, parent: Option<String>) {
        let mut open = Vec::new();
        push_steps(plan, body, &mut open, parent.as_deref());
        while let Some(visit) = open.pop() {
            match visit {
                Visit::Step(ix, parent) => self.step(plan, ix, parent, &mut open),
                Visit::Branch(branch, parent) => self.branch(plan, branch, parent, &mut open),
            }
        }
    }

    fn step(&mut self, plan: &Plan, ix: StepIx, parent: Option<String>, open: &mut Vec<Visit>) {
        let step = plan.step(ix);
        let key = match &parent {
            Some(parent) => format!("{parent}/{}", step.id),
            None => step.id.to_string(),
        };
        let inside = bodies(step);
        let mut node = node(plan, ix);
        node.key.clone_from(&key);
        node.parent = parent;
        self.nodes.push(node);
        match inside {
            Inside::Nothing => {}
            Inside::Body(body) => push_steps(plan, body, open, Some(&key)),
            Inside::Branches(branches) => {
                open.extend(branches.into_iter().rev().map(|branch| Visit::Branch(branch, key.clone())));
            }
        }
        self.keys.insert(ix, key);
    }

    fn branch(&mut self, plan: &Plan, branch: Branch, parent: String, open: &mut Vec<Visit>) {
        let key = format!("{parent}:{}", branch.slug);
        push_steps(plan, branch.body, open, Some(&key));
        self.nodes.push(GraphNode {
            key,
            id: branch.title.clone(),
            title: branch.title,
            kind: "branch".to_owned(),
            parent: Some(parent),
            group: true,
            ..GraphNode::default()
        });
    }
}

fn unit_node() -> GraphNode {
    GraphNode { kind: "unit".to_owned(), group: true, ..GraphNode::default() }
}

/// The sub-workflow that a node starts.
fn called(plan: &Plan, node: &GraphNode) -> Option<UnitIx> {
    match plan.step(StepIx(node.step?)).form {
        Form::Workflow { unit, .. } => Some(unit),
        _ => None,
    }
}

/// A state machine is read from its start, other bodies in written order.
fn push_steps(plan: &Plan, body: BodyIx, open: &mut Vec<Visit>, parent: Option<&str>) {
    let body = plan.body(body);
    let start = match body.order {
        Order::Machine { start } => Some(start),
        Order::Graph => None,
    };
    let others = body.steps.iter().rev().copied().filter(|step| Some(*step) != start);
    open.extend(others.chain(start).map(|step| Visit::Step(step, parent.map(str::to_owned))));
}

/// A step as a node, still without its key and parent.
fn node(plan: &Plan, ix: StepIx) -> GraphNode {
    let step = plan.step(ix);
    GraphNode {
        step: Some(ix.0),
        id: step.id.to_string(),
        title: title(plan, step),
        kind: step.form.word().to_owned(),
        detail: detail::of(plan, &step.form),
        group: !matches!(bodies(step), Inside::Nothing),
        start: plan.body(step.body).order == Order::Machine { start: ix },
        gate: step.review.is_some() || matches!(step.form, Form::Approve(_) | Form::Ask { .. }),
        optional: step.optional,
        skippable: step.when.is_some(),
        when: step.when.as_ref().map(|when| when.0.clone()),
        parallel: parallel(&step.form),
        ..GraphNode::default()
    }
}

fn title(plan: &Plan, step: &Step) -> String {
    match (&step.form, &step.name) {
        (Form::Workflow { unit, .. }, _) => plan.unit(*unit).name.clone(),
        (_, Some(name)) => name.clone(),
        (_, None) => step.id.to_string(),
    }
}

fn parallel(form: &Form) -> Option<u32> {
    match form {
        Form::ForEach { parallel, .. } if *parallel > 1 => Some(*parallel),
        _ => None,
    }
}

/// The inner part of a step.
enum Inside {
    Nothing,
    Body(BodyIx),
    Branches(Vec<Branch>),
}

fn bodies(step: &Step) -> Inside {
    match &step.form {
        Form::ForEach { body, .. } | Form::Repeat { body, .. } => Inside::Body(*body),
        Form::If { then, otherwise, .. } => {
            let otherwise = otherwise.map(|body| branch("else", "else", body));
            Inside::Branches([branch("then", "then", *then)].into_iter().chain(otherwise).collect())
        }
        Form::Switch { cases, default, .. } => {
            let numbered = cases.iter().enumerate();
            let cases = numbered.map(|(n, case)| branch(&format!("case{n}"), &detail::value(&case.value), case.body));
            let default = default.map(|body| branch("default", "default", body));
            Inside::Branches(cases.chain(default).collect())
        }
        Form::Parallel { branches } => {
            let numbered = branches.iter().enumerate();
            Inside::Branches(numbered.map(|(n, (name, body))| branch(&format!("branch{n}"), name, *body)).collect())
        }
        _ => Inside::Nothing,
    }
}

fn branch(slug: &str, title: &str, body: BodyIx) -> Branch {
    Branch { slug: slug.to_owned(), title: title.to_owned(), body }
}
