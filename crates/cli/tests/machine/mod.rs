//! What a machine does to runs, and what runs tell about their machine: faults that come and go, and secrets that nobody shall find.

mod chaos;
mod secrets;
mod server;
