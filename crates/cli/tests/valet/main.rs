//! `longhaul mcp --compat valet`, the real program, spoken to over pipes.

#![cfg(test)]

#[path = "../binary/mod.rs"]
mod binary;
mod grants;
mod office;
mod proposals;
mod runs;
mod session;
mod triggers;
#[path = "../mcp/wire.rs"]
#[allow(dead_code, reason = "other tests use the rest of it")]
mod wire;
mod workflows;
