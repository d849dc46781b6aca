//! Agents below a shim: real processes, real engines that are killed, and an independent look at what is left.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bench;
mod engines;
mod environment;
mod life;
mod output;
mod strays;
