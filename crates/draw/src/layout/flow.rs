//! Arranges a body with dagre.

use dagre::graph::{Graph, GraphOptions};
use dagre::layout::types::LabelPos;
use dagre::{EdgeLabel, LayoutOptions, NodeLabel, RankAlign};

use super::arrange::{Arrangement, Link, Route, Task};
use super::measure::Size;
use super::{Area, Point};
use crate::graph::{EdgeKind, GraphNode};
use crate::label::{HEXAGON_POINT, Shape, shape};

/// The part of a corner that no arrow touches.
const CORNER: f64 = 10.0;
/// How far the arrows of a node move apart at its outline.
const SPREAD: f64 = 0.3;

type Flow = Graph<NodeLabel, EdgeLabel>;

/// Levels from top to bottom, with few crossings.
pub(super) fn arrange(task: &Task<'_>, links: &[Link]) -> Arrangement {
    let mut flow = Flow::with_options(GraphOptions { directed: true, multigraph: true, compound: false });
    for member in 0..task.members.len() {
        let Size { width, height } = task.size(member);
        flow.set_node(member.to_string(), Some(NodeLabel { width, height, ..NodeLabel::default() }));
    }
    for link in links {
        let (from, to) = direction(link);
        flow.set_edge(from.to_string(), to.to_string(), Some(edge_label(task, link)), Some(&link.edge.to_string()));
    }
    // Branches without arrows between them are aligned at the top, so that their captions are in one row.
    let rank_align = if links.is_empty() { RankAlign::Top } else { RankAlign::Center };
    let options = LayoutOptions {
        nodesep: 36.0,
        edgesep: 24.0,
        ranksep: 56.0,
        rank_align,
        tie_keep_first: true,
        ..LayoutOptions::default()
    };
    dagre::layout(&mut flow, Some(options));
    read(task, links, &flow)
}

/// A known way back is given to dagre in reverse, so that it does not change the levels.
fn direction(link: &Link) -> (usize, usize) {
    if link.kind == EdgeKind::Rewind { (link.to, link.from) } else { (link.from, link.to) }
}

fn edge_label(task: &Task<'_>, link: &Link) -> EdgeLabel {
    let Size { width, height } = task.label(link.edge).unwrap_or_default();
    let weight = if link.kind.is_forward() { 2 } else { 1 };
    EdgeLabel { width, height, weight, labelpos: LabelPos::Center, ..EdgeLabel::default() }
}

fn read(task: &Task<'_>, links: &[Link], flow: &Flow) -> Arrangement {
    let mut arrangement = Arrangement::default();
    for (member, at) in task.members.iter().enumerate() {
        let area = area(task, flow, member);
        arrangement.corners.push((*at, Point { x: area.x, y: area.y }));
    }
    arrangement.routes = links.iter().filter_map(|link| route(task, flow, link)).collect();
    fit(task, &mut arrangement);
    arrangement
}

fn area(task: &Task<'_>, flow: &Flow, member: usize) -> Area {
    let Size { width, height } = task.size(member);
    let centre = flow.node(&member.to_string()).map(|node| (node.x.unwrap_or(0.0), node.y.unwrap_or(0.0)));
    let (x, y) = centre.unwrap_or_default();
    Area { x: x - width / 2.0, y: y - height / 2.0, width, height }
}

fn route(task: &Task<'_>, flow: &Flow, link: &Link) -> Option<Route> {
    let (from, to) = direction(link);
    let label = flow.edge(&from.to_string(), &to.to_string(), Some(&link.edge.to_string()))?;
    let mut points: Vec<Point> = label.points.iter().map(|point| Point { x: point.x, y: point.y }).collect();
    if link.kind == EdgeKind::Rewind {
        points.reverse();
    }
    touch_outlines(task, flow, link, &mut points);
    let size = task.label(link.edge);
    let label = size.zip(label.x.zip(label.y)).map(|(Size { width, height }, (x, y))| Area {
        x: x - width / 2.0,
        y: y - height / 2.0,
        width,
        height,
    });
    Some(Route { edge: link.edge, points, label })
}

/// Moves the ends of an arrow to the flat top or bottom of its nodes.
///
/// Dagre lets an arrow leave a node in any direction. An arrow through the side can cut the corner of the next node.
/// Dagre also treats every node as a rectangle.
fn touch_outlines(task: &Task<'_>, flow: &Flow, link: &Link, points: &mut [Point]) {
    let edge_of = |member: usize, towards: Point| {
        let area = area(task, flow, member);
        flat_edge(area, margin(&task.graph.nodes[task.members[member]], area), towards)
    };
    // An arrow from a node to itself stays at the side, where dagre made room for it.
    if link.from == link.to {
        return;
    }
    if let [first, second, ..] = points {
        *first = edge_of(link.from, *second).unwrap_or(*first);
    }
    if let [.., before, last] = points {
        *last = edge_of(link.to, *before).unwrap_or(*last);
    }
}

/// The width of the part of the top and bottom that is not flat, on each side.
fn margin(node: &GraphNode, area: Area) -> f64 {
    match shape(node) {
        _ if node.group => CORNER,
        Shape::Rhombus => area.width / 2.0,
        Shape::Hexagon => HEXAGON_POINT,
        Shape::Stadium => area.height / 2.0,
        Shape::Rounded | Shape::Square | Shape::Double => CORNER,
    }
}

/// A point on the top or bottom, moved from the middle towards a point above or below.
fn flat_edge(area: Area, margin: f64, towards: Point) -> Option<Point> {
    let centre = area.centre();
    let room = (area.width / 2.0 - margin).max(0.0);
    let x = centre.x + ((towards.x - centre.x) * SPREAD).clamp(-room, room);
    let (top, bottom) = (area.y, area.y + area.height);
    let y = if towards.y >= bottom { Some(bottom) } else { (towards.y <= top).then_some(top) };
    y.map(|y| Point { x, y })
}

/// Dagre's frame ignores the bends of arrows. This frame includes them and starts at `0, 0`.
fn fit(task: &Task<'_>, arrangement: &mut Arrangement) {
    let mut areas: Vec<Area> = Vec::new();
    for (at, corner) in &arrangement.corners {
        let Size { width, height } = task.sizes[*at];
        areas.push(Area { x: corner.x, y: corner.y, width, height });
    }
    for route in &arrangement.routes {
        areas.extend(route.label);
        areas.extend(route.points.iter().map(|point| Area { x: point.x, y: point.y, ..Area::default() }));
    }
    let fold = |pick: fn(&Area) -> f64, with: fn(f64, f64) -> f64, from: f64| areas.iter().map(pick).fold(from, with);
    let left = fold(|area| area.x, f64::min, f64::INFINITY);
    let top = fold(|area| area.y, f64::min, f64::INFINITY);
    let right = fold(|area| area.x + area.width, f64::max, f64::NEG_INFINITY);
    let bottom = fold(|area| area.y + area.height, f64::max, f64::NEG_INFINITY);
    arrangement.shift(-left, -top);
    arrangement.size = Size { width: right - left, height: bottom - top };
}
