//! `if`: a choice.

use crate::catalog::Shape::{Body, Expr};
use crate::catalog::{Kind, field, required};

/// The kind.
pub const KIND: Kind = Kind {
    key: "if",
    title: "a choice",
    doc: "A choice between two bodies. Names that a branch sets can be read afterwards, with `default(…)`,
since the other branch may have been taken.",
    shape: Expr,
    fields: &[required("then", Body, "Done when it holds."), field("else", Body, "Done when it does not.")],
    example: r#"- id: size
  if: task | length > 200
  then: [{run: echo long}]
  else: [{run: echo short}]
"#,
    work: false,
};
