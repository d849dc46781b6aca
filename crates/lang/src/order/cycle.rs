//! Finds a cycle in a graph, for the message.

use std::collections::HashMap;

use longhaul_core::plan::StepIx;

use crate::model::{Body, Model};

/// The steps of one cycle, each depending on the next; `None` if there is none.
pub(crate) fn find_cycle(model: &Model<'_>, body: &Body<'_>) -> Option<Vec<StepIx>> {
    let mut state: HashMap<StepIx, State> = HashMap::new();
    body.steps.iter().find_map(|start| search(model, *start, &mut state))
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    OnPath,
    Done,
}

/// Depth first without recursion: a chain of steps can be long.
fn search(model: &Model<'_>, start: StepIx, state: &mut HashMap<StepIx, State>) -> Option<Vec<StepIx>> {
    if state.contains_key(&start) {
        return None;
    }
    let mut path: Vec<(StepIx, usize)> = vec![(start, 0)];
    state.insert(start, State::OnPath);
    while let Some((step, tried)) = path.last_mut() {
        let dep = model.step(*step).deps.get(*tried).map(|(dep, _)| *dep);
        *tried += 1;
        match dep {
            None => {
                state.insert(*step, State::Done);
                path.pop();
            }
            Some(dep) => match state.get(&dep) {
                Some(State::OnPath) => return Some(tail_from(&path, dep)),
                Some(State::Done) => {}
                None => {
                    state.insert(dep, State::OnPath);
                    path.push((dep, 0));
                }
            },
        }
    }
    None
}

fn tail_from(path: &[(StepIx, usize)], first: StepIx) -> Vec<StepIx> {
    path.iter().map(|(step, _)| *step).skip_while(|step| *step != first).collect()
}
