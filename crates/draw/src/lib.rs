//! A plan as pictures: for the terminal, for documents, for a dashboard.
//!
//! [`graph`] says what there is to draw, [`layout`] where it goes; every format is a plain function of
//! the two. Text of a workflow is foreign text: each format escapes it in one place of its own.
//!
//! **Invariant:** the same plan gives the same bytes, and the time to draw it grows in step with its
//! size.

mod dot;
mod graph;
mod label;
mod layout;
mod mermaid;
mod nest;
mod svg;
mod text;
mod tree;

use longhaul_core::plan::Plan;
use schemars::JsonSchema;
use serde::Serialize;

pub use dot::dot;
pub use graph::{Edge, EdgeKind, Graph, GraphNode, graph};
pub use layout::{Area, Layout, Placed, Point, Routed, layout};
pub use mermaid::mermaid;
pub use svg::svg;
pub use tree::tree;

/// The drawing and the places of its parts, for a client that paints by itself.
///
/// The lists of the layout run parallel to those of the graph.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Picture {
    /// What there is.
    pub graph: Graph,
    /// Where it goes.
    pub layout: Layout,
}

/// The drawing of a plan and the places of its parts.
pub fn picture(plan: &Plan) -> Picture {
    let graph = graph(plan);
    let layout = layout(&graph);
    Picture { graph, layout }
}
