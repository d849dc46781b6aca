//! All tests that use this crate from outside, as one program.
//! `cargo test -p longhaul --test all valet::` runs one of its parts.

#![cfg(test)]

mod absent;
mod authoring;
mod background;
mod binary;
mod broken;
mod builtin;
mod checkout;
mod complete;
mod consent;
mod crash;
mod demo;
mod fleet;
mod gates;
mod generated;
mod hostile;
mod house;
mod init;
mod live;
mod machine;
mod mcp;
mod native;
mod newcomers;
mod notify;
mod outcomes;
mod personas;
mod postgres;
mod purity;
mod real_agents;
mod replan;
mod runs;
mod serve;
mod shelf;
mod shim;
mod snapshot;
mod steering;
mod terminal;
mod tools;
mod valet;
