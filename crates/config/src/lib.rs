//! The types of all settings. Settings files are read into them, and the runtime uses them.
//!
//! **Invariant:** this crate does not read settings files. `project` does that; the runtime sees only these types.

mod agents;
mod bounds;
mod channels;
pub mod tools;
pub mod trust;

pub use agents::{AUTO, Backends, Choice, Profile, SCRIPTED, permission};
pub use bounds::{Retention, SameFolder, Values};
pub use channels::{Channel, MailCarrier, MailLogin, MailPrivacy, MailServer, SecretSetting};
pub use tools::ToolServer;
