//! Places the nodes and arrows of a drawing.
//!
//! Arrows join only steps of one body. So each body is arranged by itself, inside out, and becomes a single box in
//! the body around it. Small bodies are arranged by dagre, large ones in plain rows: a picture of a thousand steps
//! must appear at once, and people scroll through it.
//!
//! **Invariant:** the lists of a layout are parallel to those of its graph. Coordinates are those of SVG (to the
//! right and down). They are rounded, so that they do not depend on the machine.

mod arrange;
mod flow;
mod measure;
mod rows;

use schemars::JsonSchema;
use serde::Serialize;

use crate::graph::Graph;
use crate::label::caption;
use crate::nest::Nest;
use arrange::{Arrangement, Task, arrange};
use measure::{Size, box_size, caption_width};

pub(crate) use measure::{CAPTION_HEIGHT, LINE_HEIGHT, TITLE_HEIGHT};

/// The space inside a frame, and around the picture.
const PAD: f64 = 20.0;
/// The space between the workflow and the sub-workflows beside it.
const UNIT_GAP: f64 = 60.0;

/// The places of everything in a drawing.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Layout {
    /// The width of the whole picture.
    pub width: f64,
    /// The height of the whole picture.
    pub height: f64,
    /// The nodes, in the order of [`Graph::nodes`].
    pub nodes: Vec<Placed>,
    /// The arrows, in the order of [`Graph::edges`].
    pub edges: Vec<Routed>,
}

/// A node and its place.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Placed {
    /// The key of the node.
    pub key: String,
    /// The rectangle of the node.
    #[serde(flatten)]
    pub area: Area,
}

/// A rectangle, from its upper left corner.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, JsonSchema)]
pub struct Area {
    /// The left side.
    pub x: f64,
    /// The upper side.
    pub y: f64,
    /// The width.
    pub width: f64,
    /// The height.
    pub height: f64,
}

/// An arrow and its line; no points if an end is not in the drawing.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Routed {
    /// The key of the node it starts at.
    pub from: String,
    /// The key of the node it points to.
    pub to: String,
    /// The line, from the outline of the first node to that of the second.
    pub points: Vec<Point>,
    /// The rectangle of its label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<Area>,
}

/// A point.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Point {
    /// The distance to the right.
    pub x: f64,
    /// The distance down.
    pub y: f64,
}

/// The places of everything in a drawing.
pub fn layout(graph: &Graph) -> Layout {
    let nest = Nest::of(graph);
    let mut sketch = Sketch::of(graph, &nest);
    sketch.measure();
    sketch.place()
}

/// An unfinished layout.
struct Sketch<'a> {
    graph: &'a Graph,
    nest: &'a Nest,
    /// The sizes of all nodes, groups included.
    sizes: Vec<Size>,
    /// The arrangement in each group, from the group's own corner.
    inside: Vec<Arrangement>,
    /// The edges to draw in each group.
    edges: Vec<Vec<usize>>,
    root_edges: Vec<usize>,
}

impl<'a> Sketch<'a> {
    fn of(graph: &'a Graph, nest: &'a Nest) -> Self {
        let mut edges = vec![Vec::new(); graph.nodes.len()];
        let mut root_edges = Vec::new();
        for edge in 0..graph.edges.len() {
            match nest.siblings(edge).map(|(from, _)| nest.parent[from]) {
                Some(Some(group)) => edges[group].push(edge),
                Some(None) => root_edges.push(edge),
                None => {}
            }
        }
        let sizes = graph.nodes.iter().map(box_size).collect();
        Self { graph, nest, sizes, inside: vec![Arrangement::default(); graph.nodes.len()], edges, root_edges }
    }

    /// Groups come before their members, so the reverse order is inside out.
    fn measure(&mut self) {
        for at in (0..self.graph.nodes.len()).rev().filter(|at| self.graph.nodes[*at].group) {
            let mut inside = self.arranged(&self.nest.children[at], &self.edges[at]);
            let width = inside.size.width.max(caption_width(&caption(&self.graph.nodes[at])));
            inside.shift(PAD + (width - inside.size.width) / 2.0, CAPTION_HEIGHT);
            self.sizes[at] =
                Size { width: width + 2.0 * PAD, height: inside.size.height.max(PAD) + CAPTION_HEIGHT + PAD };
            self.inside[at] = inside;
        }
    }

