//! Tests finding programs: in `PATH`, at the place in the settings, and behind launchers that npm installs.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use longhaul_agents::contract::{AgentSetup, InstalledAgent, MissingAgent};
use longhaul_agents::drivers;

/// A machine of its own: a home, a folder in `PATH`, and nothing else.
struct Machine {
    folder: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        let machine = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir_all(machine.path("home")).unwrap();
        std::fs::create_dir_all(machine.path("bin")).unwrap();
        machine
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(below)
    }

    /// A program that answers `--version`.
    fn program(&self, below: &str, script: &str) -> PathBuf {
        let path = self.path(below);
        self.file(below, &format!("#!/bin/sh\n{script}\n"));
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        path
    }

    fn file(&self, below: &str, text: &str) {
        let path = self.path(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn setup(&self) -> AgentSetup {
        let mut setup = AgentSetup::default();
        let path = format!("{}:/bin:/usr/bin", self.path("bin").display());
        let hidden = [
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CONFIG_DIR",
            "CODEX_HOME",
            "COPILOT_HOME",
            "GH_TOKEN",
            "GITHUB_TOKEN",
            "COPILOT_GITHUB_TOKEN",
            "GEMINI_CLI_HOME",
            "XDG_DATA_HOME",
        ];
        setup.env.extend(hidden.map(|name| (name.to_owned(), String::new())));
        setup.env.insert("PATH".to_owned(), path);
        setup.env.insert("HOME".to_owned(), self.path("home").display().to_string());
        setup
    }

    fn find(&self, agent: &str) -> Result<InstalledAgent, MissingAgent> {
        drivers::by_name(agent).unwrap().find(&self.setup())
    }
}

const CLAUDE: &str = "echo '2.1.325 (Claude Code)'";

#[test]
fn a_program_in_path_is_found() {
    let machine = Machine::new();
    let program = machine.program("bin/claude", CLAUDE);
    assert_eq!(machine.find("claude"), Ok(InstalledAgent { program, version: "2.1.325".to_owned(), logged_in: false }));
}

#[test]
fn one_that_is_not_there_says_how_to_get_it() {
    let missing = Machine::new().find("claude").unwrap_err().to_string();
    assert_eq!(
        missing,
        "`claude` is not in PATH; install it with `npm install -g @anthropic-ai/claude-code` with Node 22 or newer, or set \
         `agents.claude.program` in the settings"
    );
}

#[test]
fn the_settings_say_where() {
    let machine = Machine::new();
    let program = machine.program("elsewhere/my-claude", CLAUDE);
    let setup = AgentSetup { program: Some(program.clone()), ..machine.setup() };
    assert_eq!(drivers::by_name("claude").unwrap().find(&setup).unwrap().program, program);
    let setup = AgentSetup { program: Some(machine.path("nothing")), ..machine.setup() };
    let missing = drivers::by_name("claude").unwrap().find(&setup).unwrap_err();
    assert_eq!(missing.remedy, "correct `agents.claude.program` in the settings");
}

fn platform() -> (&'static str, &'static str) {
    let os = if cfg!(target_os = "macos") { "darwin" } else { std::env::consts::OS };
    (os, if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" })
}

/// The layout of npm: a link in `.bin`, a launcher, and the real program in a package beside it or inside it.
#[test]
fn the_real_program_behind_a_launcher_is_run() {
    let (os, arch) = platform();
    for inside in ["node_modules", "node_modules/@github/copilot/node_modules"] {
        let machine = Machine::new();
        machine.program("node_modules/@github/copilot/npm-loader.js", "echo a launcher; exit 1");
        let real = machine
            .program(&format!("{inside}/@github/copilot-{os}-{arch}/copilot"), "echo GitHub Copilot CLI 1.0.102.");
        symlink(machine.path("node_modules/@github/copilot/npm-loader.js"), machine.path("bin/copilot")).unwrap();
        let found = machine.find("copilot").unwrap();
        assert_eq!((found.program, found.version.as_str()), (real, "1.0.102"));
    }
}

#[test]
fn the_real_codex_lies_deep() {
    let (os, arch) = platform();
    let triple = match (os, arch) {
        ("darwin", "arm64") => "aarch64-apple-darwin",
        ("darwin", _) => "x86_64-apple-darwin",
        (_, "arm64") => "aarch64-unknown-linux-musl",
        _ => "x86_64-unknown-linux-musl",
    };
    let machine = Machine::new();
    machine.program("lib/node_modules/@openai/codex/bin/codex.js", "exit 1");
    let real = machine.program(
        &format!("lib/node_modules/@openai/codex/node_modules/@openai/codex-{os}-{arch}/vendor/{triple}/bin/codex"),
        "echo codex-cli 0.166.0",
    );
    symlink(machine.path("lib/node_modules/@openai/codex/bin/codex.js"), machine.path("bin/codex")).unwrap();
    assert_eq!(machine.find("codex").unwrap().program, real);
}

#[test]
fn one_that_is_too_old_is_not_used() {
    let machine = Machine::new();
    machine.program("bin/codex", "echo codex-cli 0.2.3");
    let missing = machine.find("codex").unwrap_err();
    assert!(missing.what.contains("is version 0.2.3, and 0.160.0 is the oldest"), "{missing}");
    assert_eq!(missing.remedy, "update it with `npm install -g @openai/codex@latest`");
}

#[test]
fn one_that_says_no_version_is_not_used() {
    let machine = Machine::new();
    machine.program("bin/claude", "echo Error: native binary not installed");
    assert!(machine.find("claude").unwrap_err().what.contains("answers `--version` with"));
}

#[test]
fn asking_for_the_version_shows_no_key_and_runs_outside_of_the_workspace() {
    let machine = Machine::new();
    machine.program("bin/claude", "env > $HOME/seen; pwd >> $HOME/seen; echo 2.1.325");
    let mut setup = machine.setup();
    setup.env.insert("ANTHROPIC_API_KEY".to_owned(), "canary".to_owned());
    drivers::by_name("claude").unwrap().find(&setup).unwrap();
    let seen = std::fs::read_to_string(machine.path("home/seen")).unwrap();
    assert!(!seen.contains("canary") && seen.ends_with("/\n"), "{seen}");
}

fn logged_in(agent: &str, version: &str, file: &str, text: &str) -> bool {
    let machine = Machine::new();
    machine.program(&format!("bin/{agent}"), &format!("echo {version}"));
    assert!(!machine.find(agent).unwrap().logged_in, "{agent} without {file}");
    machine.file(&format!("home/{file}"), text);
    machine.find(agent).unwrap().logged_in
}

#[test]
fn a_login_is_seen_in_the_programs_own_files() {
    assert!(logged_in("claude", "2.1.325", ".claude/.credentials.json", "{}"));
    assert!(logged_in("codex", "0.166.0", ".codex/auth.json", "{}"));
    assert!(logged_in("gemini", "0.61.0", ".gemini/oauth_creds.json", "{}"));
    assert!(logged_in("opencode", "1.18.33", ".local/share/opencode/auth.json", "{\"anthropic\": {}}"));
    assert!(!logged_in("opencode", "1.18.33", ".local/share/opencode/auth.json", "{}"));
    let users = "// a comment\n{\"loggedInUsers\": [{\"host\": \"https://github.com\", \"login\": \"me\"}]}";
    assert!(logged_in("copilot", "1.0.102", ".copilot/config.json", users));
    assert!(!logged_in("copilot", "1.0.102", ".copilot/config.json", "{\"loggedInUsers\": []}"));
}

#[test]
fn a_token_in_a_variable_is_a_login_too() {
    let machine = Machine::new();
    machine.program("bin/claude", CLAUDE);
    let mut setup = machine.setup();
    setup.env.insert("CLAUDE_CODE_OAUTH_TOKEN".to_owned(), "token".to_owned());
    assert!(drivers::by_name("claude").unwrap().find(&setup).unwrap().logged_in);
}

#[test]
fn a_folder_in_path_with_that_name_is_no_program() {
    let machine = Machine::new();
    std::fs::create_dir(machine.path("bin/claude")).unwrap();
    assert!(machine.find("claude").is_err());
}
