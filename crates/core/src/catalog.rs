//! The catalogue of the language: every key, where it may stand, its type and its meaning.
//!
//! One description serves the reader of workflow files, the JSON Schema for editors, the manual and
//! the "did you mean" of the diagnostics. A new kind of step is a file in `kinds/` and a line in
//! [`kinds::ALL`].

pub mod kinds;
pub mod manual;
pub mod modifiers;
pub mod names;
pub mod schema;
pub mod top;

/// One key of a mapping.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// The key, as written in the file.
    pub key: &'static str,
    /// The type of its value.
    pub shape: Shape,
    /// Whether the key must be present.
    pub required: bool,
    /// One or two sentences for the manual and for editors.
    pub doc: &'static str,
}

/// A key that may be left out.
pub const fn field(key: &'static str, shape: Shape, doc: &'static str) -> Field {
    Field { key, shape, required: false, doc }
}

/// A key that must be there.
pub const fn required(key: &'static str, shape: Shape, doc: &'static str) -> Field {
    Field { key, shape, required: true, doc }
}

/// The type of a value in a workflow file.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// Any value; texts in it are templates.
    Any,
    /// Any value, taken as written.
    Json,
    /// Text, taken as written.
    Text,
    /// Text with templates.
    Template,
    /// An expression; braces around it are accepted.
    Expr,
    /// A value whose texts are expressions.
    Computed,
    /// Shell text: templates in it reach the command through its environment.
    Shell,
    /// `true` or `false`.
    Bool,
    /// A whole number between two bounds.
    Int(u64, u64),
    /// A number that is not negative.
    Number,
    /// A time span such as `90s`, `2h`, `1d12h`.
    Duration,
    /// A time span or `none`.
    DurationOrNone,
    /// A moment, RFC 3339, or a template that gives one.
    Time,
    /// A cron line.
    Cron,
    /// An IANA time zone.
    TimeZone,
    /// Who may answer: `initiator`, `anyone` or `role:NAME`.
    Approvers,
    /// A label of workers: text without spaces.
    Label,
    /// A file pattern.
    Glob,
    /// A prompt file of the workflow.
    PromptFile,
    /// A script file of the workflow.
    ScriptFile,
    /// The id of a step.
    Id,
    /// A name that templates read.
    Name,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A list.
    List(&'static Shape),
    /// One value or a list of them.
    OneOrMany(&'static Shape),
    /// A mapping with free keys.
    Map(&'static Shape),
    /// A mapping with these keys.
    Object(&'static [Field]),
    /// A JSON Schema, or the short form `{field: type}`.
    Schema,
    /// A body: a list of steps, a single step, or a mapping with `steps`, `do`, or `start` and `nodes`.
    Body,
    /// A list of steps.
    Steps,
    /// A whole workflow.
    Workflow,
    /// Whichever of these fits the value that is there.
    Either(&'static [Shape]),
}

/// A kind of step: the one action key that it carries.
#[derive(Debug, Clone, Copy)]
pub struct StepKindEntry {
    /// The action key.
    pub key: &'static str,
    /// The action, in a few words.
    pub title: &'static str,
    /// The manual's text, Markdown.
    pub doc: &'static str,
    /// The type of the action key's value.
    pub shape: Shape,
    /// Keys that stand beside the action key.
    pub fields: &'static [Field],
    /// An example: a whole step in a sequence.
    pub example: &'static str,
    /// Whether it is leaf work (opaque to the planner) or a control form.
    pub work: bool,
}

/// The kind with this action key.
pub fn kind(key: &str) -> Option<&'static StepKindEntry> {
    kinds::ALL.iter().find(|kind| kind.key == key).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_documented_and_means_one_thing_in_its_place() {
        for kind in kinds::ALL {
            assert!(!kind.doc.is_empty() && !kind.example.is_empty() && !kind.title.is_empty(), "{}", kind.key);
            for field in kind.fields {
                assert!(!field.doc.is_empty(), "{}.{}", kind.key, field.key);
                let modifier = modifiers::ALL.iter().any(|modifier| modifier.key == field.key);
                assert!(!modifier, "`{}` of `{}` is a modifier too", field.key, kind.key);
            }
        }
    }

    #[test]
    fn action_keys_are_unique() {
        let mut keys: Vec<_> = kinds::ALL.iter().map(|kind| kind.key).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), kinds::ALL.len());
    }
}
