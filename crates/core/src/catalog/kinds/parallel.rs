//! `parallel`: named branches, joined.

use crate::catalog::Shape::{Body, Map};
use crate::catalog::StepKindEntry;

/// The kind.
pub const KIND: StepKindEntry = StepKindEntry {
    key: "parallel",
    title: "named branches, joined",
    doc: "Runs named branches at the same time. The step is done when all branches are done; then later steps can read the names
that the branches set. A branch does not see the names of another one.",
    shape: Map(&Body),
    fields: &[],
    example: r#"- id: reviews
  parallel:
    security: [{prompt: "Look for vulnerabilities: {{ task }}"}]
    style: [{prompt: "Judge the naming: {{ task }}"}]
"#,
    work: false,
};
