//! Tests what tools do, and above all what they refuse.

use std::fs;
use std::os::unix::fs::symlink;

use longhaul_agents::contract::{Permission, TranscriptEntry};
use longhaul_core::Json;
use serde_json::json;

use crate::serve::bench::{Bench, KEY, runs};
use crate::serve::wires::Wire;

const WIRE: Wire = Wire::Messages;

/// Calls a tool; returns whether it succeeded, and its text.
fn call(bench: &Bench, tool: &'static str, input: Json) -> (bool, String) {
    let story = bench.take([WIRE.calls("c", tool, input), WIRE.says("ok")]);
    let answer = |entry: &TranscriptEntry| match entry {
        TranscriptEntry::ToolResult { ok, text, .. } => Some((*ok, text.clone())),
        _ => None,
    };
    story.entries.iter().find_map(answer).unwrap()
}

fn ok(text: &str) -> (bool, String) {
    (true, text.to_owned())
}

fn failed(text: &str) -> (bool, String) {
    (false, text.to_owned())
}

#[test]
fn nothing_leads_out_of_the_workspace() {
    let bench = Bench::new(WIRE);
    fs::write(bench.path("secret"), "secret\n").unwrap();
    symlink(bench.path("secret"), bench.path("work/link")).unwrap();
    symlink(bench.folder.path(), bench.path("work/up")).unwrap();
    let out = |path: &str| failed(&format!("`{path}` is outside of the workspace"));
    for path in ["../secret", "link", "up/secret", "/etc/hostname"] {
        assert_eq!(call(&bench, "read", json!({"path": path})), out(path));
        assert_eq!(call(&bench, "write", json!({"path": path, "content": "x"})), out(path));
        assert_eq!(call(&bench, "edit", json!({"path": path, "old": "s", "new": "x"})), out(path));
        assert_eq!(call(&bench, "grep", json!({"path": path, "pattern": "s"})), out(path));
    }
    assert_eq!(call(&bench, "list", json!({"path": "up"})), out("up"));
    assert_eq!(call(&bench, "grep", json!({"pattern": "secret"})), ok("(no line fits)"));
    assert_eq!(fs::read_to_string(bench.path("secret")).unwrap(), "secret\n");
}

#[test]
fn whoever_may_only_look_is_offered_nothing_else() {
    let mut bench = Bench::new(WIRE);
    bench.turn.permission = Permission::ReadOnly;
    let story = bench.take([
        WIRE.calls("c1", "write", json!({"path": "a", "content": "x"})),
        WIRE.calls("c2", "shell", json!({"command": "touch a"})),
        WIRE.says("I could not."),
    ]);
    assert_eq!(WIRE.tools(&bench.endpoint.asked()[0].body), ["read", "list", "grep"]);
    assert_eq!(story.ending.denied, ["write", "shell"]);
    assert!(story.text().contains(
        "denied write\nresult c1 failed: \"`write` is not allowed in this turn; the tools here are: read, list, grep\""
    ));
    assert!(!bench.path("work/a").exists());
}

#[test]
fn a_list_of_tools_is_kept_to() {
    let mut bench = Bench::new(WIRE);
    bench.turn.tools = Some(vec!["Read".to_owned(), "Bash".to_owned(), "WebSearch".to_owned()]);
    let story = bench.take([WIRE.calls("c1", "frobnicate", json!({})), WIRE.says("ok")]);
    assert_eq!(WIRE.tools(&bench.endpoint.asked()[0].body), ["read", "shell"]);
    assert!(story.text().contains("notice there is no tool `WebSearch` here"));
    assert!(story.text().contains("failed: \"there is no tool `frobnicate`; the tools here are: read, shell\""));
}

#[test]
fn files_are_found_and_searched() {
    let bench = Bench::new(WIRE);
    fs::create_dir_all(bench.path("work/src/deep")).unwrap();
    fs::write(bench.path("work/src/a.rs"), "fn one() {}\nfn two() {}\n").unwrap();
    fs::write(bench.path("work/src/deep/b.rs"), "fn three() {}\n").unwrap();
    fs::write(bench.path("work/out.bin"), b"fn\0").unwrap();
    fs::write(bench.path("work/big.log"), "fn ignored\n").unwrap();
    fs::write(bench.path("work/.gitignore"), "*.log\n").unwrap();
    assert_eq!(call(&bench, "list", json!({})), ok(".gitignore\nbig.log\nout.bin\nsrc/"));
    assert_eq!(call(&bench, "list", json!({"glob": "**/*.rs"})), ok("src/a.rs\nsrc/deep/b.rs"));
    assert_eq!(call(&bench, "list", json!({"path": "src", "glob": "*.rs"})), ok("a.rs"));
    let (is_ok, found) = call(&bench, "grep", json!({"pattern": "^fn t"}));
    let mut found: Vec<_> = found.lines().collect();
    found.sort_unstable();
    assert_eq!((is_ok, found), (true, vec!["src/a.rs:2: fn two() {}", "src/deep/b.rs:1: fn three() {}"]));
    assert_eq!(call(&bench, "grep", json!({"pattern": "one", "glob": "b.*"})), ok("(no line fits)"));
    assert!(call(&bench, "grep", json!({"pattern": "("})).1.starts_with("the pattern does not fit"));
    assert!(call(&bench, "read", json!({"file": "x"})).1.starts_with("the input does not fit: missing field `path`"));
}

#[test]
fn commands_run_in_the_workspace_without_the_key_and_leave_nothing() {
    let bench = Bench::new(WIRE);
    let (is_ok, said) = call(&bench, "shell", json!({"command": "pwd; env; echo oops >&2; exit 3"}));
    let work = bench.path("work").canonicalize().unwrap();
    assert!(
        !is_ok && said.starts_with(work.to_str().unwrap()) && said.ends_with("oops\n\n(it ended with code 3)"),
        "{said}"
    );
    assert!(!said.contains("TEST_KEY"));
    let sneaky = "(setsid sh -c 'echo $$ > pid; exec tail -f /dev/null' &) ; until [ -s pid ]; do sleep 0.01; done; echo started";
    assert_eq!(call(&bench, "shell", json!({"command": sneaky})), ok("started\n"));
    assert!(!runs(&bench.file("pid")));
    let slow = json!({"command": "echo begun; tail -f /dev/null", "timeout_s": 1});
    assert_eq!(call(&bench, "shell", slow), failed("begun\n\n(it was ended after 1 s)"));
    let spell = format!("printf '{}' ; printf '{}'", &KEY[..9], &KEY[9..]);
    assert_eq!(call(&bench, "shell", json!({"command": spell})).1, "•••");
}

#[test]
fn long_results_keep_their_ends() {
    let bench = Bench::new(WIRE);
    let (_, said) = call(&bench, "shell", json!({"command": "echo first; yes | head -c 1000000; echo last"}));
    assert!(said.len() < 31_000 && said.starts_with("first") && said.ends_with("last\n"), "{}", said.len());
}
