//! Here-documents: how one is announced, and where it ends.

/// A here-document that has been announced.
#[derive(Debug, Clone, Default)]
pub(super) struct Heredoc {
    pub(super) delimiter: String,
    /// Whether the delimiter has quotes, so that the shell replaces nothing in it.
    pub(super) quoted: bool,
    /// Whether tabs at the start of lines are taken away (`<<-`).
    pub(super) tabs: bool,
    /// What it is known by.
    pub(super) number: usize,
    /// Whether something reads it line by line.
    pub(super) is_read: bool,
}

impl Heredoc {
    /// Reads what follows `<<`; how long it is.
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

    /// Whether the text at the start of a line ends it; how long that line is.
    pub(super) fn ends_at(&self, rest: &str) -> Option<usize> {
        let line = rest.split('\n').next().unwrap_or_default();
        let bare = if self.tabs { line.trim_start_matches('\t') } else { line };
        (bare == self.delimiter).then_some(line.len())
    }
}
