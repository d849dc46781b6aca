//! Code as the scanner meets it: words, commands, redirections, comments, parentheses.

use super::Kind;
use super::command::Command;
use super::heredoc::Heredoc;
use super::scan::{Close, Frame, Scanner};

impl Scanner<'_> {
    /// One step of what is neither quoted nor substituted.
    pub(super) fn code(&mut self) {
        let Some(Frame::Code(command, close)) = self.frames.last() else { return };
        let (in_word, in_test, close) = (command.in_word(), command.in_test(), *close);
        match self.rest().as_bytes() {
            [b'\\', ..] => self.code_escape(),
            [b'\'', ..] => self.open(Frame::Single, 1),
            [b'"', ..] => self.open(Frame::Double, 1),
            [b'$', ..] => self.dollar(),
            [b'`', ..] if close == Close::Backtick => self.close_code(),
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

    /// A backslash in code quotes one character; a value is quoted already.
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
                // What nobody reads is not computed, and could end the comment.
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
        let computed = self.command().map(Command::end_word).unwrap_or_default();
        self.report(computed, &Kind::Arithmetic);
        self.copy(bytes);
    }

    fn end_command(&mut self, bytes: usize, piped: bool) {
        let code = self.command().map(|command| command.end(piped)).unwrap_or_default();
        self.report(code, &Kind::Eval);
        self.copy(bytes);
    }

    /// A sign that means something else in `[[ … ]]`, unless the word before it ends the test.
    fn test_sign(&mut self) {
        self.end_word(0);
        if self.command().is_some_and(|command| command.in_test()) {
            self.copy(1);
        }
    }

    fn newline(&mut self) {
        self.end_word(0);
        if self.command().is_some_and(|command| command.in_test()) {
            self.copy(1);
        } else {
            self.end_command(1, false);
        }
        self.begin_document();
    }

    /// `|` ends a command, or stands between two patterns.
    fn pipe(&mut self) {
        if self.command().is_some_and(|command| command.in_pattern()) {
            self.end_word(1);
        } else {
            self.end_command(1, true);
        }
    }

    fn end_case(&mut self) {
        self.end_command(2, false);
        if let Some(command) = self.command() {
            command.next_case();
        }
    }

    fn redirect(&mut self, bytes: usize) {
        if let Some(command) = self.command() {
            // Of the redirections only `<<<` has text for the program.
            command.redirect(bytes == 3);
        }
        self.copy(bytes);
        while self.rest().starts_with(['>', '&', '|']) {
            self.copy(1);
        }
    }

    fn announce(&mut self) {
        let (doc, length) = Heredoc::announced(self.rest().get(2..).unwrap_or_default());
        let code = self.command().is_some_and(|command| {
            command.redirect(false);
            command.end_redirect();
            command.reads_program()
        });
        self.pending.push(Heredoc { code, ..doc });
        let end = self.at + 2 + length;
        while self.at < end {
            match self.emit_here() {
                Some(emit) => {
                    self.report(vec![emit.range.clone()], &Kind::QuotedHeredoc);
                    self.emits = self.emits.get(1..).unwrap_or_default();
                    self.copy(emit.range.len());
                }
                None => drop(self.copy_one()),
            }
        }
    }

    /// `<(…)` and `>(…)`.
    fn substitution(&mut self) {
        let program = self.command().is_some_and(|command| command.reads_program());
        let inner = if program { Command::program() } else { Command::default() };
        self.open(Frame::Code(Box::new(inner), Close::Parenthesis), 2);
    }

    fn parenthesis(&mut self) {
        let arithmetic = self.rest().starts_with("((");
        let Some(command) = self.command() else { return };
        let word = command.word().to_owned();
        if command.in_pattern() && !command.in_word() {
            self.copy(1);
        } else if word.ends_with(['=', '?', '*', '+', '@', '!']) {
            self.open(Frame::Code(Box::new(Command::array()), Close::Parenthesis), 1);
        } else if arithmetic && !command.in_word() {
            self.open(Frame::Arithmetic(0), 2);
        } else {
            // A subshell, or the `()` of a function, after which a command starts.
            self.end_command(1, false);
            self.frames.push(Frame::Code(Box::default(), Close::Parenthesis));
        }
    }

    fn end_parenthesis(&mut self, close: Close) {
        let Some(command) = self.command() else { return };
        if command.in_pattern() {
            command.end_pattern();
            self.copy(1);
        } else if close == Close::Parenthesis {
            self.close_code();
        } else {
            self.end_command(1, false);
        }
    }

    fn close_code(&mut self) {
        self.end_command(1, false);
        self.frames.pop();
    }
}
