//! Tests names of files that are not files, or are elsewhere.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::hostile::child::{folder_with, refused_in, run, said};

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// The codes for a workflow whose prompt is the file at a path.
fn prompt_at(path: &str, prepare: impl Fn(&Path)) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("w");
    fs::create_dir(&home).unwrap();
    fs::write(home.join("workflow.yaml"), format!("do: [{{prompt: {{file: {path:?}}}}}]\n")).unwrap();
    prepare(&home);
    refused_in(folder.path(), "w").0
}

#[test]
fn prompts_stay_in_the_folder() {
    assert_eq!(prompt_at("/etc/passwd", |_| ()), ["LH0403"]);
    assert_eq!(prompt_at("../x.md", |home| fs::write(home.join("../x.md"), "x").unwrap()), ["LH0403"]);
    assert_eq!(
        prompt_at("a/../../x.md", |home| {
            fs::create_dir(home.join("a")).unwrap();
            fs::write(home.join("../x.md"), "x").unwrap();
        }),
        ["LH0403"]
    );
    assert_eq!(prompt_at("link.md", |home| symlink("/etc/passwd", home.join("link.md")).unwrap()), ["LH0403"]);
    assert_eq!(prompt_at("out/passwd", |home| symlink("/etc", home.join("out")).unwrap()), ["LH0403"]);
}

/// The codes for a workflow of a project, in its folder `sub`, that uses another one.
fn used_at(name: &str, prepare: impl Fn(&Path)) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("project");
    fs::create_dir_all(home.join(".agents")).unwrap();
    fs::create_dir(home.join("sub")).unwrap();
    fs::write(home.join("sub/w.yaml"), format!("do: [{{workflow: {name:?}}}, {{run: x, bad: key}}]\n")).unwrap();
    for place in [folder.path().join("far.yaml"), home.join("near.yaml")] {
        fs::write(place, "do: [{run: x}]\n").unwrap();
    }
    prepare(&home);
    refused_in(&home, "sub/w.yaml").0
}

#[test]
fn workflows_of_others_stay_in_the_project() {
    let only_the_other = used_at("../near.yaml", |_| ());
    assert_eq!(used_at("near", |_| ()), only_the_other);
    let also = |code: &str| [vec![code.to_owned()], only_the_other.clone()].concat();
    assert_eq!(used_at("../../far.yaml", |_| ()), also("LH0414"));
    assert_eq!(used_at("../../none.yaml", |_| ()), also("LH0408"));
    let link = |home: &Path| symlink("../../far.yaml", home.join("sub/link.yaml")).unwrap();
    assert_eq!(used_at("link.yaml", link), also("LH0414"));
    // A name is searched for nearby, but not outside the project.
    assert_eq!(used_at("link", link), also("LH0408"));
}

#[test]
fn what_is_no_file_is_no_prompt_and_nobody_waits_for_it() {
    assert_eq!(prompt_at("pipe", |home| pipe(&home.join("pipe"))), ["LH0401"]);
    assert_eq!(prompt_at("sub", |home| fs::create_dir(home.join("sub")).unwrap()), ["LH0401"]);
    assert_eq!(prompt_at("loop", |home| symlink("loop", home.join("loop")).unwrap()), ["LH0401"]);
    assert_eq!(
        prompt_at("large", |home| fs::File::create(home.join("large")).unwrap().set_len(9 << 20).unwrap()),
        ["LH0401"]
    );
    assert_eq!(prompt_at("bytes", |home| fs::write(home.join("bytes"), b"\xff").unwrap()), ["LH0401"]);
}

#[test]
fn a_prompt_that_includes_itself_is_read_once() {
    let folder = folder_with("do: [{prompt: {file: a.md}}]\n");
    fs::write(folder.path().join("a.md"), "{% include 'a.md' %}{{ nothing }}").unwrap();
    let text = refused_in(folder.path(), "w.yaml").1;
    assert!(text.contains("a.md"), "{text}");
}

#[test]
fn one_large_prompt_in_a_thousand_steps_is_refused() {
    let steps: String = (0..1_000).map(|at| format!("- {{id: s{at}, prompt: {{file: a.md}}}}\n")).collect();
    let folder = folder_with(format!("do:\n{steps}"));
    fs::write(folder.path().join("a.md"), "word ".repeat(40_000)).unwrap();
    let (codes, text) = refused_in(folder.path(), "w.yaml");
    assert!(codes == ["LH0401"] && text.contains("16 MiB"), "{text:.1000}");
}

#[test]
fn pipes_and_folders_are_no_workflows() {
    let folder = folder_with("do: [{run: x}]\n");
    pipe(&folder.path().join("pipe.yaml"));
    fs::create_dir(folder.path().join("folder.yaml")).unwrap();
    refused_in(folder.path(), "pipe.yaml");
    refused_in(folder.path(), "folder.yaml");
    refused_in(folder.path(), "/dev/zero");
    said(&run(folder.path(), &["check", "."]));
}

#[test]
fn a_project_full_of_pipes_is_listed() {
    let folder = folder_with("do: [{workflow: pipe}, {id: b, workflow: ./pipe.yaml}, {id: c, agent: x, prompt: y}]\n");
    let places = [".longhaul/workflows", ".longhaul/personas", ".longhaul/skills"];
    for place in places {
        fs::create_dir_all(folder.path().join(place)).unwrap();
        pipe(&folder.path().join(place).join("pipe.yaml"));
        pipe(&folder.path().join(place).join("pipe.md"));
    }
    for file in ["pipe.yaml", ".mcp.json", ".longhaul/config.toml"] {
        pipe(&folder.path().join(file));
    }
    refused_in(folder.path(), "w.yaml");
    for args in [&["list"] as &[&str], &["check"], &["show", "pipe"], &["list", "--json"]] {
        said(&run(folder.path(), args));
    }
}
