//! Tests agents that this binary serves, as real processes, against a scripted endpoint or a scripted agent.
mod acp;
mod bench;
mod drivers;
mod endpoint;
mod local;
mod tools;
mod trouble;
mod turns;
mod wires;
