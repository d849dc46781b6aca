//! Tests `longhaul demo`, from an empty folder to the report.

use crate::binary;

use std::path::Path;
use std::process::Command;

use crate::binary::{Told, command, told};
use serde_json::Value;

fn demo(folder: &Path, args: &[&str]) -> Told {
    let temporary = folder.join("tmp");
    std::fs::create_dir_all(&temporary).unwrap();
    // The user's settings have no effect.
    let mut command = command(folder, &[&["demo"], args].concat());
    command.env("TMPDIR", temporary).env("LONGHAUL_STORE", folder.join("mine.db")).env("LONGHAUL_AGENT", "claude");
    told(command.output().unwrap())
}

/// The lines that the branch of the demo added, as `file:line`.
fn added(repository: &Path) -> Vec<String> {
    let diff = |args: &[&str]| {
        let output = Command::new("git").args(args).current_dir(repository).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let files = diff(&["diff", "--name-only", "main"]);
    let mut places = Vec::new();
    for file in files.lines() {
        let blame = diff(&["blame", "-s", "main..HEAD", "--", file]);
        let of_branch = (1..).zip(blame.lines()).filter(|(_, line)| !line.starts_with('^'));
        places.extend(of_branch.map(|(number, _)| format!("{file}:{number}")));
    }
    places
}

#[test]
fn the_engine_is_killed_and_nothing_that_was_finished_is_done_again() {
    let folder = tempfile::tempdir().unwrap();
    let told = demo(folder.path(), &["--crash", "--json"]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    let page: Value = serde_json::from_str(&told.stdout).unwrap();
    let done = ["diff/base", "diff/files", "diff/patch", "security-review"];
    assert_eq!(page["crash"]["kept"], serde_json::json!(done));
    assert_eq!(page["crash"]["again"], serde_json::json!(["performance-review", "style-review"]));

    // Every finding is about a line of the change, and the report is the output of the run.
    let repository = Path::new(page["repository"].as_str().unwrap());
    let places = added(repository);
    for finding in page["report"]["findings"].as_array().unwrap() {
        let place = finding["place"].as_str().unwrap();
        assert!(places.iter().any(|added| added == place), "{place} is not among {places:?}");
    }
    let status: Value =
        serde_json::from_str(&told_in(repository, &["status", "demo", "--json", "--store", "../runs.db"])).unwrap();
    assert_eq!((&status["status"], &status["outputs"]["report"]), (&"succeeded".into(), &page["report"]));
    assert!(!folder.path().join("mine.db").exists() && !folder.path().join(".longhaul").exists());
}

fn told_in(folder: &Path, args: &[&str]) -> String {
    binary::longhaul(folder, args).stdout
}

#[test]
fn whoever_watches_sees_the_work_the_report_and_what_to_do_next() {
    let folder = tempfile::tempdir().unwrap();
    let told = demo(folder.path(), &["--yes"]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    let seen = [
        "style-review │ `tests/` knows nothing of `export`",
        "needs revision, 6 findings",
        "1. critical  shop/orders.py:17  security",
        "$ longhaul approve demo",
        "✓ demo succeeded",
        "longhaul run code-review",
    ];
    for words in seen {
        assert!(told.stdout.contains(words), "`{words}` is missing in\n{}", told.stdout);
    }
    assert!(told.stdout.lines().skip_while(|line| !line.starts_with("──")).all(|line| line.chars().count() <= 100));
}
