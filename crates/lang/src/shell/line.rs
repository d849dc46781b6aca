//! The commands of a piece of code as they are written: words, pipes, groups.
//!
//! **Invariant:** a command is judged when it is complete, with all that is fed to it; its values are then those of whatever
//! takes what it prints.

use super::judge::{self, Judge};
use super::programs;
use super::variables::Variables;
use super::word::{Mark, UNKNOWN, Word, few};

/// Words after which a command starts.
const KEYWORDS: &[&str] = &["then", "elif", "else", "do", "!", "time", "coproc"];
/// Words that open a group, after which a command starts.
const OPENERS: &[&str] = &["if", "while", "until", "{"];
/// Words that open a group and have words of their own.
const NAMED_OPENERS: &[&str] = &["for", "select", "case"];
/// Words that close a group.
const CLOSERS: &[&str] = &["fi", "done", "}", "esac"];

/// What the next word is for.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Redirect {
    #[default]
    Nothing,
    /// It names a file.
    File,
    /// It is the input.
    Text,
}

/// One command.
#[derive(Debug, Default)]
struct Simple {
    words: Vec<Word>,
    /// Values that it is fed by itself.
    fed: Vec<Mark>,
    /// Values of commands inside it.
    inner: Vec<Mark>,
    /// Here-documents that it is fed.
    documents: Vec<usize>,
}

/// An open group: what was written before it in its pipe, and what has been seen before it.
#[derive(Debug, Default)]
struct Group {
    upstream: Upstream,
    seen: usize,
}

/// What flows into the next command of a pipe.
#[derive(Debug, Default, Clone)]
struct Upstream {
    marks: Vec<Mark>,
    documents: Vec<usize>,
    /// Whether all commands so far give on what they are given.
    passes: Option<bool>,
}

/// What is known when a command is complete.
#[derive(Debug, Default)]
pub(super) struct Judged {
    pub(super) found: Vec<(Mark, super::Kind)>,
    /// Here-documents that are program text.
    pub(super) documents: Vec<usize>,
}

/// The commands of a piece of code.
#[derive(Debug, Default)]
pub(super) struct Line {
    word: Word,
    in_word: bool,
    now: Simple,
    redirect: Redirect,
    upstream: Upstream,
    groups: Vec<Group>,
    /// What is fed to all of it.
    input: Vec<Mark>,
    /// All values so far.
    seen: Vec<Mark>,
    /// Whether all commands so far give on what they are given.
    passes: Option<bool>,
    /// Whether the words are those of an array.
    is_array: bool,
    in_test: bool,
    in_pattern: bool,
}

impl Line {
    /// The words of an array or a pattern: none of them runs.
    pub(super) fn array() -> Self {
        Self { is_array: true, ..Self::default() }
    }

    /// Commands that are fed values.
    pub(super) fn fed(input: Vec<Mark>) -> Self {
        Self { input, ..Self::default() }
    }

    pub(super) fn in_word(&self) -> bool {
        self.in_word
    }

    pub(super) fn in_test(&self) -> bool {
        self.in_test
    }

    pub(super) fn in_pattern(&self) -> bool {
        self.in_pattern
    }

    /// Whether no word of a command has been written.
    pub(super) fn is_fresh(&self) -> bool {
        !self.in_word && self.now.words.is_empty() && self.redirect == Redirect::Nothing
    }

    /// Whether what was written last was a pipe.
    pub(super) fn is_piped(&self) -> bool {
        self.upstream.passes.is_some()
    }

    /// The literal part of the present word.
    pub(super) fn word(&self) -> &str {
        &self.word.text
    }

    /// A word begins or continues.
    pub(super) fn touch(&mut self, at: usize) {
        if !std::mem::replace(&mut self.in_word, true) {
            self.word.range = at..at;
        }
    }

    pub(super) fn push(&mut self, c: char, at: usize) {
        self.touch(at);
        self.word.text.push(c);
    }

