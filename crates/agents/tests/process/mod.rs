//! Real processes, of every kind that has ever been left behind or hung something up.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bench;
mod engine;
mod handover;
mod life;
mod output;
mod strays;
