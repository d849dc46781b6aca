//! Draws frames one over the other, below whatever was printed before.
//!
//! **Invariant:** what stands above the frame is never touched, so the history of the terminal stays whole; a frame is at most as high as the
//! terminal, and when the terminal gets narrower, the rows that the last frame takes now are counted again.

use super::line::Line;
use super::terminal;

/// Begins and ends what a terminal shows at once, if it knows how.
const BEGIN: &str = "\x1b[?2026h";
const END: &str = "\x1b[?2026l";

/// What was drawn.
#[derive(Debug, Default)]
pub(crate) struct Painter {
    /// How wide each line of the last frame is.
    drawn: Vec<usize>,
    last: String,
}

impl Painter {
    /// Draws a frame in the place of the last one.
    pub(crate) fn draw(&mut self, lines: &[Line], columns: usize) {
        let text = self.frame(lines, columns);
        if let Some(text) = text {
            terminal::write(&text);
        }
    }

    /// Prints lines above the frame, which is to be drawn again.
    pub(crate) fn print(&mut self, lines: &[Line], columns: usize) {
        if lines.is_empty() {
            return;
        }
        let mut text = self.back(columns);
        text.push_str("\x1b[J");
        lines.iter().for_each(|line| text.push_str(&format!("{}\n", line.ansi())));
        self.drawn.clear();
        self.last.clear();
        terminal::write(&text);
    }

    /// Leaves the last frame where it is, and the cursor below it.
    pub(crate) fn leave(&mut self) {
        if !self.drawn.is_empty() {
            terminal::write("\n");
        }
        *self = Self::default();
    }

    /// Takes the last frame away.
    pub(crate) fn clear(&mut self, columns: usize) {
        let text = format!("{}\x1b[J", self.back(columns));
        *self = Self::default();
        terminal::write(&text);
    }

    /// What draws the frame; nothing if it is there already.
    fn frame(&mut self, lines: &[Line], columns: usize) -> Option<String> {
        let body: Vec<String> = lines.iter().map(|line| format!("{}\x1b[K", line.ansi())).collect();
        let body = body.join("\n");
        if body == self.last {
            return None;
        }
        let text = format!("{BEGIN}{}{body}\x1b[J{END}", self.back(columns));
        self.drawn = lines.iter().map(Line::width).collect();
        self.last = body;
        Some(text)
    }

    /// Goes to the first column of the first line of the last frame.
    fn back(&self, columns: usize) -> String {
        let rows: usize = self.drawn.iter().map(|width| width.max(&1).div_ceil(columns.max(1))).sum();
        match rows {
            0 => String::new(),
            1 => "\r".to_owned(),
            rows => format!("\r\x1b[{}A", rows - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::line::Tone;
    use super::*;

    fn lines(texts: &[&str]) -> Vec<Line> {
        texts.iter().map(|text| Line::of(Tone::Plain, text)).collect()
    }

    #[test]
    fn a_frame_is_drawn_over_the_last_one_and_only_if_it_differs() {
        let mut painter = Painter::default();
        assert_eq!(painter.frame(&lines(&["ab", "c"]), 10).unwrap(), format!("{BEGIN}ab\x1b[K\nc\x1b[K\x1b[J{END}"));
        assert_eq!(painter.frame(&lines(&["ab", "c"]), 10), None);
        assert_eq!(painter.frame(&lines(&["d"]), 10).unwrap(), format!("{BEGIN}\r\x1b[1Ad\x1b[K\x1b[J{END}"));
        assert_eq!(painter.frame(&lines(&["e"]), 10).unwrap(), format!("{BEGIN}\re\x1b[K\x1b[J{END}"));
    }

    #[test]
    fn a_terminal_that_got_narrower_has_broken_the_lines_in_pieces() {
        let mut painter = Painter::default();
        painter.frame(&lines(&["abcdefgh", "ab"]), 10);
        assert_eq!(painter.back(3), "\r\x1b[3A");
    }
}
