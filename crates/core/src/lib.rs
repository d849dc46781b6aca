//! What a run is: ids, values, the checked plan and the catalogue of step kinds.
//!
//! **Invariant:** nothing in this crate awaits, sleeps, or reads a clock, a file, a variable of the
//! environment or a random number. Everything here is a value or a function of values.

pub mod address;
pub mod approval;
pub mod catalog;
pub mod compat;
pub mod consent;
pub mod decide;
pub mod digest;
pub mod duration;
pub mod eval;
pub mod event;
pub mod explain;
pub mod id;
pub mod index;
pub mod notification;
pub mod origin;
pub mod path;
pub mod plan;
pub mod policy;
pub mod recovery;
pub mod registry;
pub mod rejection;
pub mod replan;
pub mod report;
pub mod role;
pub mod schema;
pub mod state;
pub mod status;
pub mod task;
pub mod types;
pub mod value;
pub mod view;
pub mod words;

/// A JSON value. Objects keep the order in which their keys were written.
pub type Json = serde_json::Value;

/// Reads a value that is there as `Some`, even if it is null: not to be there is another thing than to be null.
pub(crate) fn present<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<Json>, D::Error> {
    serde::Deserialize::deserialize(value).map(Some)
}
