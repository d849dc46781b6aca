//! Decides what a command does with the values in its words.
//!
//! A command is judged when all its words are known: first as a builtin of the shell, then by the table of
//! [`programs`], then by the shape of its words.
//!
//! **Invariant:** the result does not depend on a value, only on its place.

mod builtin;
mod git;
mod program;

use super::scan::Scanner;
use super::variables::{self, Use, Variables};
use super::word::{Mark, Word};
use super::{ShellProblem, programs};

/// The deepest nesting of commands in commands that is followed.
const DEPTH_MAX: usize = 16;
/// The deepest nesting of scripts in scripts that is followed.
const SCRIPTS_MAX: usize = 2;

/// The findings, and the knowledge about variables.
pub(super) struct Judge<'v> {
    pub(super) variables: &'v mut Variables,
    pub(super) found: Vec<(Mark, ShellProblem)>,
    /// Whether the command reads its program from its input.
    pub(super) reads_program: bool,
    depth: usize,
}

impl<'v> Judge<'v> {
    pub(super) fn new(variables: &'v mut Variables) -> Self {
        Self { variables, found: Vec::new(), reads_program: false, depth: 0 }
    }

    fn flag(&mut self, marks: &[Mark], kind: &ShellProblem) {
        self.found.extend(marks.iter().map(|mark| (mark.clone(), kind.clone())));
    }

    /// Judges a command with all its words; `input` are the values in its input.
    pub(super) fn command(&mut self, words: &[Word], input: &[Mark]) {
        let mut words = words;
        while let Some((first, rest)) = words.split_first().filter(|(first, _)| is_assignment(first)) {
            self.assignment(first);
            words = rest;
        }
        let Some(first) = words.first() else { return };
        self.depth += 1;
        if self.depth <= DEPTH_MAX {
            self.named(first, words, input);
        }
        self.depth -= 1;
    }

    fn named(&mut self, first: &Word, words: &[Word], input: &[Mark]) {
        if !first.marks.is_empty() {
            return self.flag(&first.marks, &ShellProblem::CommandWord);
        }
        if !first.is_literal() {
            return self.unknown(words);
        }
        let name = programs::basename(&first.text);
        if self.variables.is_function(name) {
            let given = words.iter().skip(1).flat_map(|word| word.marks.iter().cloned()).collect::<Vec<Mark>>();
            return self.variables.hold_parameters(&given);
        }
        let two = words.get(1).filter(|word| word.is_literal()).map(|word| format!("{name} {}", word.text));
        if self.builtin(name, words, input) {
        } else if name == "git" {
            self.git(words, input);
        } else if name == "find" {
            self.find(words, input);
        } else if let Some(program) = two.as_deref().and_then(programs::find) {
            self.program(program, words.get(1..).unwrap_or_default(), input);
        } else if let Some(program) = programs::find(name) {
            self.program(program, words, input);
        } else {
            self.stranger(words, input);
        }
    }

    /// The words of an array: `[…]=value` evaluates the text in the brackets.
    pub(super) fn array(&mut self, words: &[Word]) {
        for word in words.iter().filter(|word| word.text.starts_with('[')) {
            let end = word.text.find(']').unwrap_or(word.text.len());
            self.flag(word.marks_before(end), &ShellProblem::Arithmetic);
        }
    }

    /// `name=value`: checks what other programs do with the variable, and records its value.
    fn assignment(&mut self, word: &Word) {
        let Some((name, at)) = variables::assignment(&word.text) else { return };
        self.flag(word.marks_before(at), &ShellProblem::Arithmetic);
        let (name, given) = (name.to_owned(), word.marks_from(at).to_vec());
        match variables::use_of(&name) {
            Use::Run => self.flag(&given, &ShellProblem::RunVariable),
            Use::Searched => self.flag(&given, &ShellProblem::Searched),
            Use::Data => {}
        }
        self.variables.hold(&name, &given);
        if word.is_literal() {
            self.variables.set(&name, word.text.get(at..).unwrap_or_default());
        }
    }

    /// An unknown program. Only the shape of its words counts: `$shell -c {{ … }}`.
    fn unknown(&mut self, words: &[Word]) {
        const CODE: &[&str] = &["-c", "-e", "-lc", "-ec", "--eval", "--command", "--execute", "--exec"];
        for pair in words.windows(2) {
            if let [option, text] = pair
                && CODE.contains(&option.text.as_str())
            {
                self.flag(&text.marks, &ShellProblem::UnknownProgram);
            }
        }
    }

    /// An unknown program may run a known one: `docker exec c sh -c …`, but not `docker run --name sh …`.
    fn stranger(&mut self, words: &[Word], input: &[Mark]) {
        for (at, pair) in words.windows(2).enumerate() {
            let [before, word] = pair else { continue };
            let named = || programs::find(&word.text).filter(|program| programs::is_interpreter(program));
            let is_value = before.text.starts_with("--") && before.text != "--";
            if let Some(program) = word.is_literal().then(named).flatten().filter(|_| !is_value) {
                return self.options_of(program, words.get(at + 1..).unwrap_or_default(), input);
            }
        }
    }

    /// `find … -exec command \;`
    fn find(&mut self, words: &[Word], input: &[Mark]) {
        let mut rest = words;
        while let Some(at) = rest.iter().position(|word| is_exec(&word.text)) {
            let command = rest.get(at + 1..).unwrap_or_default();
            let end = command.iter().position(|word| matches!(word.text.as_str(), ";" | "+")).unwrap_or(command.len());
            self.command(command.get(..end).unwrap_or_default(), input);
            rest = command.get(end..).unwrap_or_default();
        }
    }

    /// A constant script for a shell that uses parameters or variables with values.
    fn script(&mut self, text: &str, parameters: &[Mark]) {
        if parameters.is_empty() || self.variables.depth >= SCRIPTS_MAX {
            return;
        }
        let mut known = Variables::default();
        known.depth = self.variables.depth + 1;
        known.hold_parameters(parameters);
        let found = Scanner::new(text, &[], &[], known).run();
        if found.findings.iter().any(|finding| finding.is_certain) {
            self.flag(
                parameters,
                &ShellProblem::Code("let the fixed text quote its parameters and evaluate none of them"),
            );
        }
    }
}

fn is_exec(word: &str) -> bool {
    matches!(word, "-exec" | "-execdir" | "-ok" | "-okdir")
}

pub(super) fn is_assignment(word: &Word) -> bool {
    variables::assignment(&word.text).is_some()
}
