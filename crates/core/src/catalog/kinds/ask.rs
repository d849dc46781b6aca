//! `ask`: a question to a person.

use crate::catalog::Shape::{Schema, Template};
use crate::catalog::{StepKindEntry, field};

/// The kind.
pub const KIND: StepKindEntry = StepKindEntry {
    key: "ask",
    title: "a question to a person",
    doc: "A question to a person. The answer is the step's output.",
    shape: Template,
    fields: &[field("answer", Schema, "The form of the answer; default: text.")],
    example: r#"- id: scope
  ask: "How far should {{ task }} go?"
  answer: {depth: integer, note: string}
  output: scope
"#,
    work: false,
};
