//! What there is to draw: nodes, groups and the arrows between them.
//!
//! A drawing is flat like a plan, but speaks in keys instead of indices, so that a client can keep its
//! own state beside it. A key is the way to a step through its containers: `tasks/review`. The branch
//! of a choice adds what it is for to the container (`choose:then/fix`), a sub-workflow starts again
//! with its number (`@1/fetch`); neither sign can stand in the id of a step, so keys are unique.
//!
//! **Invariant:** a group comes before what it holds, and what it holds follows it without a gap; the
//! start of a state machine is the first of its nodes.

mod arrows;
mod detail;
mod walk;

use longhaul_core::plan::Plan;
use schemars::JsonSchema;
use serde::Serialize;

/// A plan as nodes and edges.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Graph {
    /// The name of the workflow.
    pub title: String,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Steps, branches and sub-workflows.
    pub nodes: Vec<Node>,
    /// Arrows, by where they start.
    pub edges: Vec<Edge>,
}

/// A step, a branch of a choice, or a sub-workflow.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct Node {
    /// Unique in the drawing.
    pub key: String,
    /// The step's place in the plan; `None` for branches and sub-workflows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// The id of the step, or what the branch is for.
    pub id: String,
    /// What people call it.
    pub title: String,
    /// The action key of the step, `decision`, `branch` or `unit`.
    pub kind: String,
    /// What it does, in at most 60 columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The key of the group it stands in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Whether other nodes stand in it.
    pub group: bool,
    /// Whether a state machine starts here.
    pub start: bool,
    /// Whether a person is asked.
    pub gate: bool,
    /// Whether the run survives its failure.
    pub optional: bool,
    /// Whether it may be skipped, see `when`.
    pub skippable: bool,
    /// What must hold for it not to be skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// How many of its items run at once, if more than one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel: Option<u32>,
}

/// An arrow.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Edge {
    /// The key of the node it starts at.
    pub from: String,
    /// The key of the node it points to.
    pub to: String,
    /// What must hold, or why it is taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What it means.
    pub kind: EdgeKind,
}

/// What an arrow means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// The second waits for the first.
    Dependency,
    /// The first chooses the second.
    Next,
    /// Back, and once more.
    Rewind,
    /// Taken when something went wrong or was denied.
    Goto,
}

impl EdgeKind {
    /// Whether it is part of the ordinary way forward.
    pub(crate) fn is_forward(self) -> bool {
        matches!(self, Self::Dependency | Self::Next)
    }
}

impl Graph {
    /// Everything there is to draw of a plan.
    fn of(plan: &Plan) -> Self {
        let walk = walk::Walk::of(plan);
        let edges = arrows::edges(plan, &walk);
        let unit = plan.main();
        Self { title: unit.name.clone(), description: unit.description.clone(), nodes: walk.nodes, edges }
    }
}

/// The drawing of a plan as data.
pub fn graph(plan: &Plan) -> Graph {
    Graph::of(plan)
}
