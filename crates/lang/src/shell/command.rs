//! The command that is being written: which of its words runs, and what it does with the others.

use std::ops::Range;

use super::Kind;
use super::interpreter::{Invocation, basename};

/// Words after which a command starts.
const KEYWORDS: &[&str] = &["if", "then", "elif", "else", "while", "until", "do", "{", "!", "time", "coproc"];
/// Commands that run the command after them, with those of their options that have a value.
const WRAPPERS: &[(&str, &[&str])] = &[
    ("exec", &["-a"]),
    ("env", &["-u", "-C", "-S", "--unset", "--chdir"]),
    ("sudo", &["-u", "-g", "-h", "-p", "-C", "-U", "-D", "-R", "-T"]),
    ("doas", &["-u", "-C"]),
    ("nohup", &[]),
    ("xargs", &["-I", "-n", "-P", "-L", "-d", "-a", "-E", "-s"]),
    ("command", &["-v", "-V"]),
    ("builtin", &[]),
    ("nice", &["-n"]),
    ("setsid", &[]),
    ("stdbuf", &["-i", "-o", "-e"]),
    ("timeout", &["-k", "-s"]),
];
/// Commands that take their arguments for shell text.
const EVALUATORS: &[&str] = &["eval", "trap", "alias", "watch"];
/// Operators of `[[ … ]]` that compute both sides.
const NUMERIC: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

/// A command, word by word.
#[derive(Debug, Default)]
pub(super) struct Command {
    /// The literal part of the word that is being written; a value in it is a NUL.
    word: String,
    in_word: bool,
    /// Whether the word that runs is complete.
    started: bool,
    name: String,
    wrapper: Option<&'static [&'static str]>,
    /// Whether the next word belongs to an option of a wrapper.
    value: bool,
    redirect: bool,
    /// Whether the redirection's target is taken for program text.
    fed: bool,
    /// Whether what it prints is taken for program text.
    program: bool,
    interpreter: Option<Invocation>,
    /// Whether the command itself is the interpreter, not something it is told to run.
    direct: bool,
    long_option: bool,
    /// Whether the words are those of an array.
    array: bool,
    test: Test,
    pattern: bool,
    /// Values of this command, and of those that pipe into it.
    values: Vec<Range<usize>>,
    upstream: Vec<Range<usize>>,
}

/// Inside of `[[ … ]]`.
#[derive(Debug, Default)]
struct Test {
    on: bool,
    numeric: bool,
    last: Vec<Range<usize>>,
}

impl Command {
    /// The words of an array or a pattern: none of them runs.
    pub(super) fn array() -> Self {
        Self { array: true, ..Self::default() }
    }

    /// A command whose output becomes program text.
    pub(super) fn program() -> Self {
        Self { program: true, ..Self::default() }
    }

    pub(super) fn in_word(&self) -> bool {
        self.in_word
    }

    pub(super) fn in_test(&self) -> bool {
        self.test.on
    }

    pub(super) fn in_pattern(&self) -> bool {
        self.pattern
    }

    /// The literal part of the present word.
    pub(super) fn word(&self) -> &str {
        &self.word
    }

    pub(super) fn push(&mut self, c: char) {
        self.in_word = true;
        self.word.push(c);
    }

    /// Something that is no literal text: a quote, an expansion.
    pub(super) fn touch(&mut self) {
        self.in_word = true;
    }

    /// A value at the present place; what is wrong with it.
    pub(super) fn value(&mut self, range: &Range<usize>) -> Option<Kind> {
        let kind = self.role();
        self.push('\0');
        self.values.push(range.clone());
        if self.test.on {
            self.test.last.push(range.clone());
        }
        kind
    }

    /// What would be wrong with a value at the present place.
    pub(super) fn role(&self) -> Option<Kind> {
        let program = self.interpreter.as_ref();
        if self.test.on {
            return self.test.numeric.then_some(Kind::Arithmetic);
        }
        if self.program || (self.redirect && self.fed) {
            return Some(Kind::Eval);
        }
        if self.redirect || self.value || self.pattern || self.array {
            return None;
        }
        if self.started {
            let code = program.is_some_and(|program| program.is_code(&self.word));
            return match self.name.as_str() {
                name if code || EVALUATORS.contains(&name) => Some(Kind::Eval),
                "let" => Some(Kind::Arithmetic),
                _ => None,
            };
        }
        match self.word.split_once('[') {
            Some((name, rest)) if is_name(name) && !rest.contains(']') => Some(Kind::Arithmetic),
            _ => (!is_assignment(&self.word)).then_some(Kind::CommandWord),
        }
    }

