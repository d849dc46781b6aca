//! `notify`: tells someone.

use crate::catalog::Shape::{OneOrMany, Template, Text};
use crate::catalog::{Kind, field, required};

/// The kind.
pub const KIND: Kind = Kind {
    key: "notify",
    title: "tells someone",
    doc: "Tells someone through a channel: `owner`, `terminal`, `desktop`, `webhook`, `slack`, `email`,
`command`, or one that the project has configured.",
    shape: OneOrMany(&Text),
    fields: &[
        required("text", Template, "What is said."),
        field("title", Template, "A headline."),
        field("to", Template, "Whom, where the channel needs it."),
    ],
    example: r#"- id: done
  notify: owner
  text: "{{ task }} is done."
"#,
    work: true,
};
