//! Tests the corpus of mistakes: the findings of `longhaul check` for each file of `tests/broken`.
//!
//! **Invariant:** every file there is refused or at least gives a warning, and every finding has a place and says what
//! to do or why.

use crate::snapshot;

use std::path::{Path, PathBuf};

use crate::binary::longhaul;

/// Files in which the mistake has no effect.
const ONLY_WARNED: &[&str] = &[
    "loop-that-does-nothing.yaml",
    "machine-without-limit-inside.yaml",
    "machine-without-limit.yaml",
    "work-buddy-stray-instruction.md",
];

#[test]
fn every_broken_file_is_refused_as_its_snapshot_says() {
    let mut problems = Vec::new();
    for file in files() {
        let told = longhaul(&folder(), &["check", &file]);
        let text = format!("{}{}exit code {}\n", told.stdout, told.stderr, told.code);
        problems.extend(snapshot::compare(&folder().join("snapshots").join(format!("{file}.txt")), &text));
        let expected = i32::from(!ONLY_WARNED.contains(&file.as_str()));
        if told.code != expected {
            problems.push(format!("{file} ends with {}, not {expected}", told.code));
        }
        problems.extend(told.stdout.split("\n\n").filter_map(|part| incomplete(&file, part)));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    every_snapshot_belongs_to_a_file();
}

/// Not a test of its own: it would read the folder while the snapshots are written.
fn every_snapshot_belongs_to_a_file() {
    let mut kept = names_in(&folder().join("snapshots"));
    kept.sort();
    let mut expected: Vec<String> = files().iter().map(|file| format!("{file}.txt")).collect();
    expected.sort();
    assert_eq!(kept, expected);
}

#[test]
fn seven_mistakes_are_reported_at_once_and_once_each() {
    let told = longhaul(&folder(), &["check", "seven-mistakes.yaml"]);
    assert_eq!(told.stdout.matches("error[LH").count(), 7, "{}", told.stdout);
    assert_eq!(told.stdout.matches("warning[LH").count(), 0, "{}", told.stdout);
}

#[test]
fn the_corpus_shows_nearly_every_code() {
    let all: String = files().iter().map(|file| longhaul(&folder(), &["check", file]).stdout).collect();
    // Codes that start with LH07 are about requests, not about files.
    let of_files = longhaul_lang::codes::ALL.iter().map(|entry| entry.code).filter(|code| !code.starts_with("LH07"));
    let missing: Vec<&str> = of_files.filter(|code| !all.contains(*code)).collect();
    // These are warnings and notes, which refuse no file; LH0414 needs a file outside this project.
    assert_eq!(missing, ["LH0306", "LH0311", "LH0414", "LH0514", "LH0515", "LH0605"]);
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/broken")
}

fn names_in(folder: &Path) -> Vec<String> {
    std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
}

fn files() -> Vec<String> {
    let endings = [".yaml", ".yml", ".json", ".toml", ".md"];
    let mut files = names_in(&folder());
    files.retain(|name| endings.iter().any(|ending| name.ends_with(ending)));
    files.sort();
    files
}

/// What a finding lacks: a place, or words at the place or about what to do.
fn incomplete(file: &str, part: &str) -> Option<String> {
    let finding = part.starts_with("error[") || part.starts_with("warning[") || part.starts_with("note[");
    let place = part.lines().any(|line| line.trim_start().starts_with("--> ") && line.matches(':').count() >= 2);
    let words = part.contains("= help: ") || part.lines().any(|line| line.contains('^') && !line.ends_with('^'));
    (finding && !(place && words)).then(|| format!("{file}: this finding is incomplete\n{part}"))
}
