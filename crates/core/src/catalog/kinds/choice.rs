//! `if`: a choice.

use crate::catalog::Shape::{Body, Expr};
use crate::catalog::{StepKindEntry, field, required};

/// The kind.
pub const KIND: StepKindEntry = StepKindEntry {
    key: "if",
    title: "a choice",
    doc: "A choice between two bodies. Later steps can read names that a branch sets, with `default(…)`,
because the run may have taken the other branch.",
    shape: Expr,
    fields: &[required("then", Body, "Runs if the expression is true."), field("else", Body, "Runs if it is false.")],
    example: r#"- id: size
  if: task | length > 200
  then: [{run: echo long}]
  else: [{run: echo short}]
"#,
    work: false,
};
