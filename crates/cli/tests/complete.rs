//! Tests that every test file is part of its crate's test program: a file that no `mod` names would never run.

use std::path::{Path, PathBuf};

/// The entries of a folder.
fn inside(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).map_or_else(|_| Vec::new(), |found| found.map(|entry| entry.unwrap().path()).collect())
}

/// The file that names the modules in the folder of `file`, or beside it if it is a module itself.
fn parent(file: &Path) -> PathBuf {
    let folder = file.parent().unwrap();
    let above = if file.ends_with("mod.rs") { folder.parent().unwrap() } else { folder };
    let beside = above.with_extension("rs");
    let candidates = [above.join("all.rs"), above.join("mod.rs"), beside];
    candidates.into_iter().find(|path| path.exists()).unwrap_or_else(|| panic!("nothing names {}", file.display()))
}

/// The files below a folder that no module names.
fn forgotten(folder: &Path) -> Vec<PathBuf> {
    let (folders, files): (Vec<_>, Vec<_>) = inside(folder).into_iter().partition(|path| path.is_dir());
    let code =
        files.into_iter().filter(|file| file.extension().is_some_and(|end| end == "rs") && !file.ends_with("all.rs"));
    code.filter(|file| !is_named(file)).chain(folders.iter().flat_map(|folder| forgotten(folder))).collect()
}

fn is_named(file: &Path) -> bool {
    let named = if file.ends_with("mod.rs") { file.parent().unwrap() } else { file };
    let line = format!("mod {};", named.file_stem().unwrap().to_str().unwrap());
    std::fs::read_to_string(parent(file)).unwrap().lines().any(|found| found.trim_end().ends_with(&line))
}

#[test]
fn every_file_of_tests_is_run() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let programs: Vec<PathBuf> = inside(crates).into_iter().map(|one| one.join("tests")).collect();
    let single: Vec<&PathBuf> = programs.iter().filter(|tests| tests.join("all.rs").exists()).collect();
    assert!(single.len() >= 6, "{single:?}");
    let forgotten: Vec<PathBuf> = single.into_iter().flat_map(|tests| forgotten(tests)).collect();
    assert!(forgotten.is_empty(), "write `mod NAME;` where their neighbours are named: {forgotten:?}");
}
