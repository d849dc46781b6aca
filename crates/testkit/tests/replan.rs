//! Runs the pairs of `tests/replan`: a workflow, a script, the changed workflow, and what comes of the run.
//!
//! `UPDATE_SNAPSHOTS=1 cargo test -p longhaul-testkit --test all replan::` writes the results; read them before you commit them.

use std::path::{Path, PathBuf};

use longhaul_testkit::VirtualWorld;

fn folders() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/replan");
    let mut folders: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders
}

/// What comes of a pair: the comparison, and then the events after it.
fn came(folder: &Path) -> Result<String, String> {
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
    let script = read("script");
    let (first, then) = script.split_once("--- after\n").unwrap_or((&script, ""));
    let mut world = VirtualWorld::new(&read("before.yaml"), first)?;
    world.run()?;
    let before = world.lines.len();
    let comparison = world.replace(&read("after.yaml"), then)?;
    Ok(format!("{comparison}---\n{}\n= {}\n", world.lines[before..].join("\n"), world.state.status()))
}

#[test]
fn every_pair_comes_out_as_it_says() {
    let only = std::env::var("PAIR").unwrap_or_default();
    let update = std::env::var_os("UPDATE_SNAPSHOTS").is_some();
    let mut wrong = Vec::new();
    let folders = folders();
    assert!(folders.len() >= 60, "{} pairs", folders.len());
    for folder in folders.iter().filter(|folder| folder.display().to_string().contains(&only)) {
        let came = came(folder).unwrap_or_else(|why| format!("BROKEN {why}\n"));
        let file = folder.join("expected");
        let expected = std::fs::read_to_string(&file).unwrap_or_default();
        if update {
            std::fs::write(&file, &came).unwrap();
        } else if expected != came {
            wrong.push(format!("{}\n--- expected\n{expected}--- came\n{came}", folder.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
