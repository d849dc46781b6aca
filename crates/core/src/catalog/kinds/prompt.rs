//! `prompt`: one agent turn.

use crate::catalog::Shape::{Any, Either, Map, Object, PromptFile, Template, Text};
use crate::catalog::modifiers::{AGENT, ON_INTERRUPT};
use crate::catalog::{Field, StepKindEntry, field};

const PROMPT: &[Field] = &[
    field(
        "file",
        PromptFile,
        "A prompt file of the workflow. Longhaul reads it with the workflow; a run keeps its text.",
    ),
    field("skill", Text, "A skill whose text is the prompt."),
    field("with", Map(&Any), "Names that only this prompt sees."),
];

/// The kind.
pub const KIND: StepKindEntry = StepKindEntry {
    key: "prompt",
    title: "one agent turn",
    doc: "One turn of an agent. The text is a template; `{file: …}` reads it from a file beside the workflow,
`{skill: …}` takes it from a skill. The answer is the step's output: text, or a value that follows
`output.schema`. If the value does not fit, Longhaul asks the agent again, a limited number of times.",
    shape: Either(&[Template, Object(PROMPT)]),
    fields: &[
        field(
            "agent",
            Either(&[Text, Object(AGENT)]),
            "The agent: a profile of the file, a persona, a backend, or a mapping with all keys.",
        ),
        field(
            "on_interrupt",
            ON_INTERRUPT,
            "After an interruption: continue the same conversation, or restore the files and start again.",
        ),
    ],
    example: r#"- id: verdict
  agent: code-reviewer
  prompt: "Judge the diff of {{ task }}."
  output: {as: verdict, schema: {status: [approved, needs_revision], notes: string}}
"#,
    work: true,
};
