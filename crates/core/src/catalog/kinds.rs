//! One file for each kind of step.

use super::StepKindEntry;

pub mod approve;
pub mod ask;
pub mod choice;
pub mod end;
pub mod for_each;
pub mod http;
pub mod notify;
pub mod parallel;
pub mod prompt;
pub mod repeat;
pub mod run;
pub mod set;
pub mod switch;
pub mod tool;
pub mod wait;
pub mod workflow;

/// Every kind, in the order of the manual.
pub const ALL: &[&StepKindEntry] = &[
    &prompt::KIND,
    &run::KIND,
    &tool::KIND,
    &http::KIND,
    &choice::KIND,
    &switch::KIND,
    &for_each::KIND,
    &repeat::KIND,
    &parallel::KIND,
    &approve::KIND,
    &ask::KIND,
    &notify::KIND,
    &wait::KIND,
    &workflow::KIND,
    &set::KIND,
    &end::KIND,
];
