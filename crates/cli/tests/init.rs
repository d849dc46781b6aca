//! Tests `longhaul init` on real files: what it writes, that it writes it once, and that it removes everything.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "project/.longhaul/workflows"] {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let workflow = "description: Says \"hello\"\nsteps:\n  - id: hi\n    run: echo hi\n";
        std::fs::write(folder.path().join("project/.longhaul/workflows/greet.yaml"), workflow).unwrap();
        Self { folder }
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn init(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_longhaul"));
        command.arg("init").args(args).current_dir(self.project());
        command
            .env("HOME", self.folder.path().join("home"))
            .env("PATH", "/nonexistent")
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_STATE_HOME");
        command.stdin(std::process::Stdio::null()).output().unwrap()
    }

    fn done(&self, args: &[&str]) -> String {
        let output = self.init(args);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{args:?}: {said}");
        said
    }

    fn write(&self, name: &str, text: &str) {
        let file = self.folder.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    /// Every file, by name.
    fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        collect(self.folder.path(), self.folder.path(), &mut files);
        files
    }
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            collect(root, &entry, files);
        } else {
            let name = entry.strip_prefix(root).unwrap().display().to_string();
            files.insert(name, std::fs::read_to_string(&entry).unwrap());
        }
    }
}

const EDITORS: &str = "claude,codex,cursor,vscode,copilot,zed,gemini,opencode";

#[test]
fn what_is_written_is_written_once_and_can_be_taken_back() {
    for scope in [&[][..], &["--user"][..]] {
        let place = Place::new();
        let before = place.files();
        place.done(&[&["--yes", "--editor", EDITORS], scope].concat());
        let after = place.files();
        let servers = after.values().filter(|text| text.contains("\"mcp\"")).count();
        // In a project, Copilot reads the file of Claude Code.
        assert_eq!(servers, if scope.is_empty() { 7 } else { 8 }, "{:?}", after.keys());
        let said = place.done(&[&["--editor", EDITORS], scope].concat());
        assert!(said.contains("everything is there already"), "{said}");
        assert_eq!(place.files(), after);
        place.done(&[&["--yes", "--remove", "--editor", EDITORS], scope].concat());
        assert_eq!(place.files(), before);
    }
}

#[test]
fn nothing_is_written_before_somebody_has_said_so() {
    let place = Place::new();
    let before = place.files();
    let output = place.init(&["--editor", "claude"]);
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("+++ .mcp.json") && said.contains("`--yes` makes these changes"), "{said}");
    let said = place.done(&["--editor", "claude", "--dry-run"]);
    assert!(said.contains("+++ .mcp.json"), "{said}");
    assert_eq!(place.files(), before);
}

#[test]
fn what_others_wrote_stays_and_is_kept_beside() {
    let place = Place::new();
    let mine = "{\n  // mine\n  \"mcpServers\": {\n    \"other\": { \"command\": \"x\" }\n  }\n}\n";
    place.write("project/.mcp.json", mine);
    place.done(&["--yes", "--editor", "claude", "--no-commands"]);
    let with = place.read("project/.mcp.json");
    assert!(with.contains("// mine") && with.contains("\"other\"") && with.contains("\"longhaul\""), "{with}");
    assert_eq!(place.read("project/.mcp.json.longhaul.bak"), mine);
    place.done(&["--yes", "--editor", "claude", "--remove"]);
    assert_eq!(place.read("project/.mcp.json"), mine);
    assert!(!place.files().contains_key("project/.mcp.json.longhaul.bak"));
}

#[test]
fn an_entry_or_a_file_of_our_name_is_replaced_on_request_only() {
    let place = Place::new();
    place.write("project/.mcp.json", "{\"mcpServers\": {\"longhaul\": {\"command\": \"/mine\"}}}\n");
    place.write("project/.claude/commands/longhaul-greet.md", "my own\n");
    let output = place.init(&["--yes", "--editor", "claude"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("`--force` replaces it"), "{said}");
    assert!(place.read("project/.mcp.json").contains("/mine"));
    assert_eq!(place.read("project/.claude/commands/longhaul-greet.md"), "my own\n");
    place.done(&["--yes", "--editor", "claude", "--force"]);
    assert!(!place.read("project/.mcp.json").contains("/mine"));
    assert!(place.read("project/.claude/commands/longhaul-greet.md").contains("Says \\\"hello\\\""));
    assert_eq!(place.read("project/.claude/commands/longhaul-greet.md.longhaul.bak"), "my own\n");
}

#[test]
fn editors_are_found_by_their_traces() {
    let place = Place::new();
    let output = place.init(&["--yes"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("`--editor NAME` (claude, codex,"), "{said}");
    place.write("project/.cursor/rules", "");
    place.write("home/.gemini/settings.json", "{}");
    let output = place.init(&["--dry-run", "--json"]);
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["editors"], serde_json::json!(["cursor", "gemini"]));
    assert_eq!(told["made"], false);
    let output = place.init(&["--editor", "emacs"]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("`emacs` is not an editor that is known here"));
}

#[test]
fn a_file_that_can_not_be_read_is_left_alone() {
    let place = Place::new();
    place.write("project/.mcp.json", "{ broken");
    let output = place.init(&["--yes", "--editor", "claude"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains(".mcp.json of Claude Code is left as it is"), "{said}");
    assert_eq!(place.read("project/.mcp.json"), "{ broken");
}
