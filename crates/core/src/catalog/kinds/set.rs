//! `set`: names values.

use crate::catalog::Shape::{Computed, Map};
use crate::catalog::StepKindEntry;

/// The kind.
pub const KIND: StepKindEntry = StepKindEntry {
    key: "set",
    title: "names values",
    doc:
        "Sets names to values. A text is an expression: `\"count + 1\"`. A text with braces in it is a template. Literal
text needs quotes inside the quotes: `\"'done'\"`.",
    shape: Map(&Computed),
    fields: &[],
    example: r#"- id: names
  set: {slug: "task | lower | replace(' ', '-')", limit: 3}
"#,
    work: false,
};
