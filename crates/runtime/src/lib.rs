//! Carries decisions out. The only crate that reads the clock.
//!
//! **Invariant:** intent is stored before the act, the result after it. What is done here was decided in
//! `core` and recorded by `store` first.

mod admission;
mod aftermath;
mod archive;
mod artifacts;
mod backends;
mod cache;
mod carry;
mod channels;
mod clock;
mod codec;
mod consent;
mod engine;
mod fleet;
mod fork;
mod gates;
mod held_up;
mod hosted;
mod leases;
mod mailroom;
mod message;
mod missed;
mod moved;
mod perform;
mod record;
mod recover;
mod reports;
mod retain;
mod roster;
mod run_loop;
mod schedule;
mod scoped;
mod secrets;
mod shelf;
mod slots;
mod steps;
mod told;
mod tools;
mod traces;
mod tree;
mod trust;
mod turns;
mod upkeep;
mod worker;

pub use backends::{AUTO, Backends, Profile, SCRIPTED, permission};
pub use channels::{Carrier, Channel, Login, Privacy, Server, Setting};
pub use clock::{Clock, System, clock_of};
pub use consent::{Recorded, RunConsent};
pub use engine::{Engine, Error, Options, Pulse, Said, StartRequest};
pub use fleet::Membership;
pub use fork::ForkRequest;
pub use gates::key_of;
pub use hosted::{Handed, Heartbeat, HostStatus, PATIENCE, Submission, Work};
pub use message::Message;
pub use moved::settle;
pub use recover::is_dead;
pub use roster::{Duty, OpenDuty, Present, Roster};
pub use run_loop::{Idle, Loaded};
pub use schedule::{Find, Startable, Wanted};
pub use shelf::{Decided, read_shelf};
pub use tools::ToolServer;
pub use traces::Collector;
pub use trust::{told_files, told_hash};
pub use upkeep::Retention;
