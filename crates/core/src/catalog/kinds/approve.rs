//! `approve`: a human gate.

use crate::catalog::Shape::{Choice, Either, Id, List, Object, Template, Text};
use crate::catalog::{Field, StepKindEntry, field, required};

const GOTO: &[Field] = &[required("goto", Id, "The node to go to.")];

/// The kind.
pub const KIND: StepKindEntry = StepKindEntry {
    key: "approve",
    title: "a human gate",
    doc: "A human gate between steps. The run waits for the answer, for days if necessary. Finished steps do not run
again when the answer comes.",
    shape: Template,
    fields: &[
        field("choices", List(&Text), "Possible answers beside yes and no; `steps.<id>.choice` holds the answer."),
        field(
            "on_timeout",
            Choice(&["fail", "deny", "approve", "cancel"]),
            "What happens if nobody answers before `timeout`.",
        ),
        field("on_deny", Either(&[Choice(&["fail", "cancel", "skip"]), Object(GOTO)]), "What happens after a denial."),
    ],
    example: r#"- id: go
  approve: "Start with {{ task }}?"
  timeout: 2d
  on_timeout: deny
"#,
    work: false,
};
