//! `end`: ends the run.

use crate::catalog::Shape::{Choice, Template};
use crate::catalog::{StepKindEntry, field};

/// The kind.
pub const KIND: StepKindEntry = StepKindEntry {
    key: "end",
    title: "ends the run",
    doc: "Ends the run. In a state machine it is a node that others lead to.",
    shape: Choice(&["success", "failure", "cancelled"]),
    fields: &[field("message", Template, "The reason, for people.")],
    example: r#"- id: stop
  end: success
  message: "nothing to do for {{ task }}"
"#,
    work: false,
};
