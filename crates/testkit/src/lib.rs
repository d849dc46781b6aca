//! For tests only: runs of workflows without an engine, and a model for agents without one.
//!
//! [`World`] drives the planner in virtual time by a script of replies; [`sim`] makes up workflows, outcomes,
//! duplicates and crashes from one number and looks after every event whether what must hold still does.
//! [`model_server`] is what real agents talk to in tests.
//!
//! **Invariant:** single-threaded, no clock, no randomness but the seed: the same input gives the same events. Only
//! [`model_server`] has threads and connections.

mod around;
mod chapter;
pub mod fleet;
mod invariants;
pub mod model_server;
mod script;
mod show;
pub mod sim;
mod tree;
mod whole;
mod world;

pub use around::{Around, plan};
pub use chapter::{Chapter, rewritten};
pub use invariants::Witness;
pub use script::OutsideScript;
pub use show::line;
pub use tree::tree;
pub use world::VirtualWorld;
