//! The names of stored things: events, messages, workers, and bytes by their content.
//!
//! **Invariant:** a printed [`EventId`] or [`Hash`] reads back as the same value.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The id of an event. The client makes it before the append. It is unique in the store and printed as 32 hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EventId(pub u128);

/// The BLAKE3 hash of bytes, printed as 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Hash(pub [u8; 32]);

/// The id of a message. Later messages of a store have greater ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MessageId(pub i64);

/// The id of one life of a worker process. A worker that starts again takes a new one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WorkerId(pub String);

/// A text is not an [`EventId`] or a [`Hash`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected {0} lower-case hex digits")]
pub struct NotHex(usize);

impl Hash {
    /// The hash of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }
}

impl WorkerId {
    /// A worker by name.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash({self})")
    }
}

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for EventId {
    type Err = NotHex;

    fn from_str(text: &str) -> Result<Self, NotHex> {
        let digits = lower_hex(text, 32)?;
        u128::from_str_radix(digits, 16).map(Self).map_err(|_| NotHex(32))
    }
}

impl FromStr for Hash {
    type Err = NotHex;

    fn from_str(text: &str) -> Result<Self, NotHex> {
        let digits = lower_hex(text, 64)?;
        let mut bytes = [0; 32];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).map_err(|_| NotHex(64))?;
        }
        Ok(Self(bytes))
    }
}

/// Accepts only lower case, so that two texts are equal exactly when the values are.
fn lower_hex(text: &str, digits: usize) -> Result<&str, NotHex> {
    let good = text.len() == digits && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    good.then_some(text).ok_or(NotHex(digits))
}

macro_rules! text_in_serde {
    ($type:ident) => {
        impl TryFrom<String> for $type {
            type Error = NotHex;

            fn try_from(text: String) -> Result<Self, NotHex> {
                text.parse()
            }
        }

        impl From<$type> for String {
            fn from(key: $type) -> String {
                key.to_string()
            }
        }
    };
}

text_in_serde!(EventId);
text_in_serde!(Hash);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_printed_reads_back(id: u128, bytes: [u8; 32]) {
            prop_assert_eq!(EventId(id).to_string().parse(), Ok(EventId(id)));
            prop_assert_eq!(Hash(bytes).to_string().parse(), Ok(Hash(bytes)));
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "+0000000000000000000000000000001", "0000000000000000000000000000000A", "0", "é"] {
            assert_eq!(text.parse::<EventId>(), Err(NotHex(32)), "{text}");
            assert_eq!(text.parse::<Hash>(), Err(NotHex(64)), "{text}");
        }
    }
}
