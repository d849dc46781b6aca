//! `workflow`: a sub-workflow.

use crate::catalog::Shape::{Any, Map, Text};
use crate::catalog::{StepKindEntry, field};

/// The kind.
pub const KIND: StepKindEntry = StepKindEntry {
    key: "workflow",
    title: "a sub-workflow",
    doc: "Runs another workflow as a step, with its own inputs and outputs: one of this file's `workflows:`, or
one that is found by name. The output of the step holds the workflow's `outputs:`.",
    shape: Text,
    fields: &[field("with", Map(&Any), "Its inputs.")],
    example: r#"- id: review
  workflow: code-review
  with: {task: "{{ task }}"}
"#,
    work: false,
};
