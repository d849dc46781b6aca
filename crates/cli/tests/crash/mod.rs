//! Kills the engine at every write of every workflow in `tests/crash`, and at random moments.
//!
//! **Invariant:** whatever the moment, continuing leads to the same end; what was recorded as done is not done
//! again; nothing that the dead engine had started is left.

mod agents;
mod appends;
mod failure;
mod restore;
mod strays;
pub(crate) mod trial;
mod workers;
mod writes;
