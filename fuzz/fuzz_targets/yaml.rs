//! Any text, read as YAML, TOML and Markdown.

#![no_main]

#[path = "../bodies.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|text: &str| bodies::yaml(text));
