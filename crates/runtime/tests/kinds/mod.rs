//! Tests kinds of work with a whole engine, each against something real.

mod bench;
mod cache;
mod concurrency;
mod mail;
mod notify;
