//! Services of the engine besides runs: triggers, the registry, consent, notifications, reports, archives and traces.

pub(crate) mod archive;
pub(crate) mod consent;
pub(crate) mod digest;
pub(crate) mod notifications;
pub(crate) mod prune;
pub(crate) mod registry;
pub(crate) mod traces;
pub(crate) mod triggers;
pub(crate) mod upkeep;
