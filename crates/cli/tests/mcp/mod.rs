//! Tests `longhaul mcp`, the real program, over pipes and HTTP: with raw messages, with the client of its own library,
//! with the official clients for Python and TypeScript, and with the official conformance suite.
//!
//! `scripts/install-mcp-clients` fetches the latter three; a test whose client is missing is skipped, and says so.

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
