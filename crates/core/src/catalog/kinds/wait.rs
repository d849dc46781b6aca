//! `wait`: sleeps, or waits for a signal.

use crate::catalog::Shape::{Any, Duration, Either, Object, Schema, Template, Time};
use crate::catalog::{Field, StepKindEntry, field};

const WAIT: &[Field] = &[
    field("for", Any, "A time span, or a template that gives one."),
    field("until", Time, "A moment."),
    field("event", Template, "A signal's name; its data is the output."),
    field("schema", Schema, "The form that the signal's data must have."),
];

/// The kind.
pub const KIND: StepKindEntry = StepKindEntry {
    key: "wait",
    title: "sleeps, or waits for a signal",
    doc: "Waits for a time span, until a moment, or until a signal arrives. A restart of the engine
does not lose the wait.",
    shape: Either(&[Duration, Object(WAIT)]),
    fields: &[],
    example: r#"- id: calm
  wait: 2h
"#,
    work: false,
};
