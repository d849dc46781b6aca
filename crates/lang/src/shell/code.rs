//! Scans unquoted code: words, commands, redirections, comments, parentheses.

use super::ShellProblem;
use super::heredoc::Heredoc;
use super::line::Line;
use super::scan::{Close, Frame, Scanner};

impl Scanner<'_> {
    /// One step in code that is neither quoted nor substituted.
    pub(super) fn code(&mut self) {
        let Some(Frame::Code(line, close)) = self.frames.last() else { return };
        let (in_word, in_test, close) = (line.in_word(), line.in_test(), *close);
        match self.rest().as_bytes() {
            [b'\\', ..] => self.code_escape(),
            [b'\'', ..] => self.open(Frame::Single, 1),
            [b'"', ..] => self.open(Frame::Double, 1),
            [b'$', ..] => self.dollar(),
            [b'`', ..] if close == Close::Backtick => self.close_code(1),
            [b'`', ..] => self.open_code(Close::Backtick, 1),
            [b'#', ..] if !in_word => self.comment(close),
            [b'\n', ..] => self.newline(),
            [b' ' | b'\t' | b'\r', ..] => self.end_word(1),
            [b'<' | b'>', b'(', ..] => self.substitution(),
            [b'(' | b')' | b'<' | b'>' | b'|' | b'&' | b';', ..] if in_test => self.test_sign(),
            [b'<', b'<', b'<', ..] => self.redirect(3),
            [b'<', b'<', ..] => self.announce(),
            [b'<' | b'>', ..] => self.redirect(1),
            [b'&', b'>', ..] => self.redirect(2),
            [b'|', b'|', ..] | [b'&', b'&', ..] => self.end_command(2, false),
            [b'|', b'&', ..] => self.end_command(2, true),
            [b'|', ..] => self.pipe(),
            [b';', b';', ..] => self.end_case(),
            [b'&' | b';', ..] => self.end_command(1, false),
            [b'(', ..] => self.parenthesis(),
            [b')', ..] => self.end_parenthesis(close),
            _ => self.literal(),
        }
    }

    /// A backslash in code quotes one character. A value is quoted already.
    fn code_escape(&mut self) {
        if self.emits.first().is_some_and(|emit| emit.range.start == self.at + 1) {
            self.at += 1;
            return;
        }
        self.copy(1);
        if self.rest().starts_with('\n') {
            self.copy(1);
        } else {
            self.literal();
        }
    }

    fn comment(&mut self, close: Close) {
        while let Some(c) = self.rest().chars().next() {
            if c == '\n' || (c == '`' && close == Close::Backtick) {
                return;
            }
            match self.emit_here() {
                // A value in a comment is not needed, and could end the comment.
                Some(emit) => {
                    self.emits = self.emits.get(1..).unwrap_or_default();
                    self.at = emit.range.end;
                }
                None if self.template() => {}
                None => self.copy(c.len_utf8()),
            }
        }
    }

    fn end_word(&mut self, bytes: usize) {
        let at = self.at;
        if let Some((line, variables)) = self.line() {
            line.end_word(at, variables);
        }
        self.copy(bytes);
    }

    fn end_command(&mut self, bytes: usize, is_piped: bool) {
        self.end_line(is_piped);
        self.copy(bytes);
    }

    /// A sign with another meaning in `[[ … ]]`, unless the word before it ends the test.
    fn test_sign(&mut self) {
        self.end_word(0);
        if self.line().is_some_and(|(line, _)| line.in_test()) {
            self.copy(1);
        }
    }

    /// The end of a line ends a command, except after a pipe.
    fn newline(&mut self) {
        self.end_word(0);
        if self.line().is_some_and(|(line, _)| line.in_test() || (line.is_fresh() && line.is_piped())) {
            self.copy(1);
        } else {
            self.end_command(1, false);
        }
        self.begin_document();
    }

    /// `|` ends a command, or separates two patterns.
    fn pipe(&mut self) {
        if self.line().is_some_and(|(line, _)| line.in_pattern()) {
            self.end_word(1);
        } else {
            self.end_command(1, true);
        }
    }

    fn end_case(&mut self) {
        self.end_command(2, false);
        if let Some((line, _)) = self.line() {
            line.next_case();
        }
    }

    fn redirect(&mut self, bytes: usize) {
        let at = self.at;
        if let Some((line, variables)) = self.line() {
            // Of the redirections, only `<<<` has text for the program.
            line.redirect(bytes == 3, at, variables);
        }
        self.copy(bytes);
        while self.rest().starts_with(['>', '&', '|']) {
            self.copy(1);
        }
    }

    fn announce(&mut self) {
        let (doc, length) = Heredoc::announced(self.rest().get(2..).unwrap_or_default());
        let (at, number) = (self.at, self.announced());
        let is_read = self.line().is_some_and(|(line, variables)| {
            line.redirect(false, at, variables);
            line.document(number)
        });
        self.pending.push(Heredoc { number, is_read, ..doc });
        let end = self.at + 2 + length;
        while self.at < end {
            match self.emit_here() {
                Some(emit) => {
                    self.report(vec![emit.range.clone()], &ShellProblem::QuotedHeredoc);
                    self.emits = self.emits.get(1..).unwrap_or_default();
                    self.copy(emit.range.len());
                }
                None => drop(self.copy_one()),
            }
        }
    }

    /// `<(…)` and `>(…)`.
    fn substitution(&mut self) {
        let is_written = self.rest().starts_with('>');
        let input = self.line().filter(|_| is_written).map(|(line, _)| line.written()).unwrap_or_default();
        self.open(Frame::Code(Box::new(Line::fed(input)), Close::Parenthesis), 2);
    }

    fn parenthesis(&mut self) {
        let (is_arithmetic, is_function) = (self.rest().starts_with("(("), self.rest().starts_with("()"));
        let Some((line, variables)) = self.line() else { return };
        let word = line.word().to_owned();
        if line.in_pattern() && !line.in_word() {
            self.copy(1);
        } else if word.ends_with(['=', '?', '*', '+', '@', '!']) {
            self.open(Frame::Code(Box::new(Line::array()), Close::Parenthesis), 1);
        } else if is_arithmetic && !line.in_word() {
            self.open(Frame::Arithmetic(0), 2);
        } else if is_function && line.in_word() {
            // A command starts after it.
            line.define(variables);
            self.copy(2);
        } else {
            let input = line.flowing();
            if !line.is_fresh() {
                self.end_line(false);
            }
            self.copy(1);
            self.frames.push(Frame::Code(Box::new(Line::fed(input)), Close::Subshell));
        }
    }

    fn end_parenthesis(&mut self, close: Close) {
        let at = self.at;
        let Some((line, variables)) = self.line() else { return };
        if line.in_pattern() {
            line.end_pattern(at, variables);
            self.copy(1);
        } else if matches!(close, Close::Parenthesis | Close::Subshell) {
            self.close_code(1);
        } else {
            self.end_command(1, false);
        }
    }
}
