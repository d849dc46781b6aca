//! Programs that take program text as an argument or from their input.

/// How a program is given its text.
#[derive(Debug)]
pub(super) struct Interpreter {
    names: &'static [&'static str],
    /// Letters of options that are followed by program text.
    letters: &'static str,
    /// Long options that are followed by program text.
    words: &'static [&'static str],
    /// Options that have a value which is not program text.
    valued: &'static [&'static str],
    /// Whether everything after the first operand is program text, as for a remote shell.
    remote: bool,
}

const SHELL: Interpreter = Interpreter {
    names: &["sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "busybox", "su"],
    letters: "c",
    words: &["--command"],
    valued: &["-o", "-O", "--rcfile", "--init-file"],
    remote: false,
};
const PYTHON: Interpreter = Interpreter {
    names: &["python", "python2", "python3", "pypy", "pypy3"],
    letters: "c",
    words: &[],
    valued: &["-W", "-X", "-m"],
    remote: false,
};
const PERL: Interpreter = Interpreter {
    names: &["perl", "ruby", "osascript", "Rscript", "lua", "julia", "elixir"],
    letters: "eE",
    words: &["--eval"],
    valued: &[],
    remote: false,
};
const NODE: Interpreter = Interpreter {
    names: &["node", "nodejs", "bun", "deno"],
    letters: "ep",
    words: &["--eval", "--print"],
    valued: &["-r", "--require"],
    remote: false,
};
const PHP: Interpreter = Interpreter { names: &["php"], letters: "r", words: &["--run"], valued: &[], remote: false };
const SSH: Interpreter = Interpreter {
    names: &["ssh"],
    letters: "",
    words: &[],
    valued: &["-i", "-p", "-l", "-o", "-F", "-J", "-L", "-R", "-D", "-b", "-c", "-E", "-e", "-m", "-S", "-W", "-w"],
    remote: true,
};

const ALL: &[&Interpreter] = &[&SHELL, &PYTHON, &PERL, &NODE, &PHP, &SSH];

/// The words that have been given to an interpreter, as far as they matter.
#[derive(Debug)]
pub(super) struct Invocation {
    of: &'static Interpreter,
    /// Whether the next operand is program text.
    code: bool,
    /// Whether it has an operand, so that its program is not its input.
    operand: bool,
    /// Whether the next word belongs to an option.
    value: bool,
}

impl Invocation {
    /// The start of one, if `word` names an interpreter.
    pub(super) fn of(word: &str) -> Option<Self> {
        let name = basename(word);
        let of = ALL.iter().find(|one| one.names.contains(&name))?;
        Some(Self { of, code: false, operand: false, value: false })
    }

    /// Takes one more word.
    pub(super) fn word(&mut self, word: &str) {
        if std::mem::take(&mut self.value) {
        } else if self.is_code_option(word) {
            self.code = true;
            self.operand = true;
        } else if word.starts_with('-') && word != "-" {
            self.value = self.of.valued.contains(&word);
        } else if word != "-" {
            self.operand = true;
            self.code = self.of.remote;
        }
    }

    /// Whether what is written now, after `begun`, is program text.
    pub(super) fn is_code(&self, begun: &str) -> bool {
        let long = begun.split_once('=').is_some_and(|(option, _)| self.of.words.contains(&option));
        !self.value && (self.code || long || (!begun.is_empty() && self.is_code_option(begun)))
    }

    /// Whether its input is its program.
    pub(super) fn reads_program(&self) -> bool {
        !self.operand || self.of.remote
    }

    fn is_code_option(&self, word: &str) -> bool {
        let short = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        self.of.words.contains(&word) || short.is_some_and(|rest| rest.contains(|c| self.of.letters.contains(c)))
    }
}

pub(super) fn basename(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}
