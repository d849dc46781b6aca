//! `switch`: a choice by value.

use crate::catalog::Shape::{Body, Expr, Map};
use crate::catalog::{StepKindEntry, field, required};

/// The kind.
pub const KIND: StepKindEntry = StepKindEntry {
    key: "switch",
    title: "a choice by value",
    doc: "A choice by value. If the value's schema lists the possible values, the cases must cover the list, or
there must be a `default`.",
    shape: Expr,
    fields: &[required("cases", Map(&Body), "A body for each value."), field("default", Body, "Runs if no case fits.")],
    example: r#"- id: route
  switch: task
  cases:
    docs: [{run: echo docs}]
    code: [{run: echo code}]
  default: [{end: failure, message: "unknown kind {{ task }}"}]
"#,
    work: false,
};
