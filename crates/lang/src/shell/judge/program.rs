//! Judges a known program with its options and operands.

use super::Judge;
use crate::shell::ShellProblem;
use crate::shell::programs::{self, Operands, Options, Program};
use crate::shell::word::{Mark, UNKNOWN, VALUE, Word};

/// The meaning of the next word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Free,
    Code,
    Data,
    Setting,
}

/// The state while reading the words of a program.
struct Reading<'p> {
    program: &'p Program,
    next: Next,
    /// Whether its program text is known, so that no operand is it.
    given: bool,
    /// Whether it reads its program from its input in any case.
    input: bool,
    /// The constant text for a shell.
    text: Option<String>,
    operands: usize,
    is_ended: bool,
}

impl Judge<'_> {
    /// Judges a program with all its words.
    pub(super) fn program(&mut self, program: &'static Program, words: &[Word], input: &[Mark]) {
        self.read(program, words, input, true);
    }

    /// Judges only the options of a program, because it may not run at all.
    pub(super) fn options_of(&mut self, program: &'static Program, words: &[Word], input: &[Mark]) {
        self.read(program, words, input, false);
    }

    fn read(&mut self, program: &'static Program, words: &[Word], input: &[Mark], is_sure: bool) {
        let mut reading =
            Reading { program, next: Next::Free, given: false, input: false, text: None, operands: 0, is_ended: false };
        for (at, word) in words.iter().enumerate().skip(1) {
            if word.text.starts_with(":::") {
                break;
            }
            let is_option = !reading.is_ended && reading.next == Next::Free && is_option(program, &word.text);
            if reading.next != Next::Free {
                self.belonging(&mut reading, word);
            } else if is_option {
                self.option(&mut reading, word, at == 1);
            } else if is_sure || reading.given {
                let rest = words.get(at..).unwrap_or_default();
                if self.operand(&mut reading, rest, words, input) {
                    return;
                }
            }
        }
        if let Some(text) = &reading.text {
            let given: Vec<Mark> = words.iter().skip(1).flat_map(|word| word.marks.iter().cloned()).collect();
            self.script(text, &given);
        }
        let alone = !reading.given
            && match program.operands {
                Operands::Data => true,
                Operands::Shell(1) => reading.operands <= 1,
                _ => reading.operands == 0,
            };
        if is_sure && program.input && (alone || reading.input) {
            self.reads_program = true;
            self.flag(input, &code(program));
        }
    }

    /// The word after an option that takes one.
    fn belonging(&mut self, reading: &mut Reading<'_>, word: &Word) {
        match std::mem::replace(&mut reading.next, Next::Free) {
            Next::Code => {
                self.flag(&word.marks, &code(reading.program));
                if programs::is_shell(reading.program) && word.is_literal() {
                    reading.text = Some(word.text.clone());
                }
            }
            Next::Setting => self.setting(word),
            Next::Data | Next::Free => {}
        }
    }

    fn option(&mut self, reading: &mut Reading<'_>, word: &Word, is_first: bool) {
        let program = reading.program;
        let text = word.text.as_str();
        if text == "--" {
            reading.is_ended = true;
        } else if text.starts_with('+') {
            self.flag(&word.marks, &code(program));
        } else if text == "-" {
            (reading.input, reading.given) = (true, true);
        } else if let Some(end) = long(program.code_long, text) {
            reading.given = true;
            self.flag(word.marks_from(end), &code(program));
            reading.next = if end == text.len() { Next::Code } else { Next::Free };
        } else if long(program.settings, text).is_some_and(|end| end == text.len()) {
            reading.next = Next::Setting;
        } else if let Some(end) = long(program.settings, text) {
            self.setting(&word.from(end));
        } else if program.takes_long.contains(&text) {
            reading.next = Next::Data;
        } else if text.starts_with("--") {
            let name = text.split('=').next().unwrap_or_default();
            self.maybe_option(program, word.marks_before(name.len()));
        } else if let Some(start) = program.settings.iter().find_map(|option| text.strip_prefix(option)) {
            self.setting(&word.from(text.len() - start.len()));
        } else {
            self.cluster(reading, word, is_first);
        }
    }

    /// `-abc`: letters, until one takes the rest or the next word.
    fn cluster(&mut self, reading: &mut Reading<'_>, word: &Word, is_first: bool) {
        let program = reading.program;
        // `tar xf file`: the letters take the following words.
        let is_bare = is_first && !word.text.starts_with('-');
        let start = usize::from(!is_bare);
        for (at, letter) in word.text.char_indices().filter(|(at, _)| *at >= start) {
            let rest = at + letter.len_utf8();
            let has_rest = rest < word.text.len() && !is_bare;
            if letter == VALUE {
                return self.maybe_option(program, word.marks_from(at));
            } else if program.code.contains(letter) {
                reading.given = true;
                self.flag(word.marks_from(rest), &code(program));
                reading.next = if has_rest && !is_flag(program, &word.text, rest) { Next::Free } else { Next::Code };
                return;
            } else if program.takes.contains(letter) {
                reading.next = if has_rest { Next::Free } else { Next::Data };
                return;
            } else if letter == 's' && programs::is_shell(program) {
                (reading.input, reading.given) = (true, true);
            }
        }
    }

    /// An operand, with the words from it on; returns whether the rest belongs to another command.
    fn operand(&mut self, reading: &mut Reading<'_>, rest: &[Word], words: &[Word], input: &[Mark]) -> bool {
        let (program, Some(word)) = (reading.program, rest.first()) else { return false };
        let number = reading.operands;
        let is_early = match program.options {
            Options::Harmless => false,
            Options::Program => number == 0 && !reading.given,
            Options::First => number == 0,
            Options::Anywhere => true,
        };
        if word.starts_with_value() && !reading.is_ended && is_early {
            self.maybe_option(program, word.marks.get(..1).unwrap_or_default());
        }
        if matches!(program.operands, Operands::Command(_)) && super::is_assignment(word) {
            self.assignment(word);
            return false;
        }
        reading.operands += 1;
        match program.operands {
            Operands::Program if number == 0 && !reading.given => self.flag(&word.marks, &code(program)),
            Operands::File if number == 0 && !reading.given => self.file(reading, word),
            Operands::Command(skipped) if number == skipped => {
                self.run_by(words, rest, input);
                return true;
            }
            Operands::Shell(skipped) if number >= skipped => {
                self.flag(&word.marks, &code(program));
                let first = word.text.split_whitespace().next().and_then(programs::find);
                reading.input |= number == skipped && first.is_some_and(programs::is_interpreter);
            }
            Operands::Packages(verbs) => self.package(reading, verbs, word),
            _ => {}
        }
        false
    }

    /// The file that an interpreter runs. The words after it are for that program.
    fn file(&mut self, reading: &mut Reading<'_>, word: &Word) {
        reading.given = true;
        reading.input = matches!(word.text.as_str(), "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0");
        let is_output = word.text.starts_with(UNKNOWN);
        self.flag(&word.marks, &if is_output { code(reading.program) } else { ShellProblem::Script });
        reading.is_ended = true;
    }

    fn package(&mut self, reading: &mut Reading<'_>, verbs: &[&str], word: &Word) {
        let is_package = if verbs.is_empty() { reading.operands == 1 } else { reading.given };
        if is_package {
            self.flag(&word.marks, &ShellProblem::Package);
        }
        reading.given |= reading.operands == 1 && verbs.contains(&word.text.as_str());
    }

    /// A command that a program runs. `xargs` adds words from its input.
    fn run_by(&mut self, words: &[Word], command: &[Word], input: &[Mark]) {
        let is_xargs = words.first().is_some_and(|word| programs::basename(&word.text) == "xargs");
        if !is_xargs || input.is_empty() {
            return self.command(command, input);
        }
        let options = words.get(..words.len() - command.len()).unwrap_or_default();
        let command: Vec<Word> = match replaced(options) {
            Some(sign) => command.iter().map(|word| word.with(&sign, input)).collect(),
            None => command.iter().cloned().chain([Word::of(input)]).collect(),
        };
        self.command(&command, &[]);
    }

    /// A value that the program may read as an option, if it has dangerous options.
    fn maybe_option(&mut self, program: &Program, marks: &[Mark]) {
        if program.options != Options::Harmless {
            self.flag(marks, &ShellProblem::OptionLike);
        }
    }
}

