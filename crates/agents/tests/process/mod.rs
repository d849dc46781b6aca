//! Tests with real processes of every kind that was ever left behind or blocked something.
mod bench;
mod engine;
mod handover;
mod life;
mod output;
mod strays;
