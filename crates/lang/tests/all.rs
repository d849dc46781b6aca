//! All tests that use this crate from outside, as one program.
//! `cargo test -p longhaul-lang --test all fuzz_smoke::` runs one of its parts.

#![cfg(test)]

mod codes;
mod fuzz_smoke;