    /// A value in the present word.
    pub(super) fn value(&mut self, mark: Mark, at: usize) {
        self.touch(at);
        self.word.value(mark);
    }

    /// Values that something inside the present word has printed.
    pub(super) fn printed(&mut self, marks: &[Mark], at: usize) {
        self.touch(at);
        self.word.text.push(UNKNOWN);
        self.word.values(marks);
    }

    /// Commands in parentheses are over.
    pub(super) fn ran(&mut self, marks: &[Mark]) {
        self.now.inner.extend_from_slice(few(marks));
        self.seen.extend_from_slice(few(marks));
    }

    /// All values so far, as what a substitution prints.
    pub(super) fn output(&self) -> Vec<Mark> {
        let printed = !self.is_array && !self.passes.unwrap_or(true);
        let held = !self.is_array;
        few(&self.seen)
            .iter()
            .map(|mark| Mark { printed: mark.printed | printed, held: mark.held | (held && !printed), ..mark.clone() })
            .collect()
    }

    /// What flows into a command that begins here.
    pub(super) fn flowing(&self) -> Vec<Mark> {
        let outer = self.groups.last().map(|group| &group.upstream.marks).filter(|marks| !marks.is_empty());
        let own = Some(&self.upstream.marks).filter(|marks| !marks.is_empty());
        few(own.or(outer).unwrap_or(&self.input)).to_vec()
    }

    /// What the command gives to something that it writes to.
    pub(super) fn written(&self) -> Vec<Mark> {
        let words = self.now.words.iter().flat_map(|word| word.marks.iter().cloned());
        few(&words.chain(self.flowing()).collect::<Vec<Mark>>()).to_vec()
    }

    /// A redirection: the next word is its target.
    pub(super) fn redirect(&mut self, is_text: bool, at: usize, variables: &mut Variables) {
        if !self.word.text.is_empty() && self.word.text.bytes().all(|byte| byte.is_ascii_digit()) {
            self.word = Word::default();
            self.in_word = false;
        }
        self.end_word(at, variables);
        self.redirect = if is_text { Redirect::Text } else { Redirect::File };
    }

    /// A here-document, whose name has been read by other means. Whether something reads it line by line.
    pub(super) fn document(&mut self, number: usize) -> bool {
        self.redirect = Redirect::Nothing;
        self.now.documents.push(number);
        self.is_read()
    }

    /// Whether a loop or a variable takes the input.
    fn is_read(&self) -> bool {
        let is_reader = |word: &Word| matches!(word.text.as_str(), "read" | "mapfile" | "readarray");
        let closes = |word: &Word| CLOSERS.contains(&word.text.as_str());
        self.now.words.iter().any(is_reader) || self.now.words.first().is_some_and(closes)
    }

    /// The end of a word.
    pub(super) fn end_word(&mut self, at: usize, variables: &mut Variables) {
        if !std::mem::take(&mut self.in_word) {
            return;
        }
        let mut word = std::mem::take(&mut self.word);
        word.range.end = at.max(word.range.start);
        self.seen.extend_from_slice(few(&word.marks));
        match std::mem::take(&mut self.redirect) {
            Redirect::File if word.text.starts_with(UNKNOWN) => self.feed(&word, variables),
            Redirect::File => {}
            Redirect::Text => self.feed(&word, variables),
            Redirect::Nothing => self.take(word, variables),
        }
    }

    /// `<<< word`, `< <(…)`
    fn feed(&mut self, word: &Word, variables: &mut Variables) {
        self.now.fed.extend_from_slice(&word.marks);
        if let Some(printed) = word.marks.iter().map(|mark| mark.printed).min().filter(|_| self.is_read()) {
            variables.fed = Some(printed & variables.fed.unwrap_or(true));
        }
    }

