//! Tests `longhaul mcp --compat valet`, the real program, over pipes.

mod grants;
mod office;
mod proposals;
mod runs;
mod session;
mod triggers;
mod workflows;
