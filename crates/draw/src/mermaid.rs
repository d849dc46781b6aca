//! A plan as a Mermaid flowchart.
//!
//! **Invariant:** ids are ours (`n0`, `n1`, …); text of the workflow stands between quotes only, and of
//! it only letters, digits and a few harmless signs are written as they are. Everything else becomes a
//! character code, so no text can end a quote, open a directive or become markup.

use longhaul_core::plan::Plan;

use crate::face::{LABEL_COLUMNS_MAX, Shape, caption, lines, shape};
use crate::graph::{Edge, EdgeKind, Graph, graph};
use crate::nest::Nest;
use crate::text::one_line;

/// The plan as text that Mermaid reads.
pub fn mermaid(plan: &Plan) -> String {
    let graph = graph(plan);
    let nest = Nest::of(&graph);
    let mut chart = Chart { graph: &graph, nest: &nest, out: "flowchart TD\n".to_owned(), open: Vec::new() };
    for at in 0..graph.nodes.len() {
        chart.close_until(nest.parent[at]);
        chart.node(at);
    }
    chart.close_until(None);
    for at in 0..graph.edges.len() {
        chart.edge(at);
    }
    chart.classes();
    chart.out
}

struct Chart<'a> {
    graph: &'a Graph,
    nest: &'a Nest,
    out: String,
    /// The groups around the place that is being written, outermost first.
    open: Vec<usize>,
}

impl Chart<'_> {
    fn line(&mut self, text: &str) {
        // Deep nests are not indented without end: the text would grow with the square of the depth.
        self.out.push_str(&"  ".repeat(1 + self.open.len().min(8)));
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn close_until(&mut self, group: Option<usize>) {
        while self.open.last().copied() != group && self.open.pop().is_some() {
            self.line("end");
        }
    }

    fn node(&mut self, at: usize) {
        let node = &self.graph.nodes[at];
        if node.group {
            self.line(&format!("subgraph n{at}[\"{}\"]", escape(&caption(node))));
            self.open.push(at);
        } else {
            let text = lines(node).iter().map(|line| escape(line)).collect::<Vec<_>>().join("<br/>");
            let (left, right) = brackets(shape(node));
            self.line(&format!("n{at}{left}\"{text}\"{right}"));
        }
    }

    fn edge(&mut self, at: usize) {
        let Some((from, to)) = self.nest.ends[at] else { return };
        // A group cannot point at itself in Mermaid; its last step points at its first instead.
        let (from, to) = if from == to { (self.last_leaf(from), self.first_leaf(to)) } else { (from, to) };
        let edge = &self.graph.edges[at];
        self.line(&format!("n{from} {}{} n{to}", arrow(edge.kind), label(edge)));
    }

    fn first_leaf(&self, mut at: usize) -> usize {
        while let Some(first) = self.nest.children[at].first() {
            at = *first;
        }
        at
    }

    fn last_leaf(&self, mut at: usize) -> usize {
        while let Some(last) = self.nest.children[at].last() {
            at = *last;
        }
        at
    }

    fn classes(&mut self) {
        let optional: Vec<String> = (0..self.graph.nodes.len())
            .filter(|at| self.graph.nodes[*at].optional || self.graph.nodes[*at].skippable)
            .map(|at| format!("n{at}"))
            .collect();
        if !optional.is_empty() {
            self.line("classDef optional stroke-dasharray:5 4");
            self.line(&format!("class {} optional", optional.join(",")));
        }
    }
}

fn brackets(shape: Shape) -> (&'static str, &'static str) {
    match shape {
        Shape::Rounded => ("(", ")"),
        Shape::Square => ("[", "]"),
        Shape::Hexagon => ("{{", "}}"),
        Shape::Rhombus => ("{", "}"),
        Shape::Stadium => ("([", "])"),
        Shape::Double => ("[[", "]]"),
    }
}

fn arrow(kind: EdgeKind) -> &'static str {
    if kind.is_forward() { "-->" } else { "-.->" }
}

fn label(edge: &Edge) -> String {
    let text = edge.label.as_deref().map(|label| escape(&one_line(label, LABEL_COLUMNS_MAX)));
    text.filter(|text| !text.is_empty()).map_or_else(String::new, |text| format!("|\"{text}\"|"))
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("#quot;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            '&' => out.push_str("#amp;"),
            c if c.is_alphanumeric() || " .,-/=+()'!?·×…—".contains(c) => out.push(c),
            c => out.push_str(&format!("#{};", u32::from(c))),
        }
    }
    out
}
