//! Kills the engine at every write of every workflow in `tests/crash`, and at random moments.
//!
//! **Invariant:** whatever the moment, continuing leads to the same end; what was recorded as done is not done
//! again; nothing that the dead engine had started is left.

#![cfg(test)]

mod agents;
mod appends;
#[path = "../binary/mod.rs"]
mod binary;
mod failure;
mod restore;
mod strays;
#[expect(dead_code, reason = "runs that are kept elsewhere are tried with databases")]
mod trial;
mod workers;
mod writes;
