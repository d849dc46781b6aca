//! `longhaul mcp`, the real program, spoken to over pipes and HTTP: raw, by the client of the library it is made with, and by the official
//! clients for Python and TypeScript; and the official conformance suite.
//!
//! `scripts/install-mcp-clients` fetches the latter three; what could not be fetched is skipped, and says so.

mod clients;
mod compat;
mod conformance;
mod gates;
mod hosted;
mod malformed;
mod officials;
mod project;
mod runs;
mod web;
pub(crate) mod wire;
mod workflows;
