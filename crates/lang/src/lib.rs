//! From workflow text to a checked plan.
//!
//! ```text
//! text ─source─▶ Node tree ─dialect─▶ native Node tree ─syntax─▶ Workflow ─check─▶ diagnostics
//!                                                                   └──────lower─▶ Plan
//! ```
//!
//! A dialect is a rewriting of the tree: whatever another system's file says is said again in native
//! keys, each node keeping the place it came from. Everything after that knows one language.
//!
//! **Invariant:** reading never stops at the first mistake, never panics, and touches nothing but its
//! arguments: files, personas and other workflows come through [`world::World`].

pub mod diagnostic;
pub mod dialect;
pub mod format;
pub mod source;
