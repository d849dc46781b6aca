//! From workflow text to a checked plan.
//!
//! ```text
//! text ─source─▶ Node tree ─dialect─▶ native Node tree ─conform─▶ ─model─▶ ─check─▶ diagnostics
//!                                                                     └────lower─▶ Plan
//! ```
//!
//! A dialect is a rewriting of the tree: whatever another system's file says is said again in native
//! keys, each node keeping the place it came from. Everything after that knows one language.
//!
//! **Invariant:** reading never stops at the first mistake, never panics, and touches nothing but its
//! arguments: files, personas and other workflows come through [`world::World`].

mod check;
pub mod codes;
mod conform;
pub mod diagnostic;
pub mod dialect;
pub mod expr;
pub mod format;
pub mod hash;
mod lower;
mod model;
mod order;
mod pipeline;
mod schema;
mod scope;
pub mod shell;
mod sites;
pub mod source;
mod texts;
mod when;
pub mod world;

pub use pipeline::{CheckReport, CheckRequest, Checked, check, not_utf8, too_large};
