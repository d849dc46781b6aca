//! Tests the files that are generated from the catalogue: the reference, the editors' schema, and the examples in it.
//!
//! **Invariant:** the files in `docs/reference` are what the code makes; every example has no findings; the schema
//! accepts what the checker accepts.

use crate::snapshot;

use std::path::{Path, PathBuf};

use crate::binary::longhaul;
use longhaul_core::catalog::{kinds, manual, schema};
use longhaul_lang::source::{self, Format, Sources};
use serde_json::Value;

#[test]
fn the_reference_of_steps_is_current() {
    let problem = snapshot::compare(&root().join("docs/reference/steps.md"), &manual::manual());
    assert!(problem.is_none(), "{}", problem.unwrap_or_default());
}

#[test]
fn the_schema_for_editors_is_current() {
    let text = serde_json::to_string_pretty(&schema::workflow()).unwrap() + "\n";
    let problem = snapshot::compare(&root().join("docs/reference/schema.json"), &text);
    assert!(problem.is_none(), "{}", problem.unwrap_or_default());
}

#[test]
fn the_openapi_document_is_current() {
    let text = serde_json::to_string_pretty(&longhaul_server::http::openapi()).unwrap() + "\n";
    let problem = snapshot::compare(&root().join("docs/reference/openapi.json"), &text);
    assert!(problem.is_none(), "{}", problem.unwrap_or_default());
}

#[test]
fn the_reference_of_commands_is_current() {
    let folder = tempfile::tempdir().unwrap();
    let problem =
        snapshot::compare(&root().join("docs/reference/commands.md"), &longhaul(folder.path(), &["man"]).stdout);
    assert!(problem.is_none(), "{}", problem.unwrap_or_default());
}

#[test]
fn shells_and_manuals_are_told_about_every_command() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let told = longhaul(folder.path(), &["completions", shell]);
        assert!(told.code == 0 && told.stdout.contains("demo") && told.stdout.contains("unpause"), "{shell}");
    }
    assert_eq!(longhaul(folder.path(), &["man", "--out", "pages"]).code, 0);
    for page in ["longhaul.1", "longhaul-demo.1", "longhaul-triggers.1"] {
        let text = std::fs::read_to_string(folder.path().join("pages").join(page)).unwrap();
        assert!(text.contains(".TH"), "{page}");
    }
}

#[test]
fn every_example_of_the_catalogue_checks_clean() {
    let folder = tempfile::tempdir().unwrap();
    for kind in kinds::ALL {
        let file = format!("{}.yaml", kind.key);
        let indented: String = kind.example.lines().map(|line| format!("  {line}\n")).collect();
        std::fs::write(folder.path().join(&file), format!("do:\n{indented}")).unwrap();
        let told = longhaul(folder.path(), &["check", "--strict", &file]);
        assert!(told.code == 0 && !told.stdout.contains("[LH"), "{}{}", told.stdout, told.stderr);
    }
}

#[test]
fn the_schema_accepts_every_native_file() {
    let validator = jsonschema::validator_for(&schema::workflow()).unwrap();
    let mut count = 0;
    let files = ["examples", "workflows", "tests/native"].iter().flat_map(|folder| yaml_in(&root().join(folder)));
    // Replies of the scripted agent are not workflows.
    for file in files.filter(|file| !file.ends_with("replies.yaml")) {
        let value = as_json(&file);
        let errors: Vec<String> =
            validator.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{}\n{}", file.display(), errors.join("\n"));
        count += 1;
    }
    assert!(count > 20, "{count} files");
}

#[test]
fn the_schema_refuses_what_has_the_wrong_shape() {
    let validator = jsonschema::validator_for(&schema::workflow()).unwrap();
    let broken = [
        "unknown-key-at-top",
        "unknown-key-on-step",
        "unknown-key-in-output",
        "unknown-key-in-nested-branch",
        "unknown-key-in-limits",
        "unknown-key-in-retry-backoff",
        "slip-of-an-action",
        "step-without-action",
        "two-actions",
        "steps-is-a-mapping",
        "bare-number-as-timeout",
        "not-one-of-the-words",
        "number-out-of-range",
        "id-with-spaces",
        "missing-cases",
    ];
    for name in broken {
        let value = as_json(&root().join(format!("tests/broken/{name}.yaml")));
        assert!(!validator.is_valid(&value), "{name}");
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn yaml_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(read) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files = Vec::new();
    for path in read.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            files.extend(yaml_in(&path));
        } else if path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml") {
            files.push(path);
        }
    }
    files
}

fn as_json(file: &Path) -> Value {
    let mut sources = Sources::default();
    let text = std::fs::read_to_string(file).unwrap();
    let id = sources.add(file.display().to_string(), text);
    let node = source::read(&sources, id, Format::Yaml, &mut Vec::new()).unwrap();
    node.to_json()
}
