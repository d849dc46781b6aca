//! `repeat`: until good.

use crate::catalog::Shape::{Choice, Expr, Id, Int, Object, Steps};
use crate::catalog::{Field, StepKindEntry, field, required};

const REPEAT: &[Field] = &[
    required("until", Expr, "Evaluated after each round; it sees the names that the round set."),
    field("max", Int(1, 100_000), "The most rounds."),
    field("on_exhausted", Choice(&["fail", "ask", "continue"]), "What happens after the last round."),
];

/// The kind.
pub const KIND: StepKindEntry = StepKindEntry {
    key: "repeat",
    title: "until good",
    doc: "Runs the body again until the condition is true, at most `max` times. `iteration` counts from
zero. You may read a name that a later step of the body sets: it has the value of the previous round, so
the first round needs `default(…)`.",
    shape: Object(REPEAT),
    fields: &[
        field("steps", Steps, "A graph, for each round."),
        field("do", Steps, "A sequence, for each round."),
        field("start", Id, "A state machine's first node, for each round."),
        field("nodes", Steps, "A state machine's nodes, for each round."),
    ],
    example: r#"- id: polish
  repeat: {until: "steps.lint.exit_code == 0", max: 3, on_exhausted: ask}
  do:
    - {id: edit, prompt: "Fix the lint errors of {{ task }}."}
    - {id: lint, run: make lint, on_error: continue}
"#,
    work: false,
};
