//! Draws plans: for the terminal, for documents, for a dashboard.
//!
//! [`graph`] makes the content of a drawing, and [`layout`] places it. Every format is a plain function of the two.
//! Text of a workflow is untrusted: each format escapes it in one place.
//!
//! **Invariant:** the same plan gives the same bytes, and the time to draw it grows linearly with its size.

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

/// The drawing and the places of its parts, for a client that draws by itself.
///
/// The lists of the layout are parallel to those of the graph.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Picture {
    /// The content.
    pub graph: Graph,
    /// The places.
    pub layout: Layout,
}

/// The drawing of a plan and the places of its parts.
pub fn picture(plan: &Plan) -> Picture {
    let graph = graph(plan);
    let layout = layout(&graph);
    Picture { graph, layout }
}
