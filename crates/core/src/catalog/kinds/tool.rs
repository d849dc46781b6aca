//! `tool`: a call of a tool.

use crate::catalog::Shape::{Any, Map, Text};
use crate::catalog::{StepKindEntry, field};

/// The kind.
pub const KIND: StepKindEntry = StepKindEntry {
    key: "tool",
    title: "a call of a tool",
    doc: "Calls one tool of an MCP server in the settings, or of a built-in one, as
`server.tool`. No agent takes part; the result is the output. `docs/guide/tools.md` explains where servers come from.",
    shape: Text,
    fields: &[field("args", Map(&Any), "The arguments of the tool.")],
    example: r#"- id: issues
  tool: longhaul.list_runs
  args: {limit: 20}
  output: {as: issues, parse: json}
"#,
    work: true,
};
