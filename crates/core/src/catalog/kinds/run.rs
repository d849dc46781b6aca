//! `run`: a command.

use crate::catalog::Shape::{Any, Choice, Either, List, Object, ScriptFile, Shell};
use crate::catalog::{Field, Kind, field};

const RUN: &[Field] = &[
    field("command", Shell, "Shell text."),
    field("script", ScriptFile, "A script of the workflow, run by the interpreter that its ending names."),
    field("args", List(&Any), "Arguments of the script."),
    field("shell", Choice(&["bash", "sh"]), "Which shell reads `command`."),
    field("stdin", Any, "What the command reads."),
];

/// The kind.
pub const KIND: Kind = Kind {
    key: "run",
    title: "a command",
    doc: "A command in a process group of its own. Templates inside the text are passed through the
environment and quoted where they stand, so a value is always one argument and never code. Exit code
0 is success; `steps.<id>` has `exit_code`, `stdout` and `stderr`, and the output is what was printed.",
    shape: Either(&[Shell, Object(RUN)]),
    fields: &[],
    example: r#"- id: check
  run: cargo test --quiet -- {{ task }}
  on_error: continue
  timeout: 10m
"#,
    work: true,
};
