//! The folder of a project: where its workflows, personas and settings are found, and what ships inside the binary.
//!
//! What every face needs before it asks the engine for anything.
//!
//! **Invariant:** only reads, but for the list of what people have trusted.

pub mod builtin;
pub mod disk;
pub mod library;
mod project;
mod settings;
pub mod shelf;
pub mod trusted;

pub use disk::Disk;
pub use library::{Entry, Library, Origin};
pub use project::Project;
pub use settings::{Gates, Settings};
