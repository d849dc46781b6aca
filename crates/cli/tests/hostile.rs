//! Tests files that attack the reader: the real binary refuses each with a finding, in bounded memory.
//!
//! The child gets 600 MB of address space and a minute; exceeding either fails the test. Nothing here measures time.

mod child;
mod graphs;
mod paths;
mod quiet;
mod templates;
mod terminal;
mod text;
