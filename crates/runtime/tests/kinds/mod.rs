//! Tests kinds of work with a whole engine, each against something real.

pub(crate) mod bench;
mod cache;
mod concurrency;
mod mail;
mod notify;
