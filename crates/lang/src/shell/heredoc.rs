//! Here-documents: their start and their end.

/// A here-document that was announced.
#[derive(Debug, Clone, Default)]
pub(super) struct Heredoc {
    pub(super) delimiter: String,
    /// Whether the delimiter is quoted, so that the shell replaces nothing in it.
    pub(super) quoted: bool,
    /// Whether leading tabs are removed (`<<-`).
    pub(super) tabs: bool,
    /// The number of the document.
    pub(super) number: usize,
    /// Whether a command reads it line by line.
    pub(super) is_read: bool,
}

impl Heredoc {
    /// Reads the text after `<<`; returns its length.
    pub(super) fn announced(rest: &str) -> (Self, usize) {
        let mut doc = Self { tabs: rest.starts_with('-'), ..Self::default() };
        let mut chars = rest.char_indices().skip(usize::from(doc.tabs)).peekable();
        while chars.next_if(|(_, c)| matches!(c, ' ' | '\t')).is_some() {}
        let mut quote = None;
        while let Some((at, c)) = chars.next() {
            match (c, quote) {
                (c, Some(open)) if c == open => quote = None,
                (c, Some(_)) => doc.delimiter.push(c),
                ('\'' | '"', None) => {
                    quote = Some(c);
                    doc.quoted = true;
                }
                ('\\', None) => {
                    doc.quoted = true;
                    doc.delimiter.extend(chars.next().map(|(_, c)| c));
                }
                (c, None) if c.is_whitespace() || ";&|<>()".contains(c) => return (doc, at),
                (c, None) => doc.delimiter.push(c),
            }
        }
        (doc, rest.len())
    }

    /// Whether the line ends the document; returns the length of the line.
    pub(super) fn ends_at(&self, rest: &str) -> Option<usize> {
        let line = rest.split('\n').next().unwrap_or_default();
        let bare = if self.tabs { line.trim_start_matches('\t') } else { line };
        (bare == self.delimiter).then_some(line.len())
    }
}
