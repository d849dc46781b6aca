//! Continuing a run with a changed workflow: what is the same, what is not, and what follows from that.
//!
//! A step is recognised by its path of ids. What it means is everything that its result depends on: the kind, the parameters, the
//! agent, the environment, the schema. What it was given is everything that it had read. A result is kept if both are the same, and
//! if the step does not come after something that runs again.
//!
//! **Invariant:** the comparison that a person sees comes from the same decisions that the run then makes.

mod compare;
mod matching;
mod meaning;
mod report;
mod seen;

pub use compare::{Choices, Replacement, carried, compare, inputs, rejection};
pub(crate) use meaning::hash_of;
pub use report::{ComparedStep, Comparison, Fate, StepChange};
pub use seen::Seen;
