//! Tests `longhaul serve`, the real program, over HTTP.

mod contract;
mod hostile;
mod keys;
mod patience;
mod people;
mod questions;
mod replan;
pub(crate) mod site;
mod streams;
mod traces;
mod values;
