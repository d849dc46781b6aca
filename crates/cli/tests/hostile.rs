//! Files that want to break the reader: each is refused with a finding, by the real binary, in bounded memory.
//!
//! The child gets 600 MB of address space and a minute; a blow-up of either kind fails the test. Nothing
//! here measures time.

mod child;
mod graphs;
mod paths;
mod quiet;
mod templates;
mod terminal;
mod text;
