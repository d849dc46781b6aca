//! Files that are as they should be: `tests/native` in the native language, `tests/dialects` in others.
//!
//! **Invariant:** native files give no finding but that a key has no effect yet; laying a file out again, or converting it from a dialect,
//! changes nothing of its plan.

use std::path::{Path, PathBuf};

use crate::binary::longhaul;
use serde_json::Value;

#[test]
fn every_native_file_is_clean() {
    let files = native_files();
    assert!(files.len() > 25, "{}", files.len());
    for file in files {
        let told = longhaul(folder_of(&file), &["check", "--json", &name_of(&file)]);
        let report: Value = serde_json::from_str(&told.stdout).unwrap();
        let found = report["files"][0]["diagnostics"].as_array().unwrap();
        let more: Vec<&Value> = found.iter().filter(|found| found["code"] != "LH0514").collect();
        assert!(more.is_empty(), "{}: {more:?}", file.display());
        assert_eq!((told.code, &report["files"][0]["dialect"]), (0, &Value::from("native")), "{}", file.display());
    }
}

#[test]
fn laying_a_native_file_out_is_idempotent_and_keeps_its_plan() {
    let copy = tempfile::tempdir().unwrap();
    copy_all(&root().join("tests/native"), copy.path());
    for file in workflows_in(copy.path()).iter().filter(|file| !file.ends_with("json.json")) {
        let (folder, name) = (folder_of(file), name_of(file));
        let before = plans(folder, &name);
        let told = longhaul(folder, &["fmt", &name]);
        assert_eq!(told.code, 0, "{}: {}", file.display(), told.stderr);
        let once = std::fs::read_to_string(file).unwrap();
        assert_eq!(plans(folder, &name), before, "{} is changed by fmt\n{once}", file.display());
        longhaul(folder, &["fmt", &name]);
        assert_eq!(std::fs::read_to_string(file).unwrap(), once, "{} is laid out differently twice", file.display());
    }
}

#[test]
fn a_file_of_a_dialect_has_no_errors_and_its_conversion_has_the_same_plan() {
    let files = workflows_in(&root().join("tests/dialects"));
    assert!(!files.is_empty());
    for file in files {
        converts(&file);
    }
}

/// Each workflow of the file, converted, beside the prompts and scripts of the original.
fn converts(file: &Path) {
    let project = tempfile::tempdir().unwrap();
    let (folder, name) = (&project.path().join("original"), name_of(file));
    copy_all(folder_of(file), folder);
    let skill = project.path().join(".agents/skills/write-notes");
    std::fs::create_dir_all(&skill).unwrap();
    std::fs::write(skill.join("SKILL.md"), "Write the notes.\n").unwrap();
    let told = longhaul(folder, &["check", &name]);
    assert_eq!(told.code, 0, "{}: {}", file.display(), told.stdout);
    let converted = longhaul(folder, &["convert", "--json", &name]);
    let converted: Value = serde_json::from_str(&converted.stdout).unwrap();
    let originals = plans(folder, &name);
    for (at, workflow) in converted["workflows"].as_array().unwrap().iter().enumerate() {
        let copy = &project.path().join(format!("converted-{at}"));
        copy_all(folder, copy);
        std::fs::remove_file(copy.join(&name)).unwrap();
        let text = workflow["text"].as_str().unwrap();
        let stem = workflow["name"].as_str().unwrap();
        let place = copy.join(format!("{stem}.yaml"));
        std::fs::write(&place, text).unwrap();
        let told = longhaul(copy, &["check", "--dialect", "native", &name_of(&place)]);
        assert_eq!(told.code, 0, "{} converts to\n{text}\n{}", file.display(), told.stdout);
        let again = plans(copy, &name_of(&place));
        assert_eq!(pretty(&again[0]), pretty(&originals[at]), "{} converts to\n{text}", file.display());
    }
}

fn pretty(plan: &Value) -> String {
    serde_json::to_string_pretty(plan).unwrap()
}

fn plans(folder: &Path, name: &str) -> Vec<Value> {
    let told = longhaul(folder, &["show", "--json", name]);
    let shown: Value = serde_json::from_str(&told.stdout).unwrap();
    let plans: Vec<Value> =
        shown["workflows"].as_array().unwrap().iter().map(|workflow| workflow["plan"].clone()).collect();
    assert!(!plans.is_empty() && plans.iter().all(Value::is_object), "{name} has no plan: {}", told.stdout);
    plans
}

fn native_files() -> Vec<PathBuf> {
    workflows_in(&root().join("tests/native"))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn folder_of(file: &Path) -> &Path {
    file.parent().unwrap()
}

fn name_of(file: &Path) -> String {
    file.file_name().unwrap().to_str().unwrap().to_owned()
}

/// The workflow files of a folder and of the folders in it, without what belongs to them.
fn workflows_in(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in entries(folder) {
        if path.is_dir() {
            files.extend(workflows_in(&path));
        } else if !["prompts", "scripts"].iter().any(|part| folder.ends_with(part)) && is_workflow(&path) {
            files.push(path);
        }
    }
    files
}

fn is_workflow(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    ["yaml", "yml", "json", "toml"].contains(&ending)
        || (ending == "md" && std::fs::read_to_string(path).unwrap().starts_with("---\n"))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

fn copy_all(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for path in entries(from) {
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_all(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}
