//! Ancestors in a graph, and the choices on which a step depends.

use longhaul_core::plan::StepIx;

use crate::model::{Body, Model};

/// For each step of a graph, all steps before it.
pub(super) struct Ancestors {
    rows: Vec<Box<[u64]>>,
    choices: Vec<Vec<u32>>,
}

impl Ancestors {
    /// `None` if the graph has a cycle.
    pub(super) fn of(model: &Model<'_>, body: &Body<'_>, position: &[u32]) -> Option<Self> {
        let order = topological(model, body, position)?;
        let words = body.steps.len().div_ceil(64);
        let mut rows: Vec<Box<[u64]>> = vec![Box::default(); body.steps.len()];
        let mut choices: Vec<Vec<u32>> = vec![Vec::new(); body.steps.len()];
        for at in order {
            let step = model.step(body.steps[at]);
            let deps: Vec<usize> = step.deps.iter().map(|(dep, _)| position[dep.at()] as usize).collect();
            if !deps.is_empty() {
                rows[at] = union(&rows, &deps, words);
            }
            choices[at] = choices_of(model, body.steps[at], &deps, &choices, position);
        }
        Some(Self { rows, choices })
    }

    pub(super) fn has(&self, step: usize, ancestor: usize) -> bool {
        self.rows[step].get(ancestor / 64).is_some_and(|word| word >> (ancestor % 64) & 1 == 1)
    }

    /// The conditional targets without which the step does not run.
    pub(super) fn choices(&self, step: usize) -> &[u32] {
        &self.choices[step]
    }
}

fn union(rows: &[Box<[u64]>], deps: &[usize], words: usize) -> Box<[u64]> {
    let mut row = vec![0u64; words].into_boxed_slice();
    for dep in deps {
        row[dep / 64] |= 1 << (dep % 64);
        for (mine, theirs) in row.iter_mut().zip(rows[*dep].iter()) {
            *mine |= theirs;
        }
    }
    row
}

/// The choices that all dependencies share, and the step itself if a choice can leave it out.
fn choices_of(model: &Model<'_>, step: StepIx, deps: &[usize], known: &[Vec<u32>], position: &[u32]) -> Vec<u32> {
    let mut shared = match deps {
        [] => Vec::new(),
        [first, rest @ ..] => {
            let everywhere = |choice: &&u32| rest.iter().all(|dep| known[*dep].contains(choice));
            known[*first].iter().filter(everywhere).copied().collect()
        }
    };
    let is_target = model.step(step).deps.iter().any(|(dep, _)| {
        let dep = model.step(*dep);
        model.is_conditional(dep) && dep.next.iter().any(|route| route.to == step)
    });
    let skippable = |dep: &StepIx| model.step(*dep).node.get("on_deny").and_then(|node| node.as_text()) == Some("skip");
    if is_target {
        shared.push(position[step.at()]);
    }
    shared.extend(
        model.step(step).deps.iter().map(|(dep, _)| dep).filter(|dep| skippable(dep)).map(|dep| position[dep.at()]),
    );
    shared
}

/// The positions in topological order; `None` if there is a cycle.
pub(super) fn topological(model: &Model<'_>, body: &Body<'_>, position: &[u32]) -> Option<Vec<usize>> {
    let mut waiting: Vec<usize> = body.steps.iter().map(|step| model.step(*step).deps.len()).collect();
    let mut dependents: Vec<Vec<usize>> = vec![Vec::new(); body.steps.len()];
    for (at, step) in body.steps.iter().enumerate() {
        for (dep, _) in &model.step(*step).deps {
            dependents[position[dep.at()] as usize].push(at);
        }
    }
    let mut ready: Vec<usize> = (0..waiting.len()).filter(|at| waiting[*at] == 0).collect();
    let mut order = Vec::with_capacity(waiting.len());
    while let Some(at) = ready.pop() {
        order.push(at);
        for dependent in &dependents[at] {
            waiting[*dependent] -= 1;
            if waiting[*dependent] == 0 {
                ready.push(*dependent);
            }
        }
    }
    (order.len() == waiting.len()).then_some(order)
}
