//! The quoting of a shell text, character by character.
//!
//! What is open is a stack: quotes, substitutions, here-documents. A value is written as the innermost
//! open thing asks for.
//!
//! **Invariant:** the scanner only moves forward, and whatever is not a template is copied as it is,
//! but for a `\` or `$` that would change the meaning of the reference after it.

use std::ops::Range;

use super::command::Command;
use super::heredoc::Heredoc;
use super::{Finding, Kind, Lowered};
use crate::expr::Emit;

/// Something that is open.
pub(super) enum Frame {
    Code(Box<Command>, Close),
    Single,
    Double,
    /// `$'…'`
    Ansi,
    /// `$((…))` or `((…))`, with the parentheses that are open in it.
    Arithmetic(usize),
    /// `${…}`
    Parameter,
    Document(Heredoc),
}

/// What ends code.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Close {
    Nothing,
    Parenthesis,
    Backtick,
}

pub(super) struct Scanner<'t> {
    text: &'t str,
    pub(super) emits: &'t [Emit],
    tags: &'t [Range<usize>],
    pub(super) at: usize,
    pub(super) frames: Vec<Frame>,
    /// Announced here-documents whose text has not begun.
    pub(super) pending: Vec<Heredoc>,
    out: Lowered,
}

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str, emits: &'t [Emit], tags: &'t [Range<usize>]) -> Self {
        let frames = vec![Frame::Code(Box::default(), Close::Nothing)];
        Self { text, emits, tags, at: 0, frames, pending: Vec::new(), out: Lowered::default() }
    }

    pub(super) fn run(mut self) -> Lowered {
        while self.at < self.text.len() {
            if !self.template() {
                self.character();
            }
        }
        self.passed_over();
        let last = self.command().map(|command| command.end(false)).unwrap_or_default();
        self.report(last, &Kind::Eval);
        self.out.findings.sort_by_key(|finding| finding.range.start);
        self.out.findings.dedup_by(|a, b| a.range == b.range);
        self.out
    }

    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Copies the next `bytes` bytes.
    pub(super) fn copy(&mut self, bytes: usize) {
        let end = (self.at + bytes).min(self.text.len());
        self.out.script.push_str(self.text.get(self.at..end).unwrap_or_default());
        self.at = end;
    }

    /// Copies a character, whatever it is.
    pub(super) fn copy_one(&mut self) -> Option<char> {
        let c = self.rest().chars().next()?;
        self.copy(c.len_utf8());
        Some(c)
    }

    /// The command whose words are being written, if the innermost code is not inside something else.
    pub(super) fn command(&mut self) -> Option<&mut Command> {
        match self.frames.last_mut() {
            Some(Frame::Code(command, _)) => Some(command),
            _ => None,
        }
    }

    /// The command around the quotes that are open.
    fn outer_command(&mut self) -> Option<&mut Command> {
        let quote = |frame: &&mut Frame| matches!(frame, Frame::Single | Frame::Double | Frame::Ansi);
        match self.frames.iter_mut().rev().find(|frame| !quote(frame)) {
            Some(Frame::Code(command, _)) => Some(command),
            _ => None,
        }
    }

    pub(super) fn report(&mut self, ranges: Vec<Range<usize>>, kind: &Kind) {
        self.out.findings.extend(ranges.into_iter().map(|range| Finding { range, kind: kind.clone() }));
    }

    pub(super) fn open(&mut self, frame: Frame, bytes: usize) {
        if let Some(command) = self.outer_command() {
            command.touch();
        }
        self.copy(bytes);
        self.frames.push(frame);
    }

    fn close(&mut self, bytes: usize) {
        self.copy(bytes);
        self.frames.pop();
    }

    pub(super) fn open_code(&mut self, close: Close, bytes: usize) {
        self.open(Frame::Code(Box::default(), close), bytes);
    }

    // Templates.

    pub(super) fn emit_here(&self) -> Option<&'t Emit> {
        self.emits.first().filter(|emit| emit.range.start == self.at)
    }

    /// Takes a template, if one starts here.
    pub(super) fn template(&mut self) -> bool {
        self.passed_over();
        if let Some(emit) = self.emit_here() {
            self.emits = self.emits.get(1..).unwrap_or_default();
            self.value(emit);
            self.at = emit.range.end;
            return true;
        }
        let Some(tag) = self.tags.first().filter(|tag| tag.start == self.at) else { return false };
        self.tags = self.tags.get(1..).unwrap_or_default();
        if !is_raw(self.text.get(tag.clone()).unwrap_or_default()) {
            self.report(vec![tag.clone()], &Kind::Tag(tag.clone()));
        }
        self.at = tag.end;
        true
    }

    /// A template whose start was taken for something else is reported, never lost.
    fn passed_over(&mut self) {
        while let Some(emit) = self.emits.first().filter(|emit| emit.range.start < self.at) {
            self.report(vec![emit.range.clone()], &Kind::QuotedHeredoc);
            self.emits = self.emits.get(1..).unwrap_or_default();
        }
        while let Some(tag) = self.tags.first().filter(|tag| tag.start < self.at) {
            self.report(vec![tag.clone()], &Kind::Tag(tag.clone()));
            self.tags = self.tags.get(1..).unwrap_or_default();
        }
    }

    fn value(&mut self, emit: &Emit) {
        let kind = self.problem(emit);
        if let Some(Frame::Document(Heredoc { quoted: true, .. })) = self.frames.last() {
            self.copy(emit.range.len());
            self.report(vec![emit.range.clone()], &Kind::QuotedHeredoc);
            return;
        }
        let name = self.variable(self.text.get(emit.expr.clone()).unwrap_or_default());
        let reference = match self.frames.last() {
            Some(Frame::Code(..)) => format!("\"${name}\""),
            Some(Frame::Single) => format!("'\"${name}\"'"),
            Some(Frame::Ansi) => format!("'\"${name}\"$'"),
            _ => format!("${{{name}}}"),
        };
        self.out.script.push_str(&reference);
        if let Some(kind) = kind {
            self.report(vec![emit.range.clone()], &kind);
        }
    }

    fn variable(&mut self, expression: &str) -> String {
        if let Some((name, _)) = self.out.bindings.iter().find(|(_, bound)| bound == expression) {
            return name.clone();
        }
        let name = format!("LH_{}", self.out.bindings.len() + 1);
        self.out.bindings.push((name.clone(), expression.to_owned()));
        name
    }

    /// What is wrong with a value here.
    fn problem(&mut self, emit: &Emit) -> Option<Kind> {
        let around = self.frames.iter().any(|frame| match frame {
            Frame::Code(command, _) => command.role() == Some(Kind::Eval),
            Frame::Document(doc) => doc.code,
            _ => false,
        });
        let here = match self
            .frames
            .iter()
            .rev()
            .find(|frame| !matches!(frame, Frame::Single | Frame::Double | Frame::Ansi))
        {
            Some(Frame::Arithmetic(_)) => Some(Kind::Arithmetic),
            Some(Frame::Parameter) => Some(Kind::ParameterExpansion),
            _ => self.outer_command().and_then(|command| command.value(&emit.range)),
        };
        here.or(around.then_some(Kind::Eval))
    }

    // Characters.

    fn character(&mut self) {
        match self.frames.last() {
            None | Some(Frame::Code(..)) => self.code(),
            Some(Frame::Single) => match self.rest().starts_with('\'') {
                true => self.close(1),
                false => self.literal(),
            },
            Some(Frame::Double) => self.double(),
            Some(Frame::Ansi) => match self.rest().as_bytes().first() {
                Some(b'\\') => self.escape(),
                Some(b'\'') => self.close(1),
                _ => self.literal(),
            },
            Some(Frame::Arithmetic(depth)) => self.arithmetic(*depth),
            Some(Frame::Parameter) => self.parameter(),
            Some(Frame::Document(_)) => self.document(),
        }
    }

    /// A character that means itself.
    pub(super) fn literal(&mut self) {
        let copied = self.copy_one();
        if let (Some(c), Some(command)) = (copied, self.outer_command()) {
            command.push(c);
        }
    }

    /// A backslash outside of code: before a value it has to be a backslash still.
    fn escape(&mut self) {
        self.copy(1);
        if self.emit_here().is_some() {
            self.out.script.push('\\');
        } else {
            self.literal();
        }
    }

    /// What a `$` starts, if it starts something.
    pub(super) fn dollar(&mut self) {
        let rest = self.rest();
        let code = matches!(self.frames.last(), Some(Frame::Code(..)));
        if self.emits.first().is_some_and(|emit| emit.range.start == self.at + 1) {
            // `$` and a reference would be read as one thing.
            let sign = match self.frames.last() {
                Some(Frame::Code(..)) => "'$'",
                Some(Frame::Double) => "\"'$'\"",
                _ => "\\$",
            };
            self.out.script.push_str(sign);
            self.at += 1;
            if let Some(command) = self.outer_command() {
                command.push('$');
            }
        } else if rest.starts_with("$((") {
            self.open(Frame::Arithmetic(0), 3);
        } else if rest.starts_with("$(") {
            self.open_code(Close::Parenthesis, 2);
        } else if rest.starts_with("${") {
            self.open(Frame::Parameter, 2);
        } else if rest.starts_with("$'") && code {
            self.open(Frame::Ansi, 2);
        } else if rest.starts_with("$$") {
            self.literal();
            self.literal();
        } else {
            self.literal();
        }
    }

    fn double(&mut self) {
        match self.rest().as_bytes().first() {
            Some(b'"') => self.close(1),
            Some(b'\\') => self.escape(),
            Some(b'$') => self.dollar(),
            Some(b'`') => self.open_code(Close::Backtick, 1),
            _ => self.literal(),
        }
    }

    fn arithmetic(&mut self, depth: usize) {
        match self.rest().as_bytes() {
            [b')', b')', ..] if depth == 0 => self.close(2),
            [b')', ..] if depth == 0 => self.close(1),
            [paren @ (b'(' | b')'), ..] => {
                let depth = if *paren == b'(' { depth + 1 } else { depth - 1 };
                self.frames.pop();
                self.frames.push(Frame::Arithmetic(depth));
                self.copy(1);
            }
            [b'$', ..] => self.dollar(),
            [b'`', ..] => self.open_code(Close::Backtick, 1),
            [b'"', ..] => self.open(Frame::Double, 1),
            [b'\\', ..] => self.escape(),
            _ => drop(self.copy_one()),
        }
    }

    fn parameter(&mut self) {
        let below = self.frames.len().checked_sub(2).and_then(|below| self.frames.get(below));
        let quoted = matches!(below, Some(Frame::Double | Frame::Document(_)));
        match self.rest().as_bytes().first() {
            Some(b'}') => self.close(1),
            Some(b'$') => self.dollar(),
            Some(b'`') => self.open_code(Close::Backtick, 1),
            Some(b'"') => self.open(Frame::Double, 1),
            Some(b'\'') if !quoted => self.open(Frame::Single, 1),
            Some(b'\\') => self.escape(),
            _ => drop(self.copy_one()),
        }
    }

    fn document(&mut self) {
        let Some(Frame::Document(doc)) = self.frames.last() else { return };
        let line_starts = self.at == 0 || self.text.as_bytes().get(self.at - 1) == Some(&b'\n');
        let end = if line_starts { doc.ends_at(self.rest()) } else { None };
        if let Some(length) = end {
            self.copy(length);
            self.frames.pop();
            return self.begin_document();
        }
        match self.rest().as_bytes().first() {
            _ if doc.quoted => drop(self.copy_one()),
            Some(b'\\') => self.escape(),
            Some(b'$') => self.dollar(),
            Some(b'`') => self.open_code(Close::Backtick, 1),
            _ => drop(self.copy_one()),
        }
    }

    /// After a line that announced here-documents.
    pub(super) fn begin_document(&mut self) {
        if !self.pending.is_empty() {
            if self.rest().starts_with('\n') {
                self.copy(1);
            }
            let next = self.pending.remove(0);
            self.frames.push(Frame::Document(next));
        }
    }
}

/// `{% raw %}` and `{% endraw %}` are how a script says what looks like a template.
fn is_raw(tag: &str) -> bool {
    let inner = tag.trim_start_matches("{%").trim_end_matches("%}").trim_matches(['-', '+']).trim();
    matches!(inner, "raw" | "endraw")
}
