//! Tests the scripted model endpoint over plain HTTP.

mod answers;
mod breaks;
mod client;
mod failures;
mod routes;
mod scripts;
