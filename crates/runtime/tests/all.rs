//! All tests that use this crate from outside, as one program.
//! `cargo test -p longhaul-runtime --test all schedule::` runs one of its parts.

#![cfg(test)]

mod hosted;
mod kinds;
mod notifications;
mod pace;
mod schedule;
