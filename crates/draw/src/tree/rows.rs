//! The lines of one body: their order, brackets and dependencies.

use std::collections::HashMap;

use crate::graph::Graph;
use crate::nest::{Nest, levels};
use crate::text::columns;

/// Ids wider than this do not widen the column of the others.
const ID_COLUMNS_MAX: usize = 28;
/// Kinds wider than this do not widen the column of the others.
const KIND_COLUMNS_MAX: usize = 12;
/// The most dependencies that are named.
const AFTER_MAX: usize = 6;

/// One step, ready to be printed.
pub(super) struct Row {
    /// The index of the node in the drawing.
    pub(super) node: usize,
    /// The text before the connector, and before all lines below the step.
    pub(super) lead: String,
    /// The sign that connects the step with its siblings.
    pub(super) connector: &'static str,
    /// The text in place of the connector on the lines below.
    pub(super) rest: &'static str,
    /// The width of the column of ids.
    pub(super) id_columns: usize,
    /// The width of the column of kinds.
    pub(super) kind_columns: usize,
    /// The dependencies, if they are not obvious.
    pub(super) after: Option<String>,
}

/// The lines of the members of a group.
pub(super) fn rows(graph: &Graph, nest: &Nest, group: Option<usize>, lead: &str) -> Vec<Row> {
    let members = nest.inside(group);
    let id_columns = widest(members, ID_COLUMNS_MAX, |at| columns(&graph.nodes[at].id));
    let kind_columns = widest(members, KIND_COLUMNS_MAX, |at| columns(&graph.nodes[at].kind));
    let row = |node, (connector, rest), after| Row {
        node,
        lead: lead.to_owned(),
        connector,
        rest,
        id_columns,
        kind_columns,
        after,
    };
    if is_list(graph, members) {
        let last = members.len().saturating_sub(1);
        return members.iter().enumerate().map(|(n, node)| row(*node, list_connector(n == last), None)).collect();
    }
    let levels = by_level(graph, nest, members);
    let is_sequence = levels.iter().all(|level| level.len() == 1);
    let mut rows = Vec::with_capacity(members.len());
    for (depth, level) in levels.iter().enumerate() {
        let is_last = depth + 1 == levels.len();
        for (n, &node) in level.iter().enumerate() {
            let connector = match is_sequence {
                true => list_connector(is_last),
                false => level_connector(is_last, n, level.len()),
            };
            let above = depth.checked_sub(1).map(|above| levels[above].as_slice());
            rows.push(row(node, connector, after(graph, nest, node, above.unwrap_or_default())));
        }
    }
    rows
}

/// Whether the order is the written one: the nodes of a state machine, the branches of a choice.
fn is_list(graph: &Graph, members: &[usize]) -> bool {
    members.iter().any(|at| graph.nodes[*at].start || graph.nodes[*at].kind == "branch")
}

fn widest(members: &[usize], max: usize, width: impl Fn(usize) -> usize) -> usize {
    members.iter().map(|at| width(*at)).filter(|width| *width <= max).max().unwrap_or(0)
}

fn by_level(graph: &Graph, nest: &Nest, members: &[usize]) -> Vec<Vec<usize>> {
    let local: HashMap<usize, usize> = members.iter().enumerate().map(|(n, at)| (*at, n)).collect();
    let forward =
        members.iter().flat_map(|at| &nest.outgoing[*at]).filter(|edge| graph.edges[**edge].kind.is_forward());
    let links: Vec<(usize, usize)> = forward
        .filter_map(|edge| nest.ends[*edge])
        .filter_map(|(from, to)| Some((*local.get(&from)?, *local.get(&to)?)))
        .collect();
    let mut by_level = Vec::new();
    for (n, level) in levels(members.len(), &links).into_iter().enumerate() {
        if by_level.len() <= level {
            by_level.resize(level + 1, Vec::new());
        }
        by_level[level].push(members[n]);
    }
    by_level
}

/// The names of a step's dependencies, unless it depends on the only step of the level above.
fn after(graph: &Graph, nest: &Nest, node: usize, above: &[usize]) -> Option<String> {
    let forward = nest.incoming[node].iter().filter(|edge| graph.edges[**edge].kind.is_forward());
    let mut froms: Vec<usize> = forward.filter_map(|edge| nest.ends[*edge]).map(|(from, _)| from).collect();
    froms.dedup();
    if froms.is_empty() || (above.len() == 1 && froms == above) {
        return None;
    }
    let named: Vec<&str> = froms.iter().take(AFTER_MAX).map(|from| graph.nodes[*from].id.as_str()).collect();
    let more = froms.len() - named.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!("{}{more}", named.join(", ")))
}

fn list_connector(is_last: bool) -> (&'static str, &'static str) {
    if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") }
}

/// The connector of step `n` of `count` on a level.
fn level_connector(is_last: bool, n: usize, count: usize) -> (&'static str, &'static str) {
    match (is_last, n, n + 1 == count) {
        (false, 0, true) => ("├─── ", "│    "),
        (true, 0, true) => ("└─── ", "     "),
        (false, 0, false) => ("├─┬─ ", "│ │  "),
        (true, 0, false) => ("└─┬─ ", "  │  "),
        (false, _, false) => ("│ ├─ ", "│ │  "),
        (true, _, false) => ("  ├─ ", "  │  "),
        (false, _, true) => ("│ └─ ", "│    "),
        (true, _, true) => ("  └─ ", "     "),
    }
}
