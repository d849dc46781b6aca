//! Tests agents under a shim: real processes, real engines that are killed, and an independent check of the leftovers.
mod bench;
mod engines;
mod environment;
mod life;
mod output;
mod strays;
