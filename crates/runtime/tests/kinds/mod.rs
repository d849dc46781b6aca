//! Kinds of work through a whole engine, each against something real.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bench;
mod cache;
mod concurrency;
mod mail;
mod notify;
