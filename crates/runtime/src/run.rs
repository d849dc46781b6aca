//! One run: its loop, its commits, its leases and its messages.

pub(crate) mod admission;
pub(crate) mod approvals;
pub(crate) mod attendance;
pub(crate) mod awake;
pub(crate) mod blockers;
pub(crate) mod codec;
pub(crate) mod command;
pub(crate) mod damaged;
pub(crate) mod exclusive;
pub(crate) mod fork;
pub(crate) mod leases;
pub(crate) mod load;
pub(crate) mod message;
pub(crate) mod notifier;
pub(crate) mod on_failure;
pub(crate) mod record;
pub(crate) mod recover;
pub(crate) mod refused;
pub(crate) mod run_loop;
