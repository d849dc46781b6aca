//! Draws a plan as a self-contained SVG: no script, no font and no external file.
//!
//! **Invariant:** text of the workflow goes through [`escape`] and stands in text content only, never in
//! an attribute, a style or a reference.

mod outline;
mod style;

use std::fmt::Write;

use longhaul_core::plan::Plan;

use crate::graph::{Edge, EdgeKind, Graph, GraphNode, graph};
use crate::label::{LABEL_COLUMNS_MAX, Shape, caption, lines, shape, tooltip};
use crate::layout::{Area, CAPTION_HEIGHT, LINE_HEIGHT, Layout, Point, Routed, layout};
use crate::text::one_line;

/// How far from a corner an arrow starts to turn.
const CORNER_MAX: f64 = 26.0;

/// The plan as an SVG document, for light and dark pages.
pub fn svg(plan: &Plan) -> String {
    let graph = graph(plan);
    let layout = layout(&graph);
    let mut out = String::new();
    head(&mut out, &graph, &layout);
    // Frames first and labels last: arrows run over frames and under their labels.
    for (node, placed) in graph.nodes.iter().zip(&layout.nodes).filter(|(node, _)| node.group) {
        frame(&mut out, node, placed.area);
    }
    for (edge, routed) in graph.edges.iter().zip(&layout.edges) {
        arrow(&mut out, edge, routed);
    }
    for (node, placed) in graph.nodes.iter().zip(&layout.nodes).filter(|(node, _)| !node.group) {
        step(&mut out, node, placed.area);
    }
    for (edge, routed) in graph.edges.iter().zip(&layout.edges) {
        label(&mut out, edge, routed);
    }
    out.push_str("</svg>\n");
    out
}

/// Appends a line. Writing to a string does not fail.
macro_rules! put {
    ($out:expr, $($arg:tt)*) => {{
        let _ = writeln!($out, $($arg)*);
    }};
}

fn head(out: &mut String, graph: &Graph, layout: &Layout) {
    let (width, height) = (layout.width, layout.height);
    let title = escape(&one_line(&graph.title, 80));
    put!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-labelledby=\"title\" \
         width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">"
    );
    put!(out, "<title id=\"title\">Workflow {title}</title>");
    if let Some(description) = &graph.description {
        put!(out, "<desc>{}</desc>", escape(&one_line(description, 400)));
    }
    put!(out, "<style>{}</style>", style::SHEET);
    put!(out, "{}", style::ARROW_HEADS);
    put!(out, "<rect class=\"page\" width=\"{width}\" height=\"{height}\"/>");
    put!(out, "<text class=\"heading\" x=\"20\" y=\"32\">{title}</text>");
}

fn frame(out: &mut String, node: &GraphNode, area: Area) {
    let Area { x, y, width, height } = area;
    put!(out, "<g class=\"frame{}\"><title>{}</title>", flags(node), escape(&tooltip(node)));
    put!(out, "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"12\"/>");
    let (x, y) = (tenth(x + 16.0), tenth(y + CAPTION_HEIGHT - 13.0));
    put!(out, "<text class=\"caption\" x=\"{x}\" y=\"{y}\">{}</text></g>", escape(&caption(node)));
}

fn step(out: &mut String, node: &GraphNode, area: Area) {
    let shape = shape(node);
    put!(out, "<g class=\"step {}{}\"><title>{}</title>", class(node, shape), flags(node), escape(&tooltip(node)));
    put!(out, "{}", outline::of(shape, area));
    let lines = lines(node);
    let centre = area.centre();
    // The baseline of the first line. It centres the whole block.
    let first = centre.y - LINE_HEIGHT * (lines.len() as f64 - 1.0) / 2.0 + 4.5;
    for (n, line) in lines.iter().enumerate() {
        let class = if n == 0 { "name" } else { "about" };
        let y = tenth(first + LINE_HEIGHT * n as f64);
        put!(out, "<text class=\"{class}\" x=\"{}\" y=\"{y}\">{}</text>", tenth(centre.x), escape(line));
    }
    put!(out, "</g>");
}

/// The class that colours a step. Only known kinds are named here.
fn class(node: &GraphNode, shape: Shape) -> &'static str {
    match (shape, node.kind.as_str()) {
        (Shape::Hexagon, _) => "gate",
        (_, "prompt") => "prompt",
        (_, "run" | "http" | "tool") => "run",
        (_, "decision") => "decision",
        (_, "end") => "end",
        (_, "workflow") => "workflow",
        _ => "other",
    }
}

fn flags(node: &GraphNode) -> &'static str {
    match (node.optional || node.skippable, node.start) {
        (true, true) => " optional start",
        (true, false) => " optional",
        (false, true) => " start",
        (false, false) => "",
    }
}

fn arrow(out: &mut String, edge: &Edge, routed: &Routed) {
    if routed.points.is_empty() {
        return;
    }
    let (class, head) = match edge.kind {
        EdgeKind::Dependency | EdgeKind::Next => ("forward", "head"),
        EdgeKind::Rewind => ("rewind", "back"),
        EdgeKind::Goto => ("goto", "back"),
    };
    put!(out, "<path class=\"arrow {class}\" marker-end=\"url(#{head})\" d=\"{}\"/>", path(&routed.points));
}

/// A line through the points with rounded corners, so that a label on a corner stays on it.
fn path(points: &[Point]) -> String {
    let mut d = String::new();
    if let [first, ..] = points {
        let _ = write!(d, "M{} {}", first.x, first.y);
    }
    for corner in points.windows(3) {
        let (before, bend, after) = (corner[0], corner[1], corner[2]);
        let (start, end) = (towards(bend, before), towards(bend, after));
        let _ = write!(d, "L{} {}Q{} {} {} {}", start.x, start.y, bend.x, bend.y, end.x, end.y);
    }
    if let [_, .., last] = points {
        let _ = write!(d, "L{} {}", last.x, last.y);
    }
    d
}

/// The point where the rounding of a corner starts or ends.
fn towards(bend: Point, other: Point) -> Point {
    let (dx, dy) = (other.x - bend.x, other.y - bend.y);
    let length = dx.hypot(dy);
    let share = if length > 0.0 { (CORNER_MAX / length).min(0.5) } else { 0.0 };
    Point { x: tenth(bend.x + dx * share), y: tenth(bend.y + dy * share) }
}

fn label(out: &mut String, edge: &Edge, routed: &Routed) {
    let (Some(text), Some(area)) = (&edge.label, routed.label) else { return };
    let Area { x, y, width, height } = area;
    put!(out, "<g class=\"label\"><title>{}</title>", escape(&one_line(text, 400)));
    put!(out, "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"4\"/>");
    let centre = area.centre();
    let text = escape(&one_line(text, LABEL_COLUMNS_MAX));
    put!(out, "<text x=\"{}\" y=\"{}\">{text}</text></g>", tenth(centre.x), tenth(centre.y + 4.0));
}

fn tenth(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

fn escape(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}
