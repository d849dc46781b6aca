//! `http`: one request.

use crate::catalog::Shape::{Any, Choice, Int, Map, Object, OneOrMany, Template};
use crate::catalog::{Field, StepKindEntry, field, required};

const HTTP: &[Field] = &[
    field("method", Choice(&["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"]), "The method; default: GET."),
    required("url", Template, "The address."),
    field("headers", Map(&Any), "Header fields; secrets are allowed here."),
    field("query", Map(&Any), "Query parameters."),
    field("body", Any, "Sent as JSON, or as text if it is text."),
    field("expect", OneOrMany(&Int(100, 599)), "Status codes that count as success; default: 200 to 299."),
];

/// The kind.
pub const KIND: StepKindEntry = StepKindEntry {
    key: "http",
    title: "one request",
    doc: "One HTTP request. The output is the body, parsed as JSON if it is JSON.",
    shape: Object(HTTP),
    fields: &[],
    example: r#"- id: status
  http:
    url: https://ci.example.com/api/status
    query: {branch: "{{ task }}"}
    headers: {authorization: "Bearer {{ secrets.CI }}"}
  output: {as: status, schema: {state: string}}
"#,
    work: true,
};
