//! The quoting of a shell text, character by character.
//!
//! What is open is a stack: quotes, substitutions, here-documents. A value is written as the innermost
//! open thing asks for.
//!
//! **Invariant:** the scanner only moves forward, and whatever is not a template is copied as it is,
//! but for a `\` or `$` that would change the meaning of the reference after it.

use std::ops::Range;

use super::heredoc::Heredoc;
use super::line::{Judged, Line};
use super::variables::{self, Content, Variables};
use super::word::{Mark, UNKNOWN};
use super::{Finding, Kind, Lowered};
use crate::expr::Emit;

/// How often a text is read, at the most.
const READINGS_MAX: usize = 4;
const PROMPT_HELP: &str = "print it as it is: `${name}` without `@P`";

/// Something that is open.
pub(super) enum Frame {
    Code(Box<Line>, Close),
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
    /// A parenthesis around commands, not around what they print.
    Subshell,
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
    /// What is known of each here-document: whether it is program text, and the values in it.
    documents: Vec<(bool, Vec<Mark>)>,
    pub(super) variables: Variables,
    out: Lowered,
}

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str, emits: &'t [Emit], tags: &'t [Range<usize>], variables: Variables) -> Self {
        let frames = vec![Frame::Code(Box::default(), Close::Nothing)];
        let (pending, documents) = (Vec::new(), Vec::new());
        Self { text, emits, tags, at: 0, frames, pending, documents, variables, out: Lowered::default() }
    }

    /// Reads the text, and again for as long as more is learned of its variables.
    pub(super) fn run(self) -> Lowered {
        let (text, emits, tags) = (self.text, self.emits, self.tags);
        let mut before = self.variables.clone();
        let mut read = self.read();
        for _ in 1..READINGS_MAX {
            if read.1 == before {
                break;
            }
            before = read.1.clone();
            read = Self::new(text, emits, tags, read.1).read();
        }
        read.0
    }

    fn read(mut self) -> (Lowered, Variables) {
        while self.at < self.text.len() {
            if !self.template() {
                self.character();
            }
        }
        self.passed_over();
        // What was never closed is judged, too.
        while self.frames.len() > 1 {
            self.leave();
        }
        self.end_line(false);
        self.out.findings.sort_by_key(|finding| (finding.range.start, finding.range.end, !finding.is_certain));
        self.out.findings.dedup_by(|a, b| a.range == b.range);
        (self.out, self.variables)
    }

    /// The innermost open thing is over.
    fn leave(&mut self) {
        self.end_line(false);
        let Some(frame) = self.frames.pop() else { return };
        if let Frame::Code(line, close) = frame {
            self.hand_on(&line, close);
        }
    }

    /// What a piece of code printed goes to what is around it.
    fn hand_on(&mut self, line: &Line, close: Close) {
        let (at, marks) = (self.at, line.output());
        match self.around() {
            Some(Frame::Code(outer, _)) if close == Close::Subshell => outer.ran(&marks),
            Some(Frame::Code(outer, _)) => outer.printed(&marks, at),
            Some(Frame::Arithmetic(_)) => self.found(marks.into_iter().map(|mark| (mark, Kind::Arithmetic)).collect()),
            Some(Frame::Document(doc)) => {
                let number = doc.number;
                self.in_document(number, &marks);
            }
            _ => {}
        }
    }

    /// The end of the command that is being written; it is judged.
    pub(super) fn end_line(&mut self, is_piped: bool) {
        let at = self.at;
        let Some(Frame::Code(line, _)) = self.frames.last_mut() else { return };
        let Judged { found, documents } = line.end(is_piped, at, &mut self.variables);
        self.found(found);
        for number in documents {
            let Some((code, marks)) = self.documents.get_mut(number) else { continue };
            *code = true;
            let marks = std::mem::take(marks);
            self.in_document(number, &marks);
        }
    }

    /// Values in a here-document.
    fn in_document(&mut self, number: usize, marks: &[Mark]) {
        match self.documents.get_mut(number) {
            Some((true, _)) => {
                let kind = Kind::Code("write the value into a file or the environment, and read it there");
                self.found(marks.iter().map(|mark| (mark.clone(), kind.clone())).collect());
            }
            Some((false, known)) => known.extend_from_slice(marks),
            None => {}
        }
    }

    /// A here-document is announced; its number.
    pub(super) fn announced(&mut self) -> usize {
        self.documents.push((false, Vec::new()));
        self.documents.len() - 1
    }

    fn found(&mut self, found: Vec<(Mark, Kind)>) {
        for (mark, kind) in found {
            if let Some(is_certain) = kind.verdict(&mark) {
                self.out.findings.push(Finding { range: mark.range, kind, is_certain });
            }
        }
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

    /// The code whose words are being written, if it is not inside something else.
    pub(super) fn line(&mut self) -> Option<(&mut Line, &mut Variables)> {
        match self.frames.last_mut() {
            Some(Frame::Code(line, _)) => Some((line, &mut self.variables)),
            _ => None,
        }
    }

    /// What is open around the quotes and the `${…}` that are open.
    fn around(&mut self) -> Option<&mut Frame> {
        let passed =
            |frame: &&mut Frame| !matches!(frame, Frame::Single | Frame::Double | Frame::Ansi | Frame::Parameter);
        self.frames.iter_mut().rev().find(passed)
    }

    /// The code around the quotes that are open.
    fn outer_line(&mut self) -> Option<&mut Line> {
        let quote = |frame: &&mut Frame| matches!(frame, Frame::Single | Frame::Double | Frame::Ansi);
        match self.frames.iter_mut().rev().find(|frame| !quote(frame)) {
            Some(Frame::Code(line, _)) => Some(line),
            _ => None,
        }
    }

    pub(super) fn report(&mut self, ranges: Vec<Range<usize>>, kind: &Kind) {
        let found = |range| Finding { range, kind: kind.clone(), is_certain: true };
        self.out.findings.extend(ranges.into_iter().map(found));
    }

    pub(super) fn open(&mut self, frame: Frame, bytes: usize) {
        let at = self.at;
        if let Some(line) = self.outer_line() {
            line.touch(at);
        }
        self.copy(bytes);
        self.frames.push(frame);
    }

    fn close(&mut self, bytes: usize) {
        self.copy(bytes);
        self.frames.pop();
    }

    /// Code is over.
    pub(super) fn close_code(&mut self, bytes: usize) {
        self.end_line(false);
        self.copy(bytes);
        self.leave();
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
        if let Some(Frame::Document(Heredoc { quoted: true, .. })) = self.frames.last() {
            self.copy(emit.range.len());
            self.report(vec![emit.range.clone()], &Kind::QuotedHeredoc);
            return;
        }
        let expression = self.text.get(emit.expr.clone()).unwrap_or_default();
        let name = self.variable(expression);
        let reference = match self.frames.last() {
            Some(Frame::Code(..)) => format!("\"${name}\""),
            Some(Frame::Single) => format!("'\"${name}\"'"),
            Some(Frame::Ansi) => format!("'\"${name}\"$'"),
            _ => format!("${{{name}}}"),
        };
        self.out.script.push_str(&reference);
        if self.in_parameter() {
            return self.report(vec![emit.range.clone()], &Kind::ParameterExpansion);
        }
        match expression {
            _ if emit.is_number => self.harmless('1'),
            "run.dir" | "run.workflow_dir" | "run.id" => self.harmless(UNKNOWN),
            _ => self.holds(Mark::here(emit.range.clone())),
        }
    }

    /// A value that cannot be code: a number, or what the engine itself gives.
    fn harmless(&mut self, sign: char) {
        let at = self.at;
        if let Some(line) = self.outer_line() {
            line.push(sign, at);
        }
    }

    /// A value at the present place.
    fn holds(&mut self, mark: Mark) {
        let at = self.at;
        match self.around() {
            Some(Frame::Code(line, _)) => line.value(mark, at),
            Some(Frame::Arithmetic(_)) => self.found(vec![(mark, Kind::Arithmetic)]),
            Some(Frame::Document(doc)) => {
                let number = doc.number;
                if doc.is_read {
                    self.variables.fed = Some(false);
                }
                self.in_document(number, &[mark]);
            }
            _ => {}
        }
    }

    fn in_parameter(&self) -> bool {
        let quote = |frame: &&Frame| matches!(frame, Frame::Single | Frame::Double | Frame::Ansi);
        matches!(self.frames.iter().rev().find(|frame| !quote(frame)), Some(Frame::Parameter))
    }

    fn variable(&mut self, expression: &str) -> String {
        if let Some((name, _)) = self.out.bindings.iter().find(|(_, bound)| bound == expression) {
            return name.clone();
        }
        let name = format!("LH_{}", self.out.bindings.len() + 1);
        self.out.bindings.push((name.clone(), expression.to_owned()));
        name
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
        let at = self.at;
        let copied = self.copy_one();
        if let (Some(c), Some(line)) = (copied, self.outer_line()) {
            line.push(c, at);
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
            self.harmless('$');
        } else if rest.starts_with("$((") {
            self.open(Frame::Arithmetic(0), 3);
        } else if rest.starts_with("$(") {
            self.open_code(Close::Parenthesis, 2);
        } else if rest.starts_with("${") {
            self.braced();
            self.open(Frame::Parameter, 2);
        } else if rest.starts_with("$'") && code {
            self.open(Frame::Ansi, 2);
        } else if rest.starts_with("$$") {
            self.literal();
            self.literal();
        } else if variables::name_at(rest.get(1..).unwrap_or_default()).is_empty() {
            self.literal();
        } else {
            let name = variables::name_at(rest.get(1..).unwrap_or_default());
            self.expanded(name, self.at..self.at + 1 + name.len());
            self.copy(1 + name.len());
        }
    }

    /// `${…}`: what is in it, and what becomes of it.
    fn braced(&mut self) {
        let inner = self.rest().get(2..).unwrap_or_default();
        let indirect = inner.strip_prefix('!');
        let start = self.at + 2 + usize::from(indirect.is_some());
        let name = variables::name_at(indirect.unwrap_or(inner));
        let range = self.at..start + name.len();
        let after = self.text.get(range.end..).unwrap_or_default();
        let end = after.find('}').unwrap_or(after.len());
        let after = after.get(..end).unwrap_or_default();
        if let Content::Value(printed) = self.variables.content(name) {
            let mark = Mark { range: range.clone(), held: true, printed };
            match indirect {
                Some(_) => self.found(vec![(mark, Kind::VariableName)]),
                None if after.ends_with("@P") => self.found(vec![(mark, Kind::Code(PROMPT_HELP))]),
                None => {}
            }
        }
        let computed = match after.as_bytes() {
            [b'[', ..] => after.split(']').next().unwrap_or_default(),
            [b':', next, ..] if !b"-=?+".contains(next) => after,
            _ => "",
        };
        for (place, printed) in self.variables.computed(computed) {
            let range = range.end + place.start..range.end + place.end;
            self.found(vec![(Mark { range, held: true, printed }, Kind::Arithmetic)]);
        }
        match indirect {
            None if !inner.starts_with('#') => self.expanded(name, range),
            _ => self.harmless(UNKNOWN),
        }
    }

    /// A variable in the present place.
    fn expanded(&mut self, name: &str, range: Range<usize>) {
        let at = self.at;
        match self.variables.content(name) {
            Content::Value(printed) => self.holds(Mark { range, held: true, printed }),
            Content::Unknown => self.harmless(UNKNOWN),
            Content::Text(text) => {
                let text = text.to_owned();
                let is_split = matches!(self.frames.last(), Some(Frame::Code(..)));
                for c in text.chars() {
                    match self.line().filter(|_| is_split && c.is_whitespace()) {
                        Some((line, variables)) => line.end_word(at, variables),
                        None => self.harmless(c),
                    }
                }
            }
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
            [first, ..] if first.is_ascii_alphabetic() || *first == b'_' => self.name(),
            _ => drop(self.copy_one()),
        }
    }

    /// A name that is computed: what the variable holds takes its place.
    fn name(&mut self) {
        let name = variables::name_at(self.rest());
        let range = self.at..self.at + name.len();
        if let Content::Value(printed) = self.variables.content(name) {
            self.found(vec![(Mark { range, held: true, printed }, Kind::Arithmetic)]);
        }
        self.copy(name.len());
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
