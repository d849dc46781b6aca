//! Dominators of a state machine: the nodes through which every way to a node leads.
//!
//! The simple iterative algorithm over reverse post-order; the tree is numbered so that a question
//! costs two comparisons.

/// The dominator tree, numbered.
pub(super) struct Dominators {
    enter: Vec<u32>,
    leave: Vec<u32>,
}

const NONE: usize = usize::MAX;

impl Dominators {
    pub(super) fn of(edges: &[Vec<usize>], start: usize) -> Self {
        let order = reverse_post_order(edges, start);
        let parents = immediate(edges, &order, start);
        number(&parents, &order, start)
    }

    /// Whether every way from the start to `node` leads through `dominator`.
    pub(super) fn dominates(&self, dominator: usize, node: usize) -> bool {
        self.enter[dominator] <= self.enter[node]
            && self.leave[node] <= self.leave[dominator]
            && self.enter[node] != u32::MAX
    }
}

fn reverse_post_order(edges: &[Vec<usize>], start: usize) -> Vec<usize> {
    let mut seen = vec![false; edges.len()];
    let mut order = Vec::new();
    let mut path = vec![(start, 0)];
    seen[start] = true;
    while let Some((node, tried)) = path.last_mut() {
        match edges[*node].get(*tried) {
            Some(next) => {
                *tried += 1;
                if !std::mem::replace(&mut seen[*next], true) {
                    path.push((*next, 0));
                }
            }
            None => {
                order.push(*node);
                path.pop();
            }
        }
    }
    order.reverse();
    order
}

fn immediate(edges: &[Vec<usize>], order: &[usize], start: usize) -> Vec<usize> {
    let mut rank = vec![NONE; edges.len()];
    for (at, node) in order.iter().enumerate() {
        rank[*node] = at;
    }
    let mut sources: Vec<Vec<usize>> = vec![Vec::new(); edges.len()];
    for node in order {
        for target in &edges[*node] {
            sources[*target].push(*node);
        }
    }
    let mut parent = vec![NONE; edges.len()];
    parent[start] = start;
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for node in order.iter().filter(|node| **node != start) {
            let known = sources[*node].iter().copied().filter(|source| parent[*source] != NONE);
            let best = known.reduce(|a, b| meet(&parent, &rank, a, b)).unwrap_or(NONE);
            if parent[*node] != best {
                parent[*node] = best;
                changed = true;
            }
        }
    }
    parent
}

/// The nearest node that dominates both.
fn meet(parent: &[usize], rank: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        if rank[a] > rank[b] {
            a = parent[a];
        } else {
            b = parent[b];
        }
    }
    a
}

fn number(parent: &[usize], order: &[usize], start: usize) -> Dominators {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); parent.len()];
    for node in order.iter().filter(|node| **node != start && parent[**node] != NONE) {
        children[parent[*node]].push(*node);
    }
    let (mut enter, mut leave) = (vec![u32::MAX; parent.len()], vec![u32::MAX; parent.len()]);
    let mut clock = 0;
    let mut path = vec![(start, 0)];
    enter[start] = 0;
    while let Some((node, tried)) = path.last_mut() {
        match children[*node].get(*tried) {
            Some(child) => {
                *tried += 1;
                clock += 1;
                enter[*child] = clock;
                path.push((*child, 0));
            }
            None => {
                clock += 1;
                leave[*node] = clock;
                path.pop();
            }
        }
    }
    Dominators { enter, leave }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_dominated_by_what_every_way_passes() {
        // 0 → 1 → {2, 3} → 4 → 1, 5 is never reached
        let edges = vec![vec![1], vec![2, 3], vec![4], vec![4], vec![1], vec![4]];
        let dominators = Dominators::of(&edges, 0);
        assert!(dominators.dominates(1, 4) && dominators.dominates(0, 2) && dominators.dominates(4, 4));
        assert!(!dominators.dominates(2, 4) && !dominators.dominates(4, 1) && !dominators.dominates(1, 5));
    }
}
