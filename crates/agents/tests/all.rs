//! All tests that use this crate from outside, as one program.
//! `cargo test -p longhaul-agents --test all watch::` runs one of its parts.

#![cfg(test)]

mod answers;
mod conformance;
mod drivers;
mod notices;
mod process;
mod scripted;
mod serve;
mod shim;
mod watch;
