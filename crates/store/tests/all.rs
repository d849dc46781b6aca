//! All tests that use this crate from outside, as one program.
//! `cargo test -p longhaul-store --test all versions::` runs one of its parts.

#![cfg(test)]

mod copy;
mod database;
mod encrypted;
mod faults;
mod fences;
mod file;
mod logins;
mod memory;
mod model;
mod older;
mod postgres;
mod processes;
mod sqlite;
mod versions;
