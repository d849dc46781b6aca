//! Tools that other systems' workflows call.

pub(super) mod python;
