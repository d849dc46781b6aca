//! Real processes, of every kind that has ever been left behind or hung something up.
mod bench;
mod engine;
mod handover;
mod life;
mod output;
mod strays;
