//! `notify`: tells someone.

use crate::catalog::Shape::{OneOrMany, Template, Text};
use crate::catalog::{StepKindEntry, field, required};

/// The kind.
pub const KIND: StepKindEntry = StepKindEntry {
    key: "notify",
    title: "sends a message",
    doc: "Sends a message through a channel: `owner`, `terminal`, `desktop`, `webhook`, `slack`, `email`,
`command`, or one in the settings.",
    shape: OneOrMany(&Text),
    fields: &[
        required("text", Template, "The message."),
        field("title", Template, "A headline."),
        field("to", Template, "The recipient, if the channel needs one."),
    ],
    example: r#"- id: done
  notify: owner
  text: "{{ task }} is done."
"#,
    work: true,
};
