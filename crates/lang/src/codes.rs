//! The codes of all diagnostics, each with its page of the manual.

use crate::diagnostic::Code;

/// A code, what it stands for, and its page.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The code.
    pub code: Code,
    /// The page, Markdown.
    pub page: &'static str,
}

impl Entry {
    /// The page's headline without the code.
    pub fn title(&self) -> &'static str {
        let first = self.page.lines().next().unwrap_or_default();
        first.split_once(": ").map_or(first, |(_, title)| title)
    }
}

macro_rules! codes {
    ($($code:literal)*) => {
        /// Every code, in order.
        pub const ALL: &[Entry] =
            &[$(Entry { code: $code, page: include_str!(concat!("../../../docs/errors/", $code, ".md")) }),*];
    };
}

codes! {}

/// The entry of a code, in any case.
pub fn find(code: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.code.eq_ignore_ascii_case(code))
}
