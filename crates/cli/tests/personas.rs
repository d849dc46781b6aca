//! Tests `longhaul personas`, `longhaul skills` and `longhaul list`: the entries, their origins, and which ones they
//! hide.

use std::path::Path;

use crate::binary::longhaul;
use serde_json::Value;
use tempfile::TempDir;

/// A folder that is a project, whatever is above it.
fn project() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".longhaul")).unwrap();
    folder
}

fn write(folder: &Path, path: &str, text: &str) {
    let file = folder.join(path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}

fn json(folder: &Path, args: &[&str]) -> Value {
    let told = longhaul(folder, args);
    assert_eq!(told.code, 0, "{args:?}: {}", told.stderr);
    serde_json::from_str(&told.stdout).unwrap()
}

fn named<'a>(list: &'a Value, name: &str) -> &'a Value {
    list.as_array().unwrap().iter().find(|one| one["name"] == name).unwrap()
}

#[test]
fn personas_of_a_project_hide_built_in_ones() {
    let folder = project();
    write(folder.path(), ".claude/agents/engineer.md", "---\ndescription: Ours\nmodel: opus\n---\nYou build.\n");
    let list = json(folder.path(), &["personas", "--json"]);
    let ours = named(&list, "engineer");
    assert_eq!(
        (&ours["origin"], &ours["description"], &ours["model"]),
        (&"project".into(), &"Ours".into(), &"opus".into())
    );
    assert_eq!(ours["hides"][0]["origin"], "builtin");
    assert_eq!(named(&list, "code-reviewer")["sandbox"], "read-only");
    assert!(list.as_array().unwrap().iter().all(|one| one["description"] != "" && one["text"] != ""));
    assert_eq!(longhaul(folder.path(), &["personas", "Engineer"]).stdout, "You build.\n");
    let text = longhaul(folder.path(), &["personas"]).stdout;
    assert!(text.contains("hides <built in>/engineer.md (built in)"), "{text}");
}

#[test]
fn skills_are_files_and_folders() {
    let folder = project();
    let built_in = json(folder.path(), &["skills", "--json"]);
    assert!(built_in.as_array().unwrap().iter().all(|one| one["origin"] == "builtin" && one["text"] != ""));
    assert!(named(&built_in, "design-template")["text"].as_str().unwrap().contains("## What must not change"));
    write(folder.path(), ".claude/skills/release/SKILL.md", "---\ndescription: How we release\n---\nTag it.\n");
    write(folder.path(), ".agents/skills/style.md", "Be short.\n");
    let list = json(folder.path(), &["skills", "--json"]);
    assert_eq!(named(&list, "release")["description"], "How we release");
    assert_eq!(named(&list, "style")["text"], "Be short.");
    let told = longhaul(folder.path(), &["skills", "relaese"]);
    assert_ne!(told.code, 0);
    assert!(told.stderr.contains("there is no `relaese`; `longhaul skills` shows what there is"), "{}", told.stderr);
}

#[test]
fn a_workflow_of_the_project_hides_the_built_in_one() {
    let folder = project();
    write(folder.path(), ".longhaul/workflows/tdd.yaml", "description: Ours\ndo: [{run: make}]\n");
    let list = json(folder.path(), &["list", "--json"]);
    assert_eq!(
        (&named(&list, "tdd")["origin"], &named(&list, "tdd")["description"]),
        (&"project".into(), &"Ours".into())
    );
    assert_eq!(named(&list, "tdd")["hides"][0]["origin"], "builtin");
    assert_eq!(named(&list, "implement")["origin"], "builtin");
    let is_part = |one: &Value| one["name"].as_str().is_some_and(|name| name.starts_with("part-"));
    assert!(!list.as_array().unwrap().iter().any(is_part), "{list}");
    let all = json(folder.path(), &["list", "--all", "--json"]);
    assert!(all.as_array().unwrap().iter().any(is_part), "{all}");
    assert!(all.as_array().unwrap().iter().all(|one| one["ok"] == true), "{all}");
}
