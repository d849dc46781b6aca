//! Several engines that share a store: workers, machines, and which worker does which step.

pub(crate) mod host_lost;
pub(crate) mod import;
pub(crate) mod membership;
pub(crate) mod peers;
pub(crate) mod reports;
pub(crate) mod roster;
pub(crate) mod scoped;
pub(crate) mod worker;
