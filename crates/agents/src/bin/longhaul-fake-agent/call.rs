//! Reads the command line of a turn as strictly as the real program does.

use std::path::Path;

/// The agent that this program replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Agent {
    Claude,
    Codex,
    Copilot,
    Gemini,
    Opencode,
}

/// The request on the command line.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) agent: Agent,
    pub(crate) version: bool,
    pub(crate) new: Option<String>,
    pub(crate) resume: Option<String>,
    pub(crate) has_schema: bool,
    pub(crate) usage_file: Option<String>,
    pub(crate) model: String,
}

impl Agent {
    fn by_name(name: &str) -> Option<Self> {
        let all = [Self::Claude, Self::Codex, Self::Copilot, Self::Gemini, Self::Opencode];
        all.into_iter().find(|agent| agent.name() == name)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Copilot => "copilot",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
        }
    }

    /// The prompt from standard input: Claude receives messages.
    pub(crate) fn heard(self, stdin: String) -> String {
        let text = |line: &str| {
            let message: serde_json::Value = serde_json::from_str(line).ok()?;
            message.pointer("/message/content/0/text")?.as_str().map(str::to_owned)
        };
        match self {
            Self::Claude => text(&stdin).unwrap_or(stdin),
            _ => stdin,
        }
    }

    /// The answer to `--version`.
    pub(crate) fn version(self) -> &'static str {
        match self {
            Self::Claude => "2.1.325 (Claude Code)",
            Self::Codex => "codex-cli 0.166.0",
            Self::Copilot => "GitHub Copilot CLI 1.0.102.\nRun 'copilot update' to check for updates.",
            Self::Gemini => "0.61.0",
            Self::Opencode => "1.18.33",
        }
    }

    pub(crate) fn refusal_code(self) -> u8 {
        if self == Self::Gemini { 42 } else { 1 }
    }

    /// Flags without a value.
    fn switches(self) -> &'static [&'static str] {
        match self {
            Self::Claude => &["-p", "--verbose", "--include-partial-messages", "--strict-mcp-config", SKIP],
            Self::Codex => &["exec", "--json", "--skip-git-repo-check", "-"],
            Self::Copilot => {
                &["--no-color", "--no-auto-update", "--no-ask-user", "--no-custom-instructions", "--allow-all"]
            }
            Self::Gemini => &[],
            Self::Opencode => &["run"],
        }
    }

    /// Flags that are followed by `=` and a value.
    fn options(self) -> &'static [&'static str] {
        match self {
            Self::Claude => &[
                "--input-format",
                "--output-format",
                "--setting-sources",
                "--mcp-config",
                "--session-id",
                "--resume",
                "--permission-mode",
                "--allowedTools",
                "--disallowedTools",
                "--tools",
                "--model",
                "--effort",
                "--append-system-prompt-file",
                "--system-prompt-snapshot",
                "--json-schema",
                "--max-budget-usd",
                "--add-dir",
            ],
            Self::Codex => &["--color", "--sandbox", "--model", "--profile", "--output-schema", "--add-dir"],
            Self::Copilot => &[
                "--output-format",
                "--session-id",
                "--resume",
                "--allow-tool",
                "--deny-tool",
                "--available-tools",
                "--additional-mcp-config",
                "--add-dir",
                "--model",
                "--reasoning-effort",
                "--usage-output-file",
            ],
            Self::Gemini => &[
                "--output-format",
                "--approval-mode",
                "--session-id",
                "--resume",
                "--policy",
                "--model",
                "--include-directories",
                "--extensions",
            ],
            Self::Opencode => &["--format", "--session", "--model", "--variant"],
        }
    }
}

const SKIP: &str = "--dangerously-skip-permissions";

impl Call {
    /// Reads a command line; the first word is the name of the program.
    pub(crate) fn read(words: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut words = words.into_iter();
        let program = words.next().unwrap_or_default();
        let name = Path::new(&program).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let agent = Agent::by_name(&name).ok_or_else(|| format!("`{name}` is the name of no agent"))?;
        let mut call = Self {
            agent,
            version: false,
            new: None,
            resume: None,
            has_schema: false,
            usage_file: None,
            model: "fake".to_owned(),
        };
        while let Some(word) = words.next() {
            call.word(&word, &mut words)?;
        }
        Ok(call)
    }

    fn word(&mut self, word: &str, rest: &mut impl Iterator<Item = String>) -> Result<(), String> {
        if word == "--version" {
            self.version = true;
        } else if self.agent == Agent::Codex && word == "-c" {
            rest.next().ok_or("-c needs a value")?;
        } else if self.agent == Agent::Codex && word == "resume" {
            self.resume = rest.next();
        } else if word == SKIP && std::env::var("IS_SANDBOX").as_deref() != Ok("1") {
            return Err(format!("{SKIP} cannot be used with root/sudo privileges for security reasons"));
        } else if !self.agent.switches().contains(&word) {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            if !self.agent.options().contains(&name) {
                return Err(format!("error: unknown option '{word}'"));
            }
            self.option(name, value);
        }
        Ok(())
    }

    fn option(&mut self, name: &str, value: &str) {
        match name {
            "--session-id" => self.new = Some(value.to_owned()),
            "--resume" | "--session" => self.resume = Some(value.to_owned()),
            "--json-schema" | "--output-schema" => self.has_schema = true,
            "--usage-output-file" => self.usage_file = Some(value.to_owned()),
            "--model" => self.model = value.to_owned(),
            _ => {}
        }
    }

    /// The session that the caller named, or a new one.
    pub(crate) fn session(&self) -> String {
        let asked = self.resume.as_ref().or(self.new.as_ref());
        asked.cloned().unwrap_or_else(|| format!("ses_{}", std::process::id()))
    }
}
