//! Tests of workflows: what agents, commands and people say stands in a file, and so does what must come of it.
//!
//! A test is a real run by a real engine in a folder of its own; no model is asked, and nobody waits: agents answer at once, and when a run
//! waits for a time, its clock is put forward to it.

pub(crate) mod expect;
pub(crate) mod file;
pub(crate) mod play;
pub(crate) mod record;
