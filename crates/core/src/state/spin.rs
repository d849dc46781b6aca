//! Loops in which nothing is done: two nodes that only lead to each other decide for ever, and never wait.
//!
//! **Invariant:** what goes round without work is counted in its body and in all around it; work that is done inside a body starts its
//! count again. So work in one branch hides no idle loop in another.

use super::apply::Apply;
use super::{BodyNo, StepNo};
use crate::path::StepPath;

/// So often may something be begun again without anything being done in between.
pub(crate) const IDLE_ROUNDS_MAX: u32 = 5000;

impl Apply<'_> {
    /// A step was reached once more, or a round was begun.
    pub(super) fn again(&mut self, body: BodyNo, path: &StepPath) {
        let mut most = 0;
        self.outwards(body, |rounds| {
            *rounds += 1;
            most = most.max(*rounds);
        });
        if most > IDLE_ROUNDS_MAX {
            self.state.spinning.get_or_insert_with(|| path.clone());
        }
    }

    /// Something was done, or waited for.
    pub(super) fn worked(&mut self, at: StepNo) {
        self.outwards(self.state.step(at).body, |rounds| *rounds = 0);
    }

    /// A restarted run may try once more.
    pub(super) fn stop_spinning(&mut self) {
        self.state.spinning = None;
        self.state.bodies.iter_mut().for_each(|body| body.idle_rounds = 0);
    }

    /// A body and all that it is in.
    fn outwards(&mut self, body: BodyNo, mut each: impl FnMut(&mut u32)) {
        let mut next = Some(body);
        while let Some(body) = next {
            let inst = self.state.body_mut(body);
            each(&mut inst.idle_rounds);
            next = inst.owner.map(|owner| self.state.step(owner).body);
        }
    }
}
