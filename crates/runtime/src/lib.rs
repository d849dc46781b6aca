//! The engine: it carries out decisions. Only this crate reads the clock.
//!
//! **Invariant:** the store records the intent before the act, and the result after it. `core` makes each decision, and
//! `store` records it before this crate acts.

mod clock;
mod engine;
mod execute;
mod fleet;
mod hosted;
mod run;
mod services;

pub use clock::{Clock, System, clock_of, local_time, local_zone};
pub use engine::{Engine, EngineEvent, EngineOptions, Error, SourceText, StartRequest, TranscriptLine, check_inputs};
pub use execute::kinds::notify::desktop::has_desktop;
pub use fleet::import::settle;
pub use fleet::membership::Membership;
pub use fleet::roster::{HeldTask, OpenTask, Present, Roster};
pub use hosted::{HandedStep, Heartbeat, HostStatus, HostedWork, PATIENCE, Submission};
pub use run::approvals::key_of;
pub use run::attendance::Attendance;
pub use run::command::{Applied, Follow, ReplanRequest, settled};
pub use run::damaged::Readable;
pub use run::fork::ForkRequest;
pub use run::message::Message;
pub use run::recover::is_dead;
pub use run::run_loop::{Idle, Loaded};
pub use services::consent::{Recorded, RunConsent};
pub use services::registry::{Decided, registry_of};
pub use services::traces::Collector;
pub use services::triggers::{Find, Fired, Startable, Wanted};
