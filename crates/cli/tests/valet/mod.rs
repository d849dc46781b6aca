//! `longhaul mcp --compat valet`, the real program, spoken to over pipes.

mod grants;
mod office;
mod proposals;
mod runs;
mod session;
mod triggers;
mod workflows;
