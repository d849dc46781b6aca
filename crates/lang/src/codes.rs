//! The codes of all diagnostics, each with its page of the manual.

use crate::diagnostic::Code;

/// A code with its title and its page.
#[derive(Debug, Clone, Copy)]
pub struct CodeEntry {
    /// The code.
    pub code: Code,
    /// The page, Markdown.
    pub page: &'static str,
}

impl CodeEntry {
    /// The page's headline without the code.
    pub fn title(&self) -> &'static str {
        let first = self.page.lines().next().unwrap_or_default();
        first.split_once(": ").map_or(first, |(_, title)| title)
    }
}

macro_rules! codes {
    ($($code:literal)*) => {
        /// Every code, in order.
        pub const ALL: &[CodeEntry] =
            &[$(CodeEntry { code: $code, page: include_str!(concat!("../../../docs/errors/", $code, ".md")) }),*];
    };
}

codes! {
    "LH0101"
    "LH0102"
    "LH0103"
    "LH0104"
    "LH0105"
    "LH0106"
    "LH0107"
    "LH0108"
    "LH0109"
    "LH0110"
    "LH0201"
    "LH0202"
    "LH0203"
    "LH0204"
    "LH0205"
    "LH0206"
    "LH0207"
    "LH0208"
    "LH0209"
    "LH0210"
    "LH0211"
    "LH0212"
    "LH0213"
    "LH0214"
    "LH0215"
    "LH0216"
    "LH0217"
    "LH0218"
    "LH0219"
    "LH0301"
    "LH0302"
    "LH0303"
    "LH0304"
    "LH0305"
    "LH0306"
    "LH0307"
    "LH0308"
    "LH0309"
    "LH0310"
    "LH0311"
    "LH0312"
    "LH0313"
    "LH0314"
    "LH0315"
    "LH0316"
    "LH0317"
    "LH0318"
    "LH0319"
    "LH0320"
    "LH0321"
    "LH0401"
    "LH0402"
    "LH0403"
    "LH0404"
    "LH0405"
    "LH0406"
    "LH0407"
    "LH0408"
    "LH0409"
    "LH0410"
    "LH0411"
    "LH0412"
    "LH0413"
    "LH0414"
    "LH0415"
    "LH0416"
    "LH0417"
    "LH0418"
    "LH0419"
    "LH0501"
    "LH0502"
    "LH0503"
    "LH0504"
    "LH0505"
    "LH0506"
    "LH0507"
    "LH0508"
    "LH0509"
    "LH0510"
    "LH0511"
    "LH0512"
    "LH0513"
    "LH0514"
    "LH0515"
    "LH0516"
    "LH0602"
    "LH0603"
    "LH0604"
    "LH0605"
    "LH0701"
    "LH0702"
    "LH0703"
    "LH0704"
    "LH0705"
    "LH0706"
    "LH0707"
    "LH0708"
    "LH0709"
    "LH0710"
}

/// The entry of a code, in any case.
pub fn find(code: &str) -> Option<&'static CodeEntry> {
    ALL.iter().find(|entry| entry.code.eq_ignore_ascii_case(code))
}
