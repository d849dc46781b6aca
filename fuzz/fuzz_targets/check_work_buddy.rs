//! Any text, checked as a work-buddy unit.

#![no_main]

#[path = "../bodies.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|text: &str| bodies::check_work_buddy(text));
