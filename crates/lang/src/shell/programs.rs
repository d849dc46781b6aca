//! A table of programs that execute a part of their arguments, and of these parts.
//!
//! **Invariant:** this file is only data. [`super::judge`] draws the conclusions.

/// The use of a program's operands: the words that are not options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operands {
    /// They are data.
    Data,
    /// The first is program text, unless an option gave it.
    Program,
    /// The first is a file to execute, unless an option gave the program; the others are for that program.
    File,
    /// After this many, a command to run.
    Command(usize),
    /// After this many, text for a shell.
    Shell(usize),
    /// The first is a subcommand; for these, the others are packages whose code is downloaded and run.
    Packages(&'static [&'static str]),
}

/// How a program uses its arguments.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) names: &'static [&'static str],
    /// Letters of options with program text.
    pub(super) code: &'static str,
    /// Long options with program text.
    pub(super) code_long: &'static [&'static str],
    /// Letters of options with other text.
    pub(super) takes: &'static str,
    /// Long options with other text in a word of its own.
    pub(super) takes_long: &'static [&'static str],
    /// Options with a setting `name=value`; some settings are executed.
    pub(super) settings: &'static [&'static str],
    pub(super) operands: Operands,
    /// Whether it reads its program from its input, if nothing else is its program.
    pub(super) input: bool,
    /// Where an option alone can make it run something.
    pub(super) options: Options,
    /// Whether its program text can start other programs. Otherwise it can only read data.
    pub(super) starts: bool,
    pub(super) help: &'static str,
}

/// Where an option can make a program run something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Options {
    Harmless,
    /// Before its program text.
    Program,
    /// Before the first operand.
    First,
    /// Anywhere before `--`.
    Anywhere,
}

const SCRIPT: &str = "put the logic into a script and pass the value in `args`";
const NOTHING: Program = Program {
    names: &[],
    code: "",
    code_long: &[],
    takes: "",
    takes_long: &[],
    settings: &[],
    operands: Operands::Data,
    input: false,
    options: Options::Harmless,
    starts: true,
    help: SCRIPT,
};

const PYTHON: &str = "pass it as an argument and read `sys.argv[1]`";
const ARGV: &str = "pass it as an argument after the program, and read it there";
const SED: &str = "use `awk -v new={{ … }} …`, or a script that takes the value in `args`";
const AWK: &str = "pass it with `awk -v name={{ … }}`, and read `name` in the program";
const SQL: &str = "pass it as a variable that the program quotes (`psql -v x={{ … }}` and `:'x'`)";
const MAKE: &str =
    "choose the target with `switch`; give the value to the recipe in `env`, and read it there as \"$$NAME\"";
const SETTING: &str = "name the setting, and let the value be only the part after `=`";

