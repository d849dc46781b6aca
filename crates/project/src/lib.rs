//! The folder of a project: finds its workflows, personas and settings, and those built into the binary.
//!
//! Every interface needs this before it calls the engine.
//!
//! **Invariant:** it only reads, with two exceptions: it writes the list of trusted content and the state folder of a
//! project.

pub mod builtin;
pub mod cards;
pub mod disk;
mod identity;
pub mod library;
mod owner;
pub mod place;
mod project;
pub mod registry;
mod settings;
pub mod state;
pub mod trusted;

pub use disk::Disk;
pub use identity::{Unknown, identity};
pub use library::{Library, WorkflowEntry, WorkflowOrigin};
pub use owner::allow;
pub use project::Project;
pub use settings::{Fleet, Gates, Settings, not_an_agent};
