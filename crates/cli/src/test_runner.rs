//! Runs tests of workflows: a file holds the replies of agents, commands and people, and the expected result.
//!
//! A test is a real run by a real engine in a folder of its own. It calls no model and does not wait: agents answer at
//! once, and when a run waits for a time, the test moves its clock to that time.

pub(crate) mod expect;
pub(crate) mod file;
pub(crate) mod play;
pub(crate) mod record;