/// Every program that is known.
const ALL: &[Program] = &[
    // Shells and script languages.
    Program {
        names: &["sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "rbash"],
        code: "c",
        code_long: &["--command", "--init-command"],
        takes: "oO",
        takes_long: &["--rcfile", "--init-file"],
        operands: Operands::File,
        input: true,
        options: Options::Program,
        help: "let the text be fixed and pass the value after it: `bash -c 'echo \"$1\"' _ {{ … }}`",
        ..NOTHING
    },
    Program {
        names: &["python", "python2", "python3", "pypy", "pypy3"],
        code: "cm",
        takes: "WX",
        operands: Operands::File,
        input: true,
        options: Options::Program,
        help: PYTHON,
        ..NOTHING
    },
    Program {
        names: &["perl", "ruby"],
        code: "eEMmr",
        code_long: &["--eval"],
        takes: "I",
        operands: Operands::File,
        input: true,
        options: Options::First,
        help: ARGV,
        ..NOTHING
    },
    Program {
        names: &[
            "lua",
            "luajit",
            "julia",
            "elixir",
            "Rscript",
            "R",
            "osascript",
            "guile",
            "racket",
            "groovy",
            "scala",
            "clojure",
            "swift",
            "raku",
            "octave",
            "ghc",
            "runghc",
            "erl",
            "sbcl",
            "tclsh",
            "wish",
            "expect",
            "pwsh",
            "powershell",
            "irb",
            "ghci",
            "jshell",
            "gnuplot",
            "coffee",
        ],
        code: "eEc",
        code_long: &["--eval", "--execute", "--command", "-eval", "-Command", "-command", "-EncodedCommand"],
        operands: Operands::File,
        input: true,
        options: Options::First,
        help: ARGV,
        ..NOTHING
    },
    Program {
        names: &["node", "nodejs", "bun", "ts-node", "tsx"],
        code: "epr",
        code_long: &["--eval", "--print", "--require", "--import", "--loader"],
        operands: Operands::File,
        input: true,
        options: Options::First,
        help: "pass it as an argument and read `process.argv`",
        ..NOTHING
    },
    Program {
        names: &["php"],
        code: "rBREFd",
        code_long: &["--run", "--process-code", "--process-begin", "--process-end"],
        takes: "cStz",
        operands: Operands::File,
        input: true,
        options: Options::First,
        help: "pass it as an argument and read `$argv[1]`",
        ..NOTHING
    },
    Program { names: &["deno eval"], operands: Operands::Shell(0), help: ARGV, ..NOTHING },
    Program {
        names: &["deno run", "go run"],
        operands: Operands::File,
        options: Options::First,
        help: ARGV,
        ..NOTHING
    },
    // Languages of tools.
    Program {
        names: &["sed", "gsed"],
        code: "ef",
        code_long: &["--expression", "--file"],
        takes: "l",
        takes_long: &["--line-length"],
        operands: Operands::Program,
        options: Options::Anywhere,
        help: SED,
        ..NOTHING
    },
    Program {
        names: &["awk", "gawk", "mawk", "nawk"],
        code: "fiel",
        code_long: &["--source", "--file", "--include", "--load", "--exec"],
        takes: "vF",
        takes_long: &["--assign", "--field-separator"],
        operands: Operands::Program,
        options: Options::First,
        help: AWK,
        ..NOTHING
    },
    Program {
        names: &["jq", "gojq", "jaq"],
        takes: "L",
        takes_long: &["--indent", "--tab"],
        operands: Operands::Program,
        starts: false,
        help: "pass it with `jq --arg name {{ … }}`, and read `$name` in the filter",
        ..NOTHING
    },
    Program {
        names: &["yq"],
        code_long: &["--expression"],
        operands: Operands::Program,
        starts: false,
        help: "pass it in the environment, and read `strenv(NAME)` in the filter",
        ..NOTHING
    },
    Program {
        names: &["ed", "ex", "dc", "m4", "crontab", "at", "batch"],
        operands: Operands::Data,
        input: true,
        ..NOTHING
    },
    Program {
        names: &["vim", "vi", "nvim", "view"],
        code: "cS",
        code_long: &["--cmd", "-es"],
        takes: "Tur",
        options: Options::Anywhere,
        ..NOTHING
    },
    Program {
        names: &["emacs", "emacsclient"],
        code: "el",
        code_long: &["--eval", "-eval", "--execute", "--load", "--script"],
        options: Options::Anywhere,
        ..NOTHING
    },
    Program {
        names: &["gdb", "lldb"],
        code: "xo",
        code_long: &[
            "-ex",
            "--ex",
            "-iex",
            "--iex",
            "-eval-command",
            "--eval-command",
            "-init-eval-command",
            "--command",
            "--one-line",
            "--source",
        ],
        takes: "p",
        options: Options::Anywhere,
        input: true,
        ..NOTHING
    },
    Program {
        names: &["psql"],
        code: "cf",
        code_long: &["--command", "--file"],
        takes: "dhpUvFRPTLoA",
        takes_long: &["--dbname", "--host", "--port", "--username", "--set", "--variable", "--output"],
        options: Options::Anywhere,
        input: true,
        help: SQL,
        ..NOTHING
    },
    Program {
        names: &["mysql", "mariadb"],
        code: "e",
        code_long: &["--execute", "--init-command"],
        takes: "hPuDS",
        options: Options::Anywhere,
        input: true,
        help: SQL,
        ..NOTHING
    },
    Program {
        names: &["sqlite3"],
        code_long: &["-cmd", "--cmd", "-init"],
        operands: Operands::Shell(1),
        options: Options::Anywhere,
        input: true,
        help: "put the statement into a script and bind the value there (`.param set`)",
        ..NOTHING
    },
    Program {
        names: &["make", "gmake"],
        code: "fE",
        code_long: &["--eval", "--file", "--makefile"],
        takes: "CoWI",
        takes_long: &["--directory"],
        operands: Operands::Shell(0),
        help: MAKE,
        ..NOTHING
    },
    Program {
        names: &["just"],
        code: "f",
        code_long: &["--shell", "--justfile", "--command", "-c"],
        takes_long: &["--set"],
        options: Options::Anywhere,
        ..NOTHING
    },
    Program {
        names: &["rake", "gradle", "gradlew", "mvn", "ant", "cmake"],
        code: "EfIP",
        code_long: &["--execute", "--init-script"],
        takes: "CBSG",
        options: Options::Anywhere,
        ..NOTHING
    },
    Program {
        names: &["socat", "watch", "xterm", "tmux", "screen", "hyperfine"],
        takes: "nLtsS",
        operands: Operands::Shell(0),
        ..NOTHING
    },
    Program {
        names: &["parallel"],
        code_long: &["--tmpl"],
        takes: "jnNLId",
        takes_long: &["--jobs", "--delay", "--timeout"],
        operands: Operands::Shell(0),
        options: Options::First,
        input: true,
        ..NOTHING
    },
    // Programs that run other programs.
    Program { names: &["exec"], takes: "a", operands: Operands::Command(0), ..NOTHING },
    Program {
        names: &["env"],
        code: "S",
        code_long: &["--split-string"],
        takes: "uC",
        takes_long: &["--unset", "--chdir"],
        operands: Operands::Command(0),
        ..NOTHING
    },
    Program {
        names: &["sudo", "doas"],
        takes: "ughpCUDRTrt",
        takes_long: &["--user", "--group", "--prompt", "--chdir", "--host"],
        operands: Operands::Command(0),
        ..NOTHING
    },
    Program {
        names: &[
            "nohup",
            "builtin",
            "setsid",
            "unbuffer",
            "fakeroot",
            "catchsegv",
            "dbus-run-session",
            "eatmydata",
            "caffeinate",
        ],
        operands: Operands::Command(0),
        ..NOTHING
    },
    Program { names: &["command"], takes: "vV", operands: Operands::Command(0), ..NOTHING },
    Program {
        names: &["xargs"],
        takes: "InPLdaEs",
        takes_long: &["--max-args", "--max-procs", "--delimiter", "--arg-file", "--replace", "--max-lines"],
        operands: Operands::Command(0),
        ..NOTHING
    },
    Program { names: &["nice"], takes: "n", takes_long: &["--adjustment"], operands: Operands::Command(0), ..NOTHING },
    Program { names: &["ionice"], takes: "cnpPu", operands: Operands::Command(0), ..NOTHING },
    Program { names: &["stdbuf"], takes: "ioe", operands: Operands::Command(0), ..NOTHING },
    Program {
        names: &["timeout"],
        takes: "ks",
        takes_long: &["--signal", "--kill-after"],
        operands: Operands::Command(1),
        ..NOTHING
    },
    Program { names: &["chroot"], operands: Operands::Command(1), ..NOTHING },
    Program { names: &["taskset", "chrt"], operands: Operands::Command(1), ..NOTHING },
    Program {
        names: &["flock"],
        code: "c",
        code_long: &["--command"],
        takes: "wE",
        takes_long: &["--timeout", "--wait"],
        operands: Operands::Command(1),
        options: Options::First,
        ..NOTHING
    },
    Program {
        names: &["script"],
        code: "c",
        code_long: &["--command"],
        takes: "EIOBTmot",
        options: Options::Anywhere,
        ..NOTHING
    },
    Program {
        names: &["su", "runuser"],
        code: "cs",
        code_long: &["--command", "--shell", "--session-command"],
        takes: "gGuw",
        takes_long: &["--group", "--user"],
        options: Options::Anywhere,
        input: true,
        ..NOTHING
    },
    Program {
        names: &[
            "strace",
            "ltrace",
            "valgrind",
            "xvfb-run",
            "unshare",
            "nsenter",
            "systemd-run",
            "setpriv",
            "prlimit",
            "busybox",
            "toybox",
            "entr",
            "rlwrap",
            "uv run",
            "poetry run",
            "pipx run",
            "bundle exec",
            "conda run",
        ],
        takes: "oepsSuInrw",
        operands: Operands::Command(0),
        ..NOTHING
    },
    Program {
        names: &["ssh", "slogin", "autossh", "mosh"],
        code: "",
        takes: "ipljFJLRDbcEemSWwBIOQ",
        settings: &["-o"],
        operands: Operands::Shell(1),
        input: true,
        options: Options::Anywhere,
        help: "let the text be fixed and send the value as its input, or quote it there with `printf %q`",
        ..NOTHING
    },
    Program {
        names: &["scp", "sftp"],
        code: "SDb",
        takes: "iPFlcJX",
        settings: &["-o"],
        options: Options::Anywhere,
        ..NOTHING
    },
    Program {
        names: &["rsync"],
        code: "e",
        code_long: &["--rsh", "--rsync-path"],
        takes: "fMTB@",
        takes_long: &[
            "--exclude",
            "--include",
            "--filter",
            "--files-from",
            "--exclude-from",
            "--log-file",
            "--password-file",
            "--port",
            "--timeout",
            "--bwlimit",
        ],
        options: Options::Anywhere,
        ..NOTHING
    },
    // Programs with options that run something.
    Program {
        names: &["tar", "gtar", "bsdtar"],
        code: "IF",
        code_long: &[
            "--checkpoint-action",
            "--to-command",
            "--use-compress-program",
            "--info-script",
            "--new-volume-script",
            "--rsh-command",
            "--rmt-command",
        ],
        takes: "CfTXbgHKLNV",
        takes_long: &[
            "--directory",
            "--file",
            "--files-from",
            "--exclude",
            "--exclude-from",
            "--transform",
            "--owner",
            "--group",
            "--mode",
            "--mtime",
        ],
        options: Options::Anywhere,
        ..NOTHING
    },
    Program { names: &["zip"], code_long: &["-TT", "--unzip-command"], takes: "bnPt", ..NOTHING },
    Program {
        names: &["split", "csplit"],
        code_long: &["--filter"],
        takes: "abCln",
        options: Options::Anywhere,
        ..NOTHING
    },
    Program {
        names: &["sort"],
        code_long: &["--compress-program"],
        takes: "koStT",
        takes_long: &["--key", "--output", "--field-separator"],
        ..NOTHING
    },
    Program {
        names: &["wget"],
        code: "e",
        code_long: &["--execute", "--use-askpass", "--config"],
        takes: "oaPOitTwQUDARIXlB",
        takes_long: &[
            "--output-document",
            "--output-file",
            "--directory-prefix",
            "--header",
            "--user-agent",
            "--post-data",
            "--method",
            "--body-data",
            "--timeout",
            "--tries",
            "--user",
            "--password",
        ],
        options: Options::Anywhere,
        ..NOTHING
    },
    Program { names: &["man"], code: "PHp", code_long: &["--pager", "--html", "--preprocessor"], ..NOTHING },
    Program {
        names: &["nc", "ncat", "netcat"],
        code: "ec",
        code_long: &["--exec", "--sh-exec", "--lua-exec"],
        takes: "ipswxXqO",
        options: Options::Anywhere,
        ..NOTHING
    },
    Program { names: &["nmap"], code_long: &["--script", "--script-args-file"], options: Options::Anywhere, ..NOTHING },
    Program { names: &["tcpdump"], code: "z", takes: "wricsFGWCnU", ..NOTHING },
    Program {
        names: &["gcc", "g++", "cc", "c++", "clang", "clang++", "ld", "rustc"],
        code_long: &["-wrapper", "-fplugin", "-plugin"],
        takes: "oDUILlxC",
        ..NOTHING
    },
    Program {
        names: &["java", "javac"],
        code_long: &["-javaagent", "-agentpath", "-agentlib", "-jar", "-cp", "-classpath", "--class-path"],
        operands: Operands::File,
        options: Options::First,
        ..NOTHING
    },
    Program { names: &["openssl"], code: "", code_long: &["-engine", "-provider", "-config"], ..NOTHING },
    // Programs that download code and run it.
    Program {
        names: &["cargo"],
        code_long: &["--config"],
        takes_long: &[
            "--manifest-path",
            "--target",
            "--target-dir",
            "--features",
            "--package",
            "--bin",
            "--example",
            "--test",
            "--jobs",
            "--profile",
            "--color",
            "--message-format",
        ],
        takes: "pjFZ",
        operands: Operands::Packages(&["install", "binstall", "add"]),
        ..NOTHING
    },
    Program {
        names: &["go"],
        code_long: &["-toolexec", "-exec", "-vettool", "--exec", "--toolexec"],
        takes_long: &["-run", "-o", "-tags", "-ldflags", "-bench", "-timeout", "-count", "-C"],
        operands: Operands::Packages(&["install", "get"]),
        ..NOTHING
    },
    Program {
        names: &["npm", "pnpm", "yarn"],
        code_long: &["--script-shell", "--call", "--node-options"],
        takes_long: &["--prefix", "--workspace", "--filter", "--dir", "--cwd"],
        operands: Operands::Packages(&["install", "i", "add"]),
        ..NOTHING
    },
    Program {
        names: &["npx", "bunx", "uvx", "npm exec", "npm x", "npm create", "npm init", "pnpm dlx", "yarn dlx"],
        code: "c",
        code_long: &["--call"],
        takes: "p",
        operands: Operands::Packages(&[]),
        ..NOTHING
    },
    Program {
        names: &[
            "pip", "pip3", "pipx", "uv", "gem", "brew", "apt", "apt-get", "apk", "dnf", "yum", "pacman", "snap",
            "conda", "poetry", "composer", "helm",
        ],
        settings: &["-o"],
        takes: "rct",
        operands: Operands::Packages(&["install", "add", "require"]),
        ..NOTHING
    },
    // Subcommands of git that can start something.
    Program {
        names: &["git clone"],
        code: "u",
        code_long: &["--upload-pack", "--template"],
        takes: "bojc",
        takes_long: &[
            "--branch",
            "--depth",
            "--origin",
            "--reference",
            "--separate-git-dir",
            "--filter",
            "--jobs",
            "--shallow-since",
        ],
        settings: &["-c", "--config"],
        options: Options::Anywhere,
        ..NOTHING
    },
    Program {
        names: &["git fetch", "git pull", "git ls-remote"],
        code_long: &["--upload-pack", "--exec"],
        takes: "joXs",
        takes_long: &["--depth", "--deepen", "--jobs", "--refmap", "--shallow-since", "--server-option", "--strategy"],
        options: Options::Anywhere,
        ..NOTHING
    },
    Program {
        names: &["git push"],
        code_long: &["--receive-pack", "--exec"],
        takes: "o",
        takes_long: &["--push-option", "--repo"],
        options: Options::Anywhere,
        ..NOTHING
    },
    Program {
        names: &["git archive"],
        code_long: &["--exec"],
        takes: "o",
        takes_long: &["--format", "--prefix", "--output", "--remote"],
        options: Options::Anywhere,
        ..NOTHING
    },
    Program {
        names: &["git grep"],
        code: "O",
        code_long: &["--open-files-in-pager"],
        takes: "efABCm",
        takes_long: &["--threads", "--max-depth"],
        options: Options::Anywhere,
        ..NOTHING
    },
    Program {
        names: &["git rebase"],
        code: "x",
        code_long: &["--exec"],
        takes: "sXC",
        takes_long: &["--onto", "--strategy"],
        options: Options::Anywhere,
        ..NOTHING
    },
    Program {
        names: &["git difftool", "git mergetool"],
        code: "x",
        code_long: &["--extcmd"],
        takes: "t",
        takes_long: &["--tool"],
        options: Options::Anywhere,
        ..NOTHING
    },
    Program {
        names: &["git filter-branch"],
        code_long: &[
            "--env-filter",
            "--tree-filter",
            "--index-filter",
            "--parent-filter",
            "--msg-filter",
            "--commit-filter",
            "--tag-name-filter",
            "--setup",
        ],
        ..NOTHING
    },
    Program { names: &["git submodule foreach"], operands: Operands::Shell(0), ..NOTHING },
    Program { names: &["git bisect run"], operands: Operands::Command(0), ..NOTHING },
    // Builtins of shells that work like programs.
    Program { names: &["eval", "alias", "bind"], operands: Operands::Shell(0), help: SCRIPT, ..NOTHING },
    Program { names: &["trap"], operands: Operands::Program, help: SCRIPT, ..NOTHING },
    Program { names: &["source", "."], operands: Operands::File, input: true, ..NOTHING },
    Program { names: &["hash"], code: "p", ..NOTHING },
    Program { names: &["enable"], code: "f", ..NOTHING },
    Program { names: &["fc"], code: "e", ..NOTHING },
    Program { names: &["complete", "compgen"], code: "CFW", takes: "AGPSXo", ..NOTHING },
    Program { names: &["mapfile", "readarray"], code: "C", takes: "dnOsuc", ..NOTHING },
];

/// The program with a name, which may be a path.
pub(super) fn find(name: &str) -> Option<&'static Program> {
    let name = basename(name);
    let numbered = |known: &str| {
        // `python3.12`, `lua5.4`
        let rest = name.strip_prefix(known);
        rest.is_some_and(|rest| {
            rest.starts_with(|c: char| c == '.' || c.is_ascii_digit())
                && rest.chars().all(|c| c == '.' || c.is_ascii_digit())
        })
    };
    let exact = ALL.iter().find(|one| one.names.contains(&name));
    exact.or_else(|| ALL.iter().find(|one| one.names.iter().any(|known| numbered(known))))
}

