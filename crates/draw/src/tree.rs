//! Draws a plan as text for the terminal, readable without colour.
//!
//! A sequence and a state machine are lists. A graph is printed level by level: steps on one bracket (`┬`) can run at
//! the same time. `after` names the dependencies of a step, unless it is just the line above. The other arrows of a
//! step stand below it.

mod rows;

use longhaul_core::plan::Plan;

use crate::graph::{Edge, EdgeKind, Graph, GraphNode, graph};
use crate::label::badges;
use crate::nest::Nest;
use crate::text::{columns, one_line};
use rows::{Row, rows};

/// The most columns of a name or condition from the workflow.
const TEXT_COLUMNS_MAX: usize = 60;

/// The workflow as a tree of lines, then each sub-workflow it uses.
pub fn tree(plan: &Plan) -> String {
    let graph = graph(plan);
    let nest = Nest::of(&graph);
    let mut printer = Printer { graph: &graph, nest: &nest, out: String::new() };
    printer.section(None, &graph.title, graph.description.as_deref());
    for &unit in &nest.units {
        let node = &graph.nodes[unit];
        printer.out.push('\n');
        printer.section(Some(unit), &format!("workflow {}", node.title), node.detail.as_deref());
    }
    printer.out
}

struct Printer<'a> {
    graph: &'a Graph,
    nest: &'a Nest,
    out: String,
}

impl<'a> Printer<'a> {
    fn section(&mut self, group: Option<usize>, title: &str, description: Option<&str>) {
        let description = description.map(|text| format!(" — {}", one_line(text, TEXT_COLUMNS_MAX)));
        self.line(&format!("{}{}", one_line(title, TEXT_COLUMNS_MAX), description.unwrap_or_default()));
        let mut open = rows(self.graph, self.nest, group, "");
        open.reverse();
        while let Some(row) = open.pop() {
            self.row(&row);
            let below = rows(self.graph, self.nest, Some(row.node), &format!("{}{}", row.lead, row.rest));
            open.extend(below.into_iter().rev());
        }
    }

    fn row(&mut self, row: &Row) {
        let node = &self.graph.nodes[row.node];
        let text = describe(node, row);
        self.line(&format!("{}{}{text}", row.lead, row.connector));
        let trunk = if self.nest.children[row.node].is_empty() { "  " } else { "│ " };
        let ways: Vec<_> = self.nest.outgoing[row.node].iter().filter_map(|edge| self.way(*edge)).collect();
        let to_columns = ways.iter().map(|(_, to, _)| columns(to)).max().unwrap_or(0);
        for (arrow, to, why) in ways {
            self.line(&format!("{}{}{trunk}{arrow} {}  {why}", row.lead, row.rest, padded(to, to_columns)));
        }
    }

    /// An arrow other than a dependency: its sign, its target, its reason.
    fn way(&self, edge: usize) -> Option<(&'static str, &'a str, String)> {
        let (_, to) = self.nest.ends[edge]?;
        let (arrow, why) = told(&self.graph.edges[edge])?;
        let graph: &'a Graph = self.graph;
        Some((arrow, graph.nodes[to].id.as_str(), why))
    }

    fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }
}

fn describe(node: &GraphNode, row: &Row) -> String {
    let mut text = padded(&one_line(&node.id, TEXT_COLUMNS_MAX), row.id_columns);
    if node.kind != "branch" {
        text.push_str("  ");
        text.push_str(&padded(&one_line(&node.kind, TEXT_COLUMNS_MAX), row.kind_columns));
    }
    if let Some(detail) = &node.detail {
        text.push_str("  ");
        text.push_str(detail);
    }
    for badge in badges(node) {
        text.push_str("  ");
        text.push_str(&if badge.starts_with('×') { badge } else { format!("[{badge}]") });
    }
    if let Some(after) = &row.after {
        text.push_str(&format!("  after {after}"));
    }
    text
}

fn told(edge: &Edge) -> Option<(&'static str, String)> {
    let label = edge.label.as_deref().map(|label| one_line(label, TEXT_COLUMNS_MAX)).unwrap_or_default();
    match (edge.kind, label.as_str()) {
        (EdgeKind::Dependency, _) => None,
        (EdgeKind::Next, "" | "else") => Some(("→", label)),
        (EdgeKind::Next, when) => Some(("→", format!("when {when}"))),
        (EdgeKind::Goto, "deny") => Some(("→", "on deny".to_owned())),
        (EdgeKind::Goto, _) => Some(("→", label)),
        (EdgeKind::Rewind, _) => Some(("↺", label)),
    }
}

fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}
