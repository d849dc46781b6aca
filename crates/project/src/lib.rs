//! The folder of a project: where its workflows, personas and settings are found, and what ships inside the binary.
//!
//! What every face needs before it asks the engine for anything.
//!
//! **Invariant:** only reads, but for the list of what people have trusted.

pub mod builtin;
pub mod cards;
pub mod disk;
mod identity;
pub mod kept;
pub mod library;
pub mod place;
mod project;
mod settings;
pub mod trusted;

pub use disk::Disk;
pub use identity::{Unknown, identity};
pub use library::{Entry, Library, Origin};
pub use project::Project;
pub use settings::{Fleet, Gates, Settings};
