//! All tests that use this crate from outside, as one program.
//! `cargo test -p longhaul-testkit --test all views::` runs one of its parts.

#![cfg(test)]

mod fleet;
mod histories;
mod loops;
mod model_server;
mod notifications;
mod replan;
mod sim;
mod spec;
mod standing;
mod views;
