//! Kills the engine at every write of every workflow in `tests/crash`, and at random moments.
//!
//! **Invariant:** whenever the crash happens, the run continues to the same end; work that was recorded as done is not
//! done again; no process of the dead engine is left.

pub(crate) mod agents;
mod appends;
mod failure;
mod restore;
mod strays;
pub(crate) mod trial;
mod workers;
mod writes;
