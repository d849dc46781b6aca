//! `approve`: a human gate.

use crate::catalog::Shape::{Choice, Either, Id, List, Object, Template, Text};
use crate::catalog::{Field, Kind, field, required};

const GOTO: &[Field] = &[required("goto", Id, "The node to go to.")];

/// The kind.
pub const KIND: Kind = Kind {
    key: "approve",
    title: "a human gate",
    doc: "A human gate between steps. The run waits, for days if need be, and nothing that is finished runs
again when the answer comes.",
    shape: Template,
    fields: &[
        field("choices", List(&Text), "What may be answered beside yes and no; `steps.<id>.choice` has it."),
        field(
            "on_timeout",
            Choice(&["fail", "deny", "approve", "cancel"]),
            "What silence means, once `timeout` is over.",
        ),
        field("on_deny", Either(&[Choice(&["fail", "cancel", "skip"]), Object(GOTO)]), "What no means."),
    ],
    example: r#"- id: go
  approve: "Start with {{ task }}?"
  timeout: 2d
  on_timeout: deny
"#,
    work: false,
};
