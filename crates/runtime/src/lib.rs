//! Carries decisions out. The only crate that reads the clock.
//!
//! **Invariant:** intent is stored before the act, the result after it. What is done here was decided in
//! `core` and recorded by `store` first.

mod backends;
mod channels;
mod clock;
mod command;
mod engine;
mod execute;
mod fleet;
mod hosted;
mod run;
mod services;
mod tools;
mod trust;

pub use backends::{AUTO, Backends, Profile, SCRIPTED, permission};
pub use channels::{Carrier, Channel, Login, Privacy, Server, Setting};
pub use clock::{Clock, System, clock_of};
pub use command::{Applied, Follow};
pub use engine::{Engine, Error, Options, Pulse, Said, StartRequest, Values};
pub use fleet::import::settle;
pub use fleet::membership::Membership;
pub use fleet::roster::{Duty, OpenDuty, Present, Roster};
pub use hosted::{Handed, Heartbeat, HostStatus, PATIENCE, Submission, Work};
pub use run::approvals::key_of;
pub use run::damaged::Readable;
pub use run::fork::ForkRequest;
pub use run::message::Message;
pub use run::recover::is_dead;
pub use run::run_loop::{Idle, Loaded};
pub use services::consent::{Recorded, RunConsent};
pub use services::registry::{Decided, read_shelf};
pub use services::traces::Collector;
pub use services::triggers::{Find, Startable, Wanted};
pub use services::upkeep::Retention;
pub use tools::ToolServer;
pub use trust::{Told, is_trusted, told};
