//! What a machine does to runs, and what runs tell about their machine: faults that come and go, secrets that nobody shall find,
//! and bytes of others on a terminal.

#![cfg(test)]

#[path = "../binary/mod.rs"]
mod binary;
#[path = "../terminal/pty.rs"]
mod pty;
#[path = "../terminal/screen.rs"]
mod screen;

mod chaos;
mod secrets;
mod server;
mod shown;
