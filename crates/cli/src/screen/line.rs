//! A line of the screen: pieces of text, each with a tone.
//!
//! **Invariant:** a piece contains no control characters and no line break.

use anstyle::{AnsiColor, Style};
use longhaul_lang::diagnostic::plain;

use crate::width;

/// The look of a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Tone {
    #[default]
    Plain,
    Dim,
    Bold,
    Good,
    Bad,
    Alive,
    /// The row at the cursor.
    Chosen,
}

impl Tone {
    fn style(self) -> Style {
        let colour = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
        match self {
            Self::Plain => Style::new(),
            Self::Dim => Style::new().dimmed(),
            Self::Bold => Style::new().bold(),
            Self::Good => colour(AnsiColor::Green),
            Self::Bad => colour(AnsiColor::Red),
            Self::Alive => colour(AnsiColor::Cyan),
            Self::Chosen => Style::new().invert(),
        }
    }
}

/// A piece of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    tone: Tone,
    text: String,
}

/// A line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Line(Vec<Span>);

impl Line {
    /// The line with one more piece.
    pub(crate) fn with(mut self, tone: Tone, text: &str) -> Self {
        self.0.push(Span { tone, text: plain(&text.replace('\t', "    ")) });
        self
    }

    /// A line of one piece.
    pub(crate) fn of(tone: Tone, text: &str) -> Self {
        Self::default().with(tone, text)
    }

    pub(crate) fn width(&self) -> usize {
        self.0.iter().map(|span| width::of(&span.text)).sum()
    }

    /// The line cut to `most` columns.
    pub(crate) fn cut(mut self, most: usize) -> Self {
        let mut left = most;
        for span in &mut self.0 {
            span.text = width::cut(&span.text, left);
            left = left.saturating_sub(width::of(&span.text));
        }
        self.0.retain(|span| !span.text.is_empty());
        self
    }

    /// The line cut or padded to `columns` columns.
    pub(crate) fn fit(self, columns: usize) -> Self {
        let line = self.cut(columns);
        let missing = columns.saturating_sub(line.width());
        line.with(Tone::Plain, &" ".repeat(missing))
    }

    /// The whole line in one tone.
    pub(crate) fn toned(mut self, tone: Tone) -> Self {
        self.0.iter_mut().for_each(|span| span.tone = tone);
        self
    }

    /// This line followed by another one.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// The line with the codes for a terminal.
    pub(crate) fn ansi(&self) -> String {
        let piece = |span: &Span| {
            let style = span.tone.style();
            format!("{style}{}{style:#}", span.text)
        };
        self.0.iter().map(piece).collect()
    }

    /// The text without tones.
    #[cfg(test)]
    pub(crate) fn text(&self) -> String {
        let text: String = self.0.iter().map(|span| span.text.as_str()).collect();
        text.trim_end().to_owned()
    }
}
