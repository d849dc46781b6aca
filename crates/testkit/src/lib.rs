//! For tests only: runs workflows without an engine, and serves a model for agents without a real one.
//!
//! [`World`] drives the planner in virtual time with a script of replies. [`sim`] makes workflows, outcomes, duplicates
//! and crashes from one number, and checks the invariants after every event. [`model_server`] is the endpoint that real
//! agents talk to in tests.
//!
//! **Invariant:** single-threaded, no clock, no randomness except the seed: the same input gives the same events. Only
//! [`model_server`] has threads and connections.

mod around;
mod chapter;
pub mod fleet;
mod invariants;
pub mod model_server;
mod replace;
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
