//! A body arranged by dagre.

use dagre::graph::{Graph, GraphOptions};
use dagre::layout::types::LabelPos;
use dagre::{EdgeLabel, LayoutOptions, NodeLabel};

use super::arrange::{Arrangement, Link, Route, Task};
use super::measure::Size;
use super::{Area, Point};
use crate::face::{Shape, shape};
use crate::graph::EdgeKind;

type Flow = Graph<NodeLabel, EdgeLabel>;

/// Levels from top to bottom, with few crossings.
pub(super) fn arrange(task: &Task<'_>, links: &[Link]) -> Arrangement {
    let mut flow = Flow::with_options(GraphOptions { directed: true, multigraph: true, compound: false });
    // Arrows that lead back are found from the first node on, so the start has to be it.
    let start = task.start();
    for member in start.into_iter().chain((0..task.members.len()).filter(|member| Some(*member) != start)) {
        let Size { width, height } = task.size(member);
        flow.set_node(member.to_string(), Some(NodeLabel { width, height, ..NodeLabel::default() }));
    }
    for link in links {
        let (from, to) = direction(link);
        flow.set_edge(from.to_string(), to.to_string(), Some(edge_label(task, link)), Some(&link.edge.to_string()));
    }
    let options = LayoutOptions { nodesep: 36.0, edgesep: 24.0, ranksep: 56.0, ..LayoutOptions::default() };
    dagre::layout(&mut flow, Some(options));
    read(task, links, &flow)
}

/// A way back that is known as such is given to dagre as the way there, so that it bends no levels.
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

/// Dagre takes every node for a rectangle; an arrow has to reach a rhombus further in.
fn touch_outlines(task: &Task<'_>, flow: &Flow, link: &Link, points: &mut [Point]) {
    let is_rhombus = |member: usize| {
        let node = &task.graph.nodes[task.members[member]];
        !node.group && shape(node) == Shape::Rhombus
    };
    if let [first, second, ..] = points
        && is_rhombus(link.from)
    {
        *first = on_rhombus(area(task, flow, link.from), *second);
    }
    if let [.., before, last] = points
        && is_rhombus(link.to)
    {
        *last = on_rhombus(area(task, flow, link.to), *before);
    }
}

fn on_rhombus(area: Area, towards: Point) -> Point {
    let centre = area.centre();
    let (dx, dy) = (towards.x - centre.x, towards.y - centre.y);
    let reach = dx.abs() / (area.width / 2.0) + dy.abs() / (area.height / 2.0);
    if reach > 0.0 { Point { x: centre.x + dx / reach, y: centre.y + dy / reach } } else { centre }
}

/// Dagre's frame leaves out the bends of arrows; ours takes them in and starts at `0, 0`.
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
