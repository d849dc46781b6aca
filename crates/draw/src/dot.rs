//! Draws a plan as a Graphviz graph.
//!
//! **Invariant:** this file makes the ids. Text of the workflow stands only in quoted strings, with quotes,
//! backslashes and ampersands (Graphviz reads HTML entities) escaped.

use longhaul_core::plan::Plan;

use crate::graph::{Graph, graph};
use crate::label::{LABEL_COLUMNS_MAX, Shape, caption, lines, shape, tooltip};
use crate::nest::Nest;
use crate::text::one_line;

/// The plan in Graphviz's language.
pub fn dot(plan: &Plan) -> String {
    let graph = graph(plan);
    let nest = Nest::of(&graph);
    let mut sheet = Sheet { graph: &graph, nest: &nest, out: String::new(), open: Vec::new() };
    sheet.head();
    for at in 0..graph.nodes.len() {
        sheet.close_until(nest.parent[at]);
        sheet.node(at);
    }
    sheet.close_until(None);
    let (first, last) = leaves(&nest);
    for at in 0..graph.edges.len() {
        sheet.edge(at, &first, &last);
    }
    sheet.out.push_str("}\n");
    sheet.out
}

struct Sheet<'a> {
    graph: &'a Graph,
    nest: &'a Nest,
    out: String,
    open: Vec<usize>,
}

impl Sheet<'_> {
    fn head(&mut self) {
        self.out = format!("digraph {} {{\n", quoted(&one_line(&self.graph.title, 200)));
        self.line("graph [compound=true, fontname=\"sans-serif\", fontsize=11, style=\"rounded\", color=\"gray60\"];");
        self.line("node [fontname=\"sans-serif\", fontsize=11];");
        self.line("edge [fontname=\"sans-serif\", fontsize=10];");
    }

    fn line(&mut self, text: &str) {
        self.out.push_str(&"  ".repeat(1 + self.open.len().min(8)));
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn close_until(&mut self, group: Option<usize>) {
        while self.open.last().copied() != group && self.open.pop().is_some() {
            self.line("}");
        }
    }

    fn node(&mut self, at: usize) {
        let node = &self.graph.nodes[at];
        let tip = quoted(&tooltip(node));
        if !node.group {
            let label = quoted(&lines(node).join("\n"));
            self.line(&format!("n{at} [{}, label={label}, tooltip={tip}];", look(shape(node), is_dashed(node))));
            return;
        }
        self.line(&format!("subgraph cluster_n{at} {{"));
        self.open.push(at);
        self.line(&format!("label={}; tooltip={tip};", quoted(&caption(node))));
        if self.nest.children[at].is_empty() {
            // An arrow needs a node inside the frame.
            self.line(&format!("n{at} [shape=point, style=invis];"));
        }
    }

    fn edge(&mut self, at: usize, first: &[usize], last: &[usize]) {
        let Some((from, to)) = self.nest.ends[at] else { return };
        let edge = &self.graph.edges[at];
        let mut attributes = Vec::new();
        if let Some(label) = &edge.label {
            attributes.push(format!("label={}", quoted(&one_line(label, LABEL_COLUMNS_MAX))));
        }
        if !edge.kind.is_forward() {
            attributes.push("style=dashed, constraint=false".to_owned());
        }
        if from != to {
            attributes.extend(self.graph.nodes[from].group.then(|| format!("ltail=cluster_n{from}")));
            attributes.extend(self.graph.nodes[to].group.then(|| format!("lhead=cluster_n{to}")));
        }
        let list = if attributes.is_empty() { String::new() } else { format!(" [{}]", attributes.join(", ")) };
        self.line(&format!("n{} -> n{}{list};", last[from], first[to]));
    }
}

/// For each node the first and the last box inside it; a box is its own.
fn leaves(nest: &Nest) -> (Vec<usize>, Vec<usize>) {
    let mut first: Vec<usize> = (0..nest.children.len()).collect();
    let mut last = first.clone();
    for at in (0..nest.children.len()).rev() {
        if let ([head, ..], [.., tail]) = (nest.children[at].as_slice(), nest.children[at].as_slice()) {
            first[at] = first[*head];
            last[at] = last[*tail];
        }
    }
    (first, last)
}

fn is_dashed(node: &crate::GraphNode) -> bool {
    node.optional || node.skippable
}

fn look(shape: Shape, is_dashed: bool) -> String {
    let (shape, mut style) = match shape {
        Shape::Rounded => ("box", vec!["rounded"]),
        Shape::Square => ("box", vec![]),
        Shape::Hexagon => ("hexagon", vec![]),
        Shape::Rhombus => ("diamond", vec![]),
        Shape::Stadium => ("oval", vec![]),
        Shape::Double => ("box", vec!["diagonals"]),
    };
    style.extend(is_dashed.then_some("dashed"));
    match style.is_empty() {
        true => format!("shape={shape}"),
        false => format!("shape={shape}, style=\"{}\"", style.join(",")),
    }
}

fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('&', "&amp;").replace('\n', "\\n");
    format!("\"{text}\"")
}
