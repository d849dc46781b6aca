//! `parallel`: named branches, joined.

use crate::catalog::Kind;
use crate::catalog::Shape::{Body, Map};

/// The kind.
pub const KIND: Kind = Kind {
    key: "parallel",
    title: "named branches, joined",
    doc: "Named branches that run at the same time. The step is done when all are; names that the branches
set can be read afterwards. A branch does not see what another one sets.",
    shape: Map(&Body),
    fields: &[],
    example: r#"- id: reviews
  parallel:
    security: [{prompt: "Look for vulnerabilities: {{ task }}"}]
    style: [{prompt: "Judge the naming: {{ task }}"}]
"#,
    work: false,
};
