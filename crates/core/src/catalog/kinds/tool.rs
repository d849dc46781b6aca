//! `tool`: a call of a tool.

use crate::catalog::Shape::{Any, Map, Text};
use crate::catalog::{Kind, field};

/// The kind.
pub const KIND: Kind = Kind {
    key: "tool",
    title: "a call of a tool",
    doc: "A call of one tool of an MCP server that the project has configured, or of a built-in one, as
`server.tool`. No agent takes part; the result is the output. `docs/guide/tools.md` says where servers come from.",
    shape: Text,
    fields: &[field("args", Map(&Any), "What it is called with.")],
    example: r#"- id: issues
  tool: longhaul.list_runs
  args: {limit: 20}
  output: {as: issues, parse: json}
"#,
    work: true,
};