    /// Whether what a process substitution or a here-document says is taken for program text.
    pub(super) fn reads_program(&self) -> bool {
        self.role() == Some(Kind::Eval)
            || self.started && matches!(self.name.as_str(), "source" | ".")
            || self.interpreter.as_ref().is_some_and(Invocation::reads_program)
    }

    /// A redirection: the next word is its target.
    pub(super) fn redirect(&mut self, text: bool) {
        if self.word.bytes().all(|byte| byte.is_ascii_digit()) {
            self.word.clear();
            self.in_word = false;
        }
        self.end_word();
        self.fed = text && self.reads_program();
        self.redirect = true;
    }

    /// A redirection whose target has been read by other means.
    pub(super) fn end_redirect(&mut self) {
        self.redirect = false;
    }

    /// The end of a word; the values that turn out to be computed.
    pub(super) fn end_word(&mut self) -> Vec<Range<usize>> {
        if !std::mem::take(&mut self.in_word) {
            return Vec::new();
        }
        let word = std::mem::take(&mut self.word);
        if self.test.on {
            return self.test_word(&word);
        }
        if self.pattern {
            self.pattern = word != "esac";
            self.started = word == "esac";
        } else if std::mem::take(&mut self.redirect) || std::mem::take(&mut self.value) || self.array {
        } else if self.started {
            self.argument(&word);
        } else {
            self.first(&word);
        }
        Vec::new()
    }

    fn test_word(&mut self, word: &str) -> Vec<Range<usize>> {
        let mut computed = Vec::new();
        self.test.numeric = NUMERIC.contains(&word);
        if self.test.numeric {
            computed = std::mem::take(&mut self.test.last);
        } else if !word.contains('\0') {
            self.test.last.clear();
        }
        self.test.on = word != "]]";
        computed
    }

    fn first(&mut self, word: &str) {
        if is_assignment(word) || KEYWORDS.contains(&word) {
            return;
        }
        if let Some(valued) = self.wrapper.filter(|_| word.starts_with('-')) {
            self.value = valued.contains(&word);
            return;
        }
        if let Some((name, valued)) = WRAPPERS.iter().find(|(name, _)| *name == basename(word)) {
            self.wrapper = Some(valued);
            // Its first operand is a time, not the command.
            self.value = *name == "timeout";
            return;
        }
        self.started = true;
        self.test.on = word == "[[";
        self.name = basename(word).to_owned();
        self.interpreter = Invocation::of(word);
        self.direct = self.interpreter.is_some();
    }

    fn argument(&mut self, word: &str) {
        self.pattern = self.name == "case" && word == "in";
        self.started = !(self.name == "function" && word == "{");
        match &mut self.interpreter {
            Some(program) => program.word(word),
            // `docker exec c sh -c …`, but not `docker run --name sh …`.
            None if !self.long_option => self.interpreter = Invocation::of(word),
            None => {}
        }
        self.long_option = word.starts_with("--") && word != "--";
    }

    /// The end of a command; the values that turn out to be program text.
    pub(super) fn end(&mut self, piped: bool) -> Vec<Range<usize>> {
        self.end_word();
        let program = self.direct && self.interpreter.take().is_some_and(|program| program.reads_program());
        let code = if program { std::mem::take(&mut self.upstream) } else { Vec::new() };
        let mut upstream = std::mem::take(&mut self.upstream);
        upstream.append(&mut self.values);
        if !piped {
            upstream.clear();
        }
        let pattern = self.pattern;
        *self = Self { upstream, pattern, array: self.array, program: self.program, ..Self::default() };
        code
    }

    /// `;;`: what follows is a pattern.
    pub(super) fn next_case(&mut self) {
        self.pattern = true;
    }

    /// `)` after a pattern.
    pub(super) fn end_pattern(&mut self) {
        self.end_word();
        *self = Self::default();
    }
}

fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    is_name(name.split_once('[').map_or(name, |(name, _)| name))
}
