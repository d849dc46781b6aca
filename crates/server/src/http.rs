//! The HTTP API: runs, workflows and questions for pages and programs, with streams of events.
//!
//! ```text
//! request ─▶ guard: host, origin, rate, who, role ─▶ table ─▶ handler ─▶ app state ─▶ engine
//!                                                                   └─▶ stream ◀─ journal
//! ```
//!
//! **Invariant:** only routes in the [`table`](table::ROUTES) can be reached, and each of them names the role that it
//! needs.

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
mod replan;
mod route;
mod rows;
mod runs;
mod search;
mod serve;
mod start;
mod stream;
mod table;
mod tell;
mod workers;
mod workflows;

pub use keys::{Keys, Minted, Role, TokenRecord, TokenRequest, is_name};
pub use openapi::document as openapi;
pub use rows::{Row, attended_row, row};
pub use serve::{Site, listen, serve};
