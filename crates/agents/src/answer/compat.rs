//! Answers as other systems read them.

mod valet;
mod workhorse;

pub use valet::object as first_object;
pub use workhorse::outputs as between_braces;
