//! One body: which way of arranging it suits its size, and what comes out of it.

use std::collections::HashMap;

use super::measure::{Size, label_size};
use super::{Area, Point, flow, rows};
use crate::face::LABEL_COLUMNS_MAX;
use crate::graph::{EdgeKind, Graph};
use crate::nest::{Nest, levels};
use crate::text::one_line;

/// Above this, dagre takes longer than anyone wants to wait. It counts the boxes of a body and, for
/// each arrow, the levels that it crosses, because each of these becomes a box inside dagre.
const FLOW_COST_MAX: usize = 500;
/// Above this many boxes in the whole picture, no body is given to dagre.
const FLOW_NODES_MAX: usize = 2_000;

/// A body to be arranged.
pub(super) struct Task<'a> {
    pub(super) graph: &'a Graph,
    pub(super) nest: &'a Nest,
    /// Of all nodes of the graph.
    pub(super) sizes: &'a [Size],
    /// The nodes of the body.
    pub(super) members: &'a [usize],
    /// The edges between them.
    pub(super) edges: &'a [usize],
}

/// An arranged body.
#[derive(Debug, Clone, Default)]
pub(super) struct Arrangement {
    pub(super) size: Size,
    /// Upper left corners of nodes.
    pub(super) corners: Vec<(usize, Point)>,
    pub(super) routes: Vec<Route>,
}

/// The way of one arrow.
#[derive(Debug, Clone)]
pub(super) struct Route {
    pub(super) edge: usize,
    pub(super) points: Vec<Point>,
    pub(super) label: Option<Area>,
}

/// An arrow between two members, by their positions among the members.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    pub(super) edge: usize,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) kind: EdgeKind,
}

impl Arrangement {
    /// Everything moves to the right and down.
    pub(super) fn shift(&mut self, x: f64, y: f64) {
        for (_, corner) in &mut self.corners {
            *corner = corner.moved(x, y);
        }
        for route in &mut self.routes {
            for point in &mut route.points {
                *point = point.moved(x, y);
            }
            if let Some(label) = &mut route.label {
                label.x += x;
                label.y += y;
            }
        }
    }
}

impl Task<'_> {
    /// The size of a member.
    pub(super) fn size(&self, member: usize) -> Size {
        self.sizes[self.members[member]]
    }

    /// The room for the label of an edge; nothing if it has none.
    pub(super) fn label(&self, edge: usize) -> Option<Size> {
        let label = self.graph.edges[edge].label.as_deref()?;
        Some(label_size(&one_line(label, LABEL_COLUMNS_MAX)))
    }

    fn links(&self) -> Vec<Link> {
        let local: HashMap<usize, usize> = self.members.iter().enumerate().map(|(n, at)| (*at, n)).collect();
        let link = |edge: &usize| {
            let (from, to) = self.nest.siblings(*edge)?;
            let kind = self.graph.edges[*edge].kind;
            Some(Link { edge: *edge, from: *local.get(&from)?, to: *local.get(&to)?, kind })
        };
        self.edges.iter().filter_map(link).collect()
    }

    /// The member that a state machine starts with.
    pub(super) fn start(&self) -> Option<usize> {
        self.members.iter().position(|at| self.graph.nodes[*at].start)
    }
}

/// Places for the members of a body, from `0, 0`.
pub(super) fn arrange(task: &Task<'_>) -> Arrangement {
    let links = task.links();
    let levels = match task.start() {
        Some(start) => steps_from(start, task.members.len(), &links),
        None => {
            let forward: Vec<_> = links.iter().filter(|link| link.kind.is_forward()).map(|l| (l.from, l.to)).collect();
            levels(task.members.len(), &forward)
        }
    };
    let crossed: usize = links.iter().map(|link| levels[link.from].abs_diff(levels[link.to])).sum();
    let count = task.members.len();
    if count == 0 {
        Arrangement::default()
    } else if count + crossed <= FLOW_COST_MAX && task.graph.nodes.len() <= FLOW_NODES_MAX {
        flow::arrange(task, &links)
    } else {
        rows::arrange(task, &links, &levels)
    }
}

/// How many arrows each member is away from the start; what cannot be reached comes last.
fn steps_from(start: usize, count: usize, links: &[Link]) -> Vec<usize> {
    let mut next = vec![Vec::new(); count];
    for link in links {
        next[link.from].push(link.to);
    }
    let mut level = vec![usize::MAX; count];
    level[start] = 0;
    let mut open = vec![start];
    let mut at = 0;
    while let Some(&from) = open.get(at) {
        at += 1;
        for &to in next[from].iter() {
            if level[to] == usize::MAX {
                level[to] = level[from] + 1;
                open.push(to);
            }
        }
    }
    let last = open.last().map_or(0, |at| level[*at] + 1);
    level.into_iter().map(|level| level.min(last)).collect()
}
