//! The folder of a project: where its workflows, personas and settings are found, and what ships inside the binary.
//!
//! What every face needs before it asks the engine for anything.
//!
//! **Invariant:** only reads, but for what people have trusted and the folder in which the state of a project is kept.

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
pub use settings::{Fleet, Gates, Settings};
