//! Judges builtins of the shell that take names of variables, or evaluate arithmetic.

use super::Judge;
use crate::shell::ShellProblem;
use crate::shell::variables::{self, Use};
use crate::shell::word::{Mark, Word};

/// Operators of `[[ … ]]` that evaluate both sides.
const NUMERIC: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

impl Judge<'_> {
    /// Judges a builtin; returns whether it was one, and so the judgement is complete.
    pub(super) fn builtin(&mut self, name: &str, words: &[Word], input: &[Mark]) -> bool {
        let given = words.get(1..).unwrap_or_default();
        match name {
            "let" => given.iter().for_each(|word| self.computed(word)),
            "declare" | "typeset" | "local" | "export" | "readonly" | "integer" => self.declare(name, given),
            "read" => self.read_names(given, "dinNptu", input),
            "mapfile" | "readarray" => {
                self.read_names(given, "dnOsucC", input);
                return false;
            }
            "unset" | "getopts" => self.names(given.get(usize::from(name == "getopts")..).unwrap_or_default()),
            "wait" => self.after("-p", given),
            "printf" => self.printf(given),
            "test" | "[" => self.test(given),
            "[[" => self.double(given),
            "for" | "select" => self.each(given),
            "set" => {
                let given: Vec<Mark> = given.iter().flat_map(|word| word.marks.iter().cloned()).collect();
                self.variables.hold_parameters(&given);
            }
            "done" | "}" | "fi" | "esac" | "case" | "function" => {}
            _ => return false,
        }
        true
    }

    /// A word that is evaluated: each name in it is replaced by the value of the variable.
    fn computed(&mut self, word: &Word) {
        self.flag(&word.marks, &ShellProblem::Arithmetic);
        let named = self.variables.computed(&word.text);
        if let Some(printed) = named.iter().map(|(_, printed)| *printed).min() {
            self.flag(&[Mark { range: word.range.clone(), held: true, printed }], &ShellProblem::Arithmetic);
        }
    }

    /// Words that name variables.
    fn names(&mut self, words: &[Word]) {
        for word in words.iter().filter(|word| !word.text.starts_with('-')) {
            self.flag(&word.marks, &ShellProblem::VariableName);
        }
    }

    /// The word after an option names a variable.
    fn after(&mut self, option: &str, words: &[Word]) {
        for pair in words.windows(2) {
            if let [first, name] = pair
                && first.text == option
            {
                self.flag(&name.marks, &ShellProblem::VariableName);
            }
        }
    }

    /// `declare -i a=…`
    fn declare(&mut self, name: &str, words: &[Word]) {
        let has = |letter: char| {
            words
                .iter()
                .any(|word| word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains(letter))
        };
        let (computes, refers) = (name == "integer" || has('i'), has('n') && name != "export");
        for word in words.iter().filter(|word| !word.text.starts_with('-')) {
            let Some((known, at)) = variables::assignment(&word.text) else {
                self.flag(&word.marks, &ShellProblem::VariableName);
                continue;
            };
            let (known, value) = (known.to_owned(), word.marks_from(at).to_vec());
            self.flag(word.marks_before(at), &ShellProblem::VariableName);
            if computes {
                self.computed(&word.from(at));
            } else if refers {
                self.flag(&value, &ShellProblem::VariableName);
            } else if variables::use_of(&known) != Use::Data || word.marks_before(at).is_empty() {
                self.assignment(word);
            }
        }
    }

    /// `read name`, `mapfile name`: the names get the values of the input.
    fn read_names(&mut self, words: &[Word], takes: &str, input: &[Mark]) {
        let mut skip = false;
        for word in words {
            let letters = word.text.strip_prefix('-');
            if std::mem::take(&mut skip) {
                continue;
            }
            if let Some(letters) = letters {
                skip = letters.ends_with(|c| takes.contains(c));
                continue;
            }
            self.flag(&word.marks, &ShellProblem::VariableName);
            if variables::is_name(&word.text) {
                self.variables.hold(&word.text, input);
                if let Some(printed) = self.variables.fed {
                    self.variables.hold_as(&word.text, printed);
                }
            }
        }
    }

    fn printf(&mut self, words: &[Word]) {
        self.after("-v", words);
        match words {
            [option, name, values @ ..] if option.text == "-v" && variables::is_name(&name.text) => {
                let marks: Vec<Mark> = values.iter().flat_map(|word| word.marks.iter().cloned()).collect();
                self.variables.hold(&name.text, &marks);
            }
            // The first may be `-v`; then the second is the name of a variable.
            [first, second, ..] if first.starts_with_value() && !second.marks.is_empty() => {
                self.flag(&first.marks, &ShellProblem::OptionLike);
            }
            _ => {}
        }
    }

    /// `[ … ]`: `-v` takes a name. If the operator is a value, it may be `-v`.
    fn test(&mut self, words: &[Word]) {
        self.after("-v", words);
        self.after("-R", words);
        let inner: Vec<&Word> = words.iter().filter(|word| !matches!(word.text.as_str(), "!" | "]")).collect();
        if let [operator, name] = inner.as_slice()
            && operator.starts_with_value()
        {
            self.flag(&name.marks, &ShellProblem::VariableName);
        }
    }

    /// `[[ … ]]`
    fn double(&mut self, words: &[Word]) {
        self.after("-v", words);
        self.after("-R", words);
        for three in words.windows(3) {
            if let [left, operator, right] = three
                && NUMERIC.contains(&operator.text.as_str())
            {
                self.computed(left);
                self.computed(right);
            }
        }
    }

    /// `for name in …`
    fn each(&mut self, words: &[Word]) {
        let Some((name, values)) = words.split_first() else { return };
        self.flag(&name.marks, &ShellProblem::VariableName);
        let marks: Vec<Mark> = values.iter().flat_map(|word| word.marks.iter().cloned()).collect();
        if variables::is_name(&name.text) {
            self.variables.hold(&name.text, &marks);
        }
    }
}
