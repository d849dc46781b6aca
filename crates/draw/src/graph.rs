//! The content of a drawing: nodes, groups and arrows.
//!
//! A drawing is flat like a plan, but uses keys instead of indices, so that a client can keep its own state beside
//! it. A key is the path of a step through its containers: `tasks/review`. The branch of a choice adds its case to
//! the container (`choose:then/fix`). A sub-workflow starts with its number (`@1/fetch`). The id of a step contains
//! neither `:` nor `@`, so keys are unique.
//!
//! **Invariant:** a group comes before its members, and they follow it without a gap. The start of a state machine is
//! the first of its nodes.

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
    /// The purpose of the workflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Steps, branches and sub-workflows.
    pub nodes: Vec<GraphNode>,
    /// Arrows, sorted by their start.
    pub edges: Vec<Edge>,
}

/// A step, a branch of a choice, or a sub-workflow.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct GraphNode {
    /// The key, unique in the drawing.
    pub key: String,
    /// The index of the step in the plan; `None` for branches and sub-workflows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// The id of the step, or the case of the branch.
    pub id: String,
    /// The name that people see.
    pub title: String,
    /// The action key of the step, `decision`, `branch` or `unit`.
    pub kind: String,
    /// The action, in at most 60 columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The key of the group that contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Whether it contains other nodes.
    pub group: bool,
    /// Whether a state machine starts here.
    pub start: bool,
    /// Whether it asks a person.
    pub gate: bool,
    /// Whether the run continues if it fails.
    pub optional: bool,
    /// Whether it may be skipped, see `when`.
    pub skippable: bool,
    /// The condition under which it runs.
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
    /// The condition, or the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The kind of the arrow.
    pub kind: EdgeKind,
}

/// The kind of an arrow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// The target waits for the source.
    Dependency,
    /// The source chooses the target.
    Next,
    /// Goes back and repeats.
    Rewind,
    /// Taken after a failure or a denial.
    Goto,
}

impl EdgeKind {
    /// Whether it is part of the normal way forward.
    pub(crate) fn is_forward(self) -> bool {
        matches!(self, Self::Dependency | Self::Next)
    }
}

impl Graph {
    /// The complete drawing of a plan.
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
