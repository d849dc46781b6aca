//! `run`: a command.

use crate::catalog::Shape::{Any, Choice, Either, List, Object, ScriptFile, Shell};
use crate::catalog::{Field, StepKindEntry, field};

const RUN: &[Field] = &[
    field("command", Shell, "Shell text."),
    field("script", ScriptFile, "A script of the workflow. The ending of its name chooses the interpreter."),
    field("args", List(&Any), "Arguments of the script."),
    field("shell", Choice(&["bash", "sh"]), "The shell for `command`."),
    field("stdin", Any, "The standard input of the command."),
];

/// The kind.
pub const KIND: StepKindEntry = StepKindEntry {
    key: "run",
    title: "a command",
    doc: "A command in its own process group. Longhaul passes templates in the text through the
environment and quotes them, so a value is always one argument and never code. Exit code
0 is success. `steps.<id>` has `exit_code`, `stdout` and `stderr`; the output of the step is what the command printed.",
    shape: Either(&[Shell, Object(RUN)]),
    fields: &[],
    example: r#"- id: check
  run: cargo test --quiet -- {{ task }}
  on_error: continue
  timeout: 10m
"#,
    work: true,
};
