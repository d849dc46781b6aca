//! Settings as data: the types that settings files are read into, and that the runtime works by.
//!
//! **Invariant:** nothing here reads a settings file. `project` does that; the runtime sees only these types.

mod agents;
mod bounds;
mod channels;
pub mod tools;
pub mod trust;

pub use agents::{AUTO, Backends, Choice, Profile, SCRIPTED, permission};
pub use bounds::{Retention, Values};
pub use channels::{Channel, MailCarrier, MailLogin, MailPrivacy, MailServer, SecretSetting};
pub use tools::ToolServer;