    fn take(&mut self, word: Word, variables: &mut Variables) {
        let is_first = self.now.words.iter().all(judge::is_assignment);
        let text = word.text.as_str();
        let name = self.name().to_owned();
        if self.in_pattern {
            self.in_pattern = text != "esac";
            if !self.in_pattern {
                self.close_group(word);
            }
        } else if self.in_test {
            self.in_test = text != "]]";
            self.now.words.push(word);
        } else if is_first && self.now.words.is_empty() && KEYWORDS.contains(&text) {
        } else if is_first && (OPENERS.contains(&text) || NAMED_OPENERS.contains(&text)) {
            self.open_group();
            self.now.words.extend(Some(word).filter(|word| NAMED_OPENERS.contains(&word.text.as_str())));
        } else if is_first && CLOSERS.contains(&text) {
            self.close_group(word);
        } else if name == "function" && text == "{" {
            variables.define(&self.now.words.get(1).map(|word| word.text.clone()).unwrap_or_default());
            self.now = Simple::default();
            self.open_group();
        } else {
            self.in_test = is_first && text == "[[";
            self.in_pattern = name == "case" && text == "in";
            self.now.words.push(word);
        }
    }

    /// The word that runs, if it is there.
    fn name(&self) -> &str {
        self.now
            .words
            .iter()
            .find(|word| !judge::is_assignment(word))
            .map(|word| word.text.as_str())
            .unwrap_or_default()
    }

    fn open_group(&mut self) {
        self.groups.push(Group { upstream: std::mem::take(&mut self.upstream), seen: self.seen.len() });
    }

    fn close_group(&mut self, word: Word) {
        let group = self.groups.pop().unwrap_or_default();
        self.upstream = group.upstream;
        self.now.inner = few(self.seen.get(group.seen..).unwrap_or_default()).to_vec();
        self.now.words.push(word);
    }

    /// The end of a command.
    pub(super) fn end(&mut self, is_piped: bool, at: usize, variables: &mut Variables) -> Judged {
        self.end_word(at, variables);
        let flowing = self.flowing();
        let now = std::mem::take(&mut self.now);
        self.redirect = Redirect::Nothing;
        let mut judge = Judge::new(variables);
        let input: Vec<Mark> = now.fed.iter().chain(&flowing).cloned().collect();
        match self.is_array {
            true => judge.array(&now.words),
            false => judge.command(&now.words, &input),
        }
        let mut judged = Judged { found: std::mem::take(&mut judge.found), documents: Vec::new() };
        if judge.reads_program {
            judged.documents = now.documents.iter().chain(&self.upstream.documents).copied().collect();
        }
        self.flow(&now, is_piped);
        judged
    }

    /// What flows on into the next command.
    fn flow(&mut self, now: &Simple, is_piped: bool) {
        let name = now.words.iter().find(|word| !judge::is_assignment(word));
        let passes = name.is_none_or(|word| word.is_literal() && programs::passes(&word.text));
        self.passes = Some(self.passes.unwrap_or(true) && (passes || !now.inner.is_empty()));
        if !is_piped {
            self.upstream = Upstream::default();
            return;
        }
        let passes = passes && self.upstream.passes.unwrap_or(true);
        let marks = now.words.iter().flat_map(|word| &word.marks).chain(&now.fed).chain(&now.inner);
        let marks = marks.map(|mark| Mark { printed: mark.printed || !passes, ..mark.clone() });
        self.upstream.marks.extend(marks);
        self.upstream.marks.truncate(few(&self.upstream.marks).len());
        self.upstream.documents.extend(&now.documents);
        self.upstream.passes = Some(passes);
    }

    /// `;;`: what follows is a pattern.
    pub(super) fn next_case(&mut self) {
        self.in_pattern = true;
    }

    /// `)` after a pattern.
    pub(super) fn end_pattern(&mut self, at: usize, variables: &mut Variables) {
        self.end_word(at, variables);
        self.in_pattern = false;
        self.now = Simple::default();
    }

    /// `name()`: a function is defined.
    pub(super) fn define(&mut self, variables: &mut Variables) {
        variables.define(&self.word.text);
        self.word = Word::default();
        self.in_word = false;
        self.now = Simple::default();
    }
}
