//! The HTTP API: runs, workflows and questions for pages and programs, with streams of what happens.
//!
//! ```text
//! request ─▶ guard: host, origin, rate, who, role ─▶ table ─▶ handler ─▶ desk ─▶ engine
//!                                                                   └─▶ stream ◀─ journal
//! ```
//!
//! **Invariant:** what is not in the [`table`](table::ROUTES) cannot be reached, and what is there says who may.

mod about;
mod answer;
mod artifacts;
mod attempts;
mod call;
mod compress;
mod elsewhere;
mod guard;
mod keys;
#[cfg(test)]
mod matrix;
mod metrics;
mod openapi;
mod pages;
mod passes;
mod problem;
mod rate;
mod route;
mod rows;
mod runs;
mod serve;
mod start;
mod stream;
mod table;
mod tell;
mod workers;
mod workflows;

pub use keys::{Key, Keys, Minted, Role};
pub use openapi::document as openapi;
pub use rows::row;
pub use serve::{Site, listen, serve};
