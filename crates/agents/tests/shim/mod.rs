//! Agents below a shim: real processes, real engines that are killed, and an independent look at what is left.
mod bench;
mod engines;
mod environment;
mod life;
mod output;
mod strays;