/// Whether a program is in the table.
pub(super) fn is_known(name: &str) -> bool {
    find(name).is_some() || matches!(basename(name), "git" | "find")
}

/// Whether a program is a shell or a script language, which other programs may start.
pub(super) fn is_interpreter(program: &Program) -> bool {
    program.operands == Operands::File && program.input
}

/// Whether a program executes text as a shell.
pub(super) fn is_shell(program: &Program) -> bool {
    program.names.contains(&"bash")
}

/// Whether git, ssh, apt or similar programs execute a setting.
pub(super) fn is_run(setting: &str) -> bool {
    const RUN: &[&str] = &[
        "alias.",
        "pager.",
        "core.pager",
        "core.editor",
        "core.sshcommand",
        "core.fsmonitor",
        "core.hookspath",
        "core.gitproxy",
        "core.askpass",
        "core.alternaterefscommand",
        "core.worktree",
        "include.",
        "includeif.",
        "sequence.editor",
        "credential.",
        "diff.external",
        "gpg.",
        "init.templatedir",
        "protocol.",
        "uploadpack.",
        "remote.",
        "url.",
        "http.proxy",
        "proxycommand",
        "localcommand",
        "permitlocalcommand",
        "knownhostscommand",
        "include",
        "match",
        "pkcs11provider",
        "securitykeyprovider",
        "xauthlocation",
        "apt::",
        "dpkg::",
        "dir::",
    ];
    const ENDS: &[&str] = &[
        ".textconv",
        ".command",
        ".clean",
        ".smudge",
        ".process",
        ".cmd",
        ".path",
        ".helper",
        ".driver",
        ".uploadpack",
        ".receivepack",
        ".vcs",
        ".proxy",
        ".update",
    ];
    let setting = setting.trim().to_ascii_lowercase();
    RUN.iter().any(|start| setting.starts_with(start)) || ENDS.iter().any(|end| setting.ends_with(end))
}

/// What to do instead of setting something that is executed.
pub(super) const SETTING_HELP: &str = SETTING;

/// Programs that pass their input on, more or less unchanged.
const PASSING: &[&str] = &[
    "echo", "printf", "cat", "tr", "head", "tail", "sed", "cut", "tee", "rev", "xargs", "basename", "dirname", "grep",
    "awk", "jq", "fold", "paste", "sort", "uniq", "base64", "xxd",
];

/// Whether a program passes its input on.
pub(super) fn passes(name: &str) -> bool {
    PASSING.contains(&basename(name))
}

pub(super) fn basename(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}