/// The sign that `xargs -I` replaces.
fn replaced(options: &[Word]) -> Option<String> {
    let mut options = options.iter();
    while let Some(word) = options.next() {
        let text = word.text.as_str();
        if text == "-I" || text == "--replace" {
            return options.next().map(|sign| sign.text.clone());
        }
        if let Some(sign) = text.strip_prefix("-I").or_else(|| text.strip_prefix("--replace=")) {
            return Some(sign.to_owned());
        }
    }
    None
}

fn code(program: &Program) -> ShellProblem {
    if program.starts { ShellProblem::Code(program.help) } else { ShellProblem::Query(program.help) }
}

/// Whether a word is an option. The letters of `tar` and the `+` of `vim` count as well.
fn is_option(program: &Program, word: &str) -> bool {
    let is_letters = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphabetic());
    let is_tar = program.names.contains(&"tar") && is_letters(word) && word.contains(['x', 'c', 't', 'r', 'u']);
    let is_vim = program.names.contains(&"vim") && word.starts_with('+');
    word.starts_with('-') && (word != "-" || program.input) || is_tar || is_vim
}

/// The start of a long option's text, if the word is one of these.
fn long(options: &[&str], word: &str) -> Option<usize> {
    let name = word.split(['=', ':']).next().unwrap_or_default();
    let end = if name.len() < word.len() { name.len() + 1 } else { name.len() };
    (options.contains(&word) || (name.starts_with('-') && name.len() > 2 && options.contains(&name))).then_some(end)
}

/// Whether the characters after a letter are letters too, as in `bash -ce`. Then the text is the next word.
fn is_flag(program: &Program, word: &str, rest: usize) -> bool {
    programs::is_shell(program) && !word.get(rest..).unwrap_or_default().contains(VALUE)
}
