//! `for_each`: once per item.

use crate::catalog::Shape::{Any, Choice, Either, Expr, Id, Int, List, Name, Object, Steps, Template};
use crate::catalog::{Field, StepKindEntry, field, required};

const ITEMS: &[Field] = &[required("glob", Template, "The items are the files that match.")];

/// The kind.
pub const KIND: StepKindEntry = StepKindEntry {
    key: "for_each",
    title: "once per item",
    doc: "Runs the body once for each item of a list, in order, or `parallel: n` at once. `steps.<id>.items` is a
list with the names that each item's body set. After the step, a name that the body sets has the value
of the last item.",
    shape: Either(&[Expr, List(&Any), Object(ITEMS)]),
    fields: &[
        field("as", Name, "The name of an item; default: `item`."),
        field("index", Name, "The name of its position; default: `index`."),
        field("parallel", Int(1, 100_000), "How many items at once; default: 1."),
        field("on_item_error", Choice(&["fail", "skip", "collect"]), "What happens after a failed item."),
        field("steps", Steps, "A graph, for each item."),
        field("do", Steps, "A sequence, for each item."),
        field("start", Id, "A state machine's first node, for each item."),
        field("nodes", Steps, "A state machine's nodes, for each item."),
    ],
    example: r#"- id: files
  for_each: {glob: "docs/**/*.md"}
  as: file
  parallel: 4
  do:
    - {id: read, prompt: "Check the links of {{ file }}."}
"#,
    work: false,
};
