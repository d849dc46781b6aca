//! Indexes a drawing by position: the members of groups, and the arrows of nodes.

use std::collections::HashMap;

use crate::graph::Graph;

/// Indices into [`Graph::nodes`] and [`Graph::edges`], computed once.
pub(crate) struct Nest {
    /// The group of each node.
    pub(crate) parent: Vec<Option<usize>>,
    /// The members of each group, as written.
    pub(crate) children: Vec<Vec<usize>>,
    /// The steps of the workflow itself.
    pub(crate) roots: Vec<usize>,
    /// The sub-workflows.
    pub(crate) units: Vec<usize>,
    /// The start and end of each edge; `None` if a node is not in the drawing.
    pub(crate) ends: Vec<Option<(usize, usize)>>,
    /// The edges that start at each node.
    pub(crate) outgoing: Vec<Vec<usize>>,
    /// The edges that end at each node.
    pub(crate) incoming: Vec<Vec<usize>>,
    depth: Vec<usize>,
}

impl Nest {
    /// Computes the index.
    pub(crate) fn of(graph: &Graph) -> Self {
        let positions: HashMap<&str, usize> =
            graph.nodes.iter().enumerate().map(|(at, node)| (node.key.as_str(), at)).collect();
        let empty = || vec![Vec::new(); graph.nodes.len()];
        let mut nest = Self {
            parent: Vec::with_capacity(graph.nodes.len()),
            children: empty(),
            roots: Vec::new(),
            units: Vec::new(),
            ends: Vec::with_capacity(graph.edges.len()),
            outgoing: empty(),
            incoming: empty(),
            depth: Vec::with_capacity(graph.nodes.len()),
        };
        nest.place_nodes(graph, &positions);
        nest.place_edges(graph, &positions);
        nest
    }

    /// The two members of one group that an edge connects when all inner groups are closed.
    pub(crate) fn siblings(&self, edge: usize) -> Option<(usize, usize)> {
        let (mut from, mut to) = (*self.ends.get(edge)?)?;
        while self.parent[from] != self.parent[to] {
            if self.depth[from] >= self.depth[to] {
                from = self.parent[from]?;
            } else {
                to = self.parent[to]?;
            }
        }
        Some((from, to))
    }

    /// The nodes in one group: `None` for the workflow itself.
    pub(crate) fn inside(&self, group: Option<usize>) -> &[usize] {
        group.map_or(&self.roots, |group| &self.children[group])
    }

    fn place_nodes(&mut self, graph: &Graph, positions: &HashMap<&str, usize>) {
        for (at, node) in graph.nodes.iter().enumerate() {
            // A group comes before its members; anything else would be a cycle.
            let parent =
                node.parent.as_deref().and_then(|key| positions.get(key).copied()).filter(|parent| *parent < at);
            self.parent.push(parent);
            self.depth.push(parent.map_or(0, |parent| self.depth[parent] + 1));
            match parent {
                Some(parent) => self.children[parent].push(at),
                None if node.kind == "unit" => self.units.push(at),
                None => self.roots.push(at),
            }
        }
    }

    fn place_edges(&mut self, graph: &Graph, positions: &HashMap<&str, usize>) {
        for (at, edge) in graph.edges.iter().enumerate() {
            let position = |key: &str| positions.get(key).copied();
            let ends = position(&edge.from).zip(position(&edge.to));
            self.ends.push(ends);
            if let Some((from, to)) = ends {
                self.outgoing[from].push(at);
                self.incoming[to].push(at);
            }
        }
    }
}

/// The level of each of `count` nodes: one more than the highest level that leads to it.
///
/// Nodes on a cycle come after everything else, one by one.
pub(crate) fn levels(count: usize, links: &[(usize, usize)]) -> Vec<usize> {
    let mut next = vec![Vec::new(); count];
    let mut waiting = vec![0_usize; count];
    for &(from, to) in links.iter().filter(|(from, to)| from != to) {
        next[from].push(to);
        waiting[to] += 1;
    }
    let mut level = vec![0; count];
    let mut ready: Vec<usize> = (0..count).filter(|at| waiting[*at] == 0).collect();
    let mut at = 0;
    while let Some(&from) = ready.get(at) {
        at += 1;
        for &to in &next[from] {
            level[to] = level[to].max(level[from] + 1);
            waiting[to] -= 1;
            if waiting[to] == 0 {
                ready.push(to);
            }
        }
    }
    let last = ready.iter().map(|at| level[*at] + 1).max().unwrap_or(0);
    let stuck = (0..count).filter(|at| waiting[*at] > 0);
    for (below, at) in (last..).zip(stuck) {
        level[at] = below;
    }
    level
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_join_stands_below_its_deepest_dependency() {
        assert_eq!(levels(4, &[(0, 1), (1, 3), (2, 3)]), [0, 1, 0, 2]);
    }

    #[test]
    fn a_circle_comes_last_instead_of_never() {
        assert_eq!(levels(3, &[(1, 2), (2, 1)]), [0, 1, 2]);
    }
}