    fn arranged(&self, members: &[usize], edges: &[usize]) -> Arrangement {
        arrange(&Task { graph: self.graph, nest: self.nest, sizes: &self.sizes, members, edges })
    }

    fn place(&self) -> Layout {
        let mut main = self.arranged(&self.nest.roots, &self.root_edges);
        main.shift(PAD, PAD + TITLE_HEIGHT);
        let mut paper = Paper::of(self.graph, &self.sizes);
        paper.put(&main, Point { x: 0.0, y: 0.0 });
        let mut y = PAD + TITLE_HEIGHT;
        let left = if main.size.width > 0.0 { PAD + main.size.width + UNIT_GAP } else { PAD };
        for &unit in &self.nest.units {
            paper.corners[unit] = Point { x: left, y };
            y += self.sizes[unit].height + PAD;
        }
        for at in 0..self.graph.nodes.len() {
            let corner = paper.corners[at];
            paper.put(&self.inside[at], corner);
        }
        paper.finish(caption_width(&crate::text::one_line(&self.graph.title, 80)) * 1.4 + 2.0 * PAD)
    }
}

/// The places on the whole picture.
struct Paper<'a> {
    graph: &'a Graph,
    sizes: &'a [Size],
    corners: Vec<Point>,
    routes: Vec<(Vec<Point>, Option<Area>)>,
}

impl<'a> Paper<'a> {
    fn of(graph: &'a Graph, sizes: &'a [Size]) -> Self {
        let corners = vec![Point { x: PAD, y: PAD }; graph.nodes.len()];
        Self { graph, sizes, corners, routes: vec![(Vec::new(), None); graph.edges.len()] }
    }

    fn put(&mut self, arrangement: &Arrangement, corner: Point) {
        for (at, place) in &arrangement.corners {
            self.corners[*at] = place.moved(corner.x, corner.y);
        }
        for route in &arrangement.routes {
            let points = route.points.iter().map(|point| point.moved(corner.x, corner.y)).collect();
            let label = route.label.map(|area| Area { x: area.x + corner.x, y: area.y + corner.y, ..area });
            self.routes[route.edge] = (points, label);
        }
    }

    fn finish(self, width_min: f64) -> Layout {
        let nodes: Vec<Placed> =
            self.graph.nodes.iter().enumerate().map(|(at, node)| self.placed(at, &node.key)).collect();
        let routes = self.graph.edges.iter().zip(self.routes);
        let edges: Vec<Routed> = routes
            .map(|(edge, (points, label))| Routed {
                from: edge.from.clone(),
                to: edge.to.clone(),
                points: points.into_iter().map(Point::rounded).collect(),
                label: label.map(Area::rounded),
            })
            .collect();
        let areas = nodes.iter().map(|node| node.area).chain(edges.iter().filter_map(|edge| edge.label));
        let mut far = Point { x: width_min - PAD, y: TITLE_HEIGHT + PAD };
        for corner in areas.map(Area::far_corner).chain(edges.iter().flat_map(|edge| edge.points.iter().copied())) {
            far = Point { x: far.x.max(corner.x), y: far.y.max(corner.y) };
        }
        Layout { width: (far.x + PAD).ceil(), height: (far.y + PAD).ceil(), nodes, edges }
    }

    fn placed(&self, at: usize, key: &str) -> Placed {
        let (corner, size) = (self.corners[at], self.sizes[at]);
        let area = Area { x: corner.x, y: corner.y, width: size.width, height: size.height };
        Placed { key: key.to_owned(), area: area.rounded() }
    }
}

impl Area {
    /// The centre.
    pub(crate) fn centre(self) -> Point {
        Point { x: self.x + self.width / 2.0, y: self.y + self.height / 2.0 }
    }

    fn far_corner(self) -> Point {
        Point { x: self.x + self.width, y: self.y + self.height }
    }

    fn rounded(self) -> Self {
        Self { x: round(self.x), y: round(self.y), width: round(self.width), height: round(self.height) }
    }
}

impl Point {
    fn moved(self, x: f64, y: f64) -> Self {
        Self { x: self.x + x, y: self.y + y }
    }

    fn rounded(self) -> Self {
        Self { x: round(self.x), y: round(self.y) }
    }
}

/// Rounds to a tenth. The addition turns a negative zero into a plain one.
fn round(value: f64) -> f64 {
    (value * 10.0).round() / 10.0 + 0.0
}
