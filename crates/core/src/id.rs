//! Ids that people type: of steps, of named values, of runs.
//!
//! **Invariant:** a [`StepId`], [`Name`] or [`RunId`] follows its grammar, so it can stand in a path, a file name or
//! a template without escaping.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The longest id, in characters.
pub const ID_CHARS_MAX: usize = 80;

macro_rules! checked_text {
    ($(#[$doc:meta])* $type:ident, $valid:path) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(try_from = "String", into = "String")]
        #[schemars(with = "String")]
        pub struct $type(String);

        impl $type {
            /// Accepts `text` if it follows the grammar.
            pub fn new(text: impl Into<String>) -> Option<Self> {
                let text = text.into();
                $valid(&text).then_some(Self(text))
            }

            /// The text itself.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $type {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                $type::new(text).ok_or_else(|| concat!("not a valid ", stringify!($type)).to_owned())
            }
        }

        impl From<$type> for String {
            fn from(id: $type) -> String {
                id.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

checked_text!(
    /// The id of a step, unique in its body: `[A-Za-z0-9_-]{1,80}`.
    StepId,
    is_step_id
);

checked_text!(
    /// A name that templates can read: `[A-Za-z_][A-Za-z0-9_]{0,79}`.
    Name,
    is_name
);

checked_text!(
    /// The id of a run: lower-case letters, digits and single dashes between them, 4 to 40 characters.
    RunId,
    is_run_id
);

/// The prefix of the ids of Longhaul's own journals.
const RESERVED: &str = "longhaul-";

impl RunId {
    /// Whether this is the id of one of Longhaul's own journals. No run can have such an id.
    pub fn is_reserved(&self) -> bool {
        self.0.starts_with(RESERVED)
    }
}

/// Whether `text` can be the id of a step.
pub fn is_step_id(text: &str) -> bool {
    (1..=ID_CHARS_MAX).contains(&text.len()) && text.bytes().all(|b| is_word(b) || b == b'-')
}

/// Whether `text` can name a value.
pub fn is_name(text: &str) -> bool {
    (1..=ID_CHARS_MAX).contains(&text.len())
        && text.bytes().all(is_word)
        && !text.starts_with(|c: char| c.is_ascii_digit())
}

/// Whether `text` can be the id of a run.
pub fn is_run_id(text: &str) -> bool {
    let plain = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    (4..=40).contains(&text.len()) && text.split('-').all(plain)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_follow_their_grammar() {
        assert!(is_step_id("red-2_x") && is_step_id("3"));
        assert!(!is_step_id("") && !is_step_id("a b") && !is_step_id("a/b") && !is_step_id("é"));
        assert!(!is_step_id(&"x".repeat(81)));
        assert!(is_name("_a1") && !is_name("1a") && !is_name("a-b"));
    }

    #[test]
    fn ids_of_runs_are_lower_case_words_between_single_dashes() {
        assert!(is_run_id("0abc") && is_run_id("brave-fox-17") && is_run_id(&"x".repeat(40)));
        assert!(!is_run_id("abc") && !is_run_id(&"x".repeat(41)) && !is_run_id("Abcd") && !is_run_id("a_bc"));
        assert!(!is_run_id("-abcd") && !is_run_id("abcd-") && !is_run_id("ab--cd") && !is_run_id("../abc"));
    }

    #[test]
    fn an_invalid_id_is_refused_when_read_back() {
        assert!(serde_json::from_str::<StepId>("\"../x\"").is_err());
        assert!(serde_json::from_str::<StepId>("\"ok\"").is_ok());
    }
}
