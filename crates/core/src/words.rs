//! Enums whose variants are written as one word each.

/// A text that is none of the words of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownWord {
    /// The text.
    pub word: String,
    /// The words that there are.
    pub known: &'static [&'static str],
}

impl std::fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` is not one of {}", self.word, self.known.join(", "))
    }
}

impl std::error::Error for UnknownWord {}

/// Declares an enum that is shown, parsed, stored and described by one word for each variant. A word after `|` is an older
/// one that is still read.
macro_rules! words {
    ($(#[$doc:meta])* $type:ident { $($(#[$of:meta])* $variant:ident = $word:literal $(| $older:literal)*,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $type {
            $($(#[$of])* $variant,)+
        }

        impl $type {
            /// Every value, in the order in which people read them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
            /// Every word, in the same order.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word for it.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::words::UnknownWord;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($word $(| $older)* => Ok(Self::$variant),)+
                    _ => Err($crate::words::UnknownWord { word: text.to_owned(), known: Self::WORDS }),
                }
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.word())
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(from)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        impl schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({"type": "string", "enum": Self::WORDS})
            }
        }
    };
}

pub(crate) use words;
