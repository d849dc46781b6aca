//! `longhaul serve`, the real program, spoken to over HTTP.

#![cfg(test)]

#[path = "../binary/mod.rs"]
mod binary;

mod contract;
mod hostile;
mod keys;
mod patience;
mod people;
mod questions;
mod site;
mod streams;
mod traces;
mod values;
