//! Judges `git`: settings that it executes, and subcommands that run something.

use super::Judge;
use crate::shell::word::{Mark, Word};
use crate::shell::{ShellProblem, programs};

/// Options before the subcommand that take the next word.
const TAKES: &[&str] = &["-C", "--git-dir", "--work-tree", "--namespace", "--super-prefix"];

impl Judge<'_> {
    pub(super) fn git(&mut self, words: &[Word], input: &[Mark]) {
        let mut at = 1;
        while let Some(word) = words.get(at) {
            match word.text.as_str() {
                "-c" => {
                    words.get(at + 1).into_iter().for_each(|word| self.setting(word));
                    at += 2;
                }
                option if TAKES.contains(&option) => at += 2,
                option if option.starts_with("--config-env") || option.starts_with("--exec-path") => {
                    self.flag(&word.marks, &ShellProblem::Code(programs::SETTING_HELP));
                    at += if option.contains('=') { 1 } else { 2 };
                }
                option if option.starts_with('-') => at += 1,
                _ => return self.part(words.get(at..).unwrap_or_default(), input),
            }
        }
    }

    /// `git part …`
    fn part(&mut self, words: &[Word], input: &[Mark]) {
        let Some(part) = words.first() else { return };
        if part.starts_with_value() {
            return self.flag(&part.marks, &ShellProblem::CommandWord);
        }
        let second = words.get(1).map(|word| word.text.as_str()).unwrap_or_default();
        let three = format!("git {} {second}", part.text);
        if part.text == "config" {
            self.config(words);
        } else if let Some(program) = programs::find(&three) {
            self.program(program, words.get(1..).unwrap_or_default(), input);
        } else if let Some(program) = programs::find(&format!("git {}", part.text)) {
            self.program(program, words, input);
        }
    }

    /// `git config name value`
    fn config(&mut self, words: &[Word]) {
        let operands: Vec<&Word> = words.iter().skip(1).filter(|word| !word.text.starts_with('-')).collect();
        let operands = match operands.as_slice() {
            [verb, rest @ ..] if matches!(verb.text.as_str(), "set" | "get" | "unset") => rest,
            all => all,
        };
        let [name, values @ ..] = operands else { return };
        if values.is_empty() {
            return;
        }
        self.flag(&name.marks, &ShellProblem::Code(programs::SETTING_HELP));
        if programs::is_run(&name.text) {
            values.iter().for_each(|value| self.flag(&value.marks, &ShellProblem::Code(programs::SETTING_HELP)));
        }
    }

    /// A setting, `name=value` or `name value`. It is safe if the name is constant and git does not execute it.
    pub(super) fn setting(&mut self, word: &Word) {
        let end = word.text.find(['=', ' ']).unwrap_or(word.text.len());
        let name = word.text.get(..end).unwrap_or_default();
        let marks = if programs::is_run(name) { &word.marks } else { word.marks_before(end) };
        self.flag(marks, &ShellProblem::Code(programs::SETTING_HELP));
    }
}
