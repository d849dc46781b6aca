//! For tests only: runs of workflows without an engine.
//!
//! [`World`] drives the planner in virtual time by a script of replies; [`sim`] makes up workflows, outcomes,
//! duplicates and crashes from one number and looks after every event whether what must hold still does.
//!
//! **Invariant:** single-threaded, no clock, no randomness but the seed: the same input gives the same events.

mod around;
mod chapter;
mod invariants;
mod script;
mod show;
pub mod sim;
mod tree;
mod world;

pub use around::{Around, plan};
pub use chapter::{Chapter, rewritten};
pub use invariants::Witness;
pub use script::Script;
pub use show::line;
pub use tree::tree;
pub use world::World;
