//! Files that want to break the reader: each is refused with a finding, by the real binary, in bounded memory.
//!
//! The child gets 600 MB of address space and a minute; a blow-up of either kind fails the test. Nothing
//! here measures time.

#![expect(clippy::unwrap_used, reason = "a test that cannot prepare its files must fail")]

#[path = "hostile/child.rs"]
mod child;
#[path = "hostile/graphs.rs"]
mod graphs;
#[path = "hostile/paths.rs"]
mod paths;
#[path = "hostile/quiet.rs"]
mod quiet;
#[path = "hostile/templates.rs"]
mod templates;
#[path = "hostile/terminal.rs"]
mod terminal;
#[path = "hostile/text.rs"]
mod text;
