//! Any text, checked as an agent007 workflow.

#![no_main]

#[path = "../bodies.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|text: &str| bodies::check_agent007(text));
