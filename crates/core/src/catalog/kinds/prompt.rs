//! `prompt`: one agent turn.

use crate::catalog::Shape::{Any, Either, Map, Object, PromptFile, Template, Text};
use crate::catalog::modifiers::{AGENT, ON_INTERRUPT};
use crate::catalog::{Field, Kind, field};

const PROMPT: &[Field] = &[
    field(
        "file",
        PromptFile,
        "A prompt file of the workflow; it is read when the workflow is checked and pinned by the run.",
    ),
    field("skill", Text, "A skill whose text is the prompt."),
    field("with", Map(&Any), "Names that only this prompt sees."),
];

/// The kind.
pub const KIND: Kind = Kind {
    key: "prompt",
    title: "one agent turn",
    doc: "One turn of an agent. The text is a template; `{file: …}` reads it from beside the workflow,
`{skill: …}` takes it from a skill. The answer is the step's output: text, or a value that follows
`output.schema`, in which case the agent is asked again until it does, within bounds.",
    shape: Either(&[Template, Object(PROMPT)]),
    fields: &[
        field(
            "agent",
            Either(&[Text, Object(AGENT)]),
            "Who does it: a profile of the file, a persona, a backend, or all of it in full.",
        ),
        field(
            "on_interrupt",
            ON_INTERRUPT,
            "After an interruption: continue in the same conversation, or put the files back and begin again.",
        ),
    ],
    example: r#"- id: verdict
  agent: code-reviewer
  prompt: "Judge the diff of {{ task }}."
  output: {as: verdict, schema: {status: [approved, needs_revision], notes: string}}
"#,
    work: true,
};
