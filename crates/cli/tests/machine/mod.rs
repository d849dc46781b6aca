//! Tests the influence of a machine on runs: faults that come and go, and secrets that must not be found.

mod chaos;
mod secrets;
mod server;
