//! Turns workflow text into a checked plan.
//!
//! ```text
//! text ─source─▶ Node tree ─dialect─▶ native Node tree ─conform─▶ ─model─▶ ─check─▶ diagnostics
//!                                                                     └────lower─▶ Plan
//! ```
//!
//! A dialect translates the tree of another system's file into native keys. Each node keeps its place. All later
//! passes know one language.
//!
//! **Invariant:** reading never stops at the first mistake, never panics, and uses nothing but its arguments: files,
//! personas and other workflows come through [`world::World`].

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
