//! Tests that the code matches its documents: crates, dependencies, names, and the stations of each walk.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Crates for tests and measurements only: the picture leaves them out.
const BESIDE: &[&str] = &["testkit", "bench"];
/// The start and the end of the picture of the crates in `ARCHITECTURE.md`.
const PICTURE: (&str, &str) = ("<!-- crates: made by a test -->\n```\n", "```\n");
/// The names of other systems, as code spells them.
const SYSTEMS: &[&str] =
    &["agent007", "workhorse", "work_buddy", "work-buddy", "workbuddy", "valet", "codex-workflows"];
/// Folders that translate another system, and files that show people its name.
const TRANSLATORS: &[&str] = &["dialect", "compat"];
const NAMING: &[&str] = &[
    "crates/core/src/catalog",
    "crates/cli/src/commands",
    // Folders and prefixes that users of other systems have and type.
    "crates/project/src/cards.rs",
    "crates/server/src/mcp/dispatch.rs",
];

fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// Every source file of the product, by its path from the root.
fn sources() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        collect(&entry.unwrap().path().join("src"), &mut found);
    }
    found
}

fn collect(folder: &Path, found: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
            found.insert(name, fs::read_to_string(&path).unwrap());
        }
    }
}

/// The dependencies between our crates, from cargo.
fn arrows() -> BTreeMap<String, BTreeSet<String>> {
    let cargo = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&cargo.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    packages.iter().map(|package| (folder_of(package), needs(package))).filter(|(name, _)| is_shipped(name)).collect()
}

fn is_shipped(name: &str) -> bool {
    !BESIDE.contains(&name)
}

fn folder_of(package: &Value) -> String {
    let manifest = Path::new(package["manifest_path"].as_str().unwrap());
    manifest.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned()
}

fn needs(package: &Value) -> BTreeSet<String> {
    let dependencies = package["dependencies"].as_array().unwrap();
    let ours = dependencies.iter().filter(|dependency| dependency["kind"].is_null());
    ours.filter_map(|dependency| dependency["name"].as_str()?.strip_prefix("longhaul-")).map(str::to_owned).collect()
}

/// The crates from top to bottom: each line depends only on lines below it.
fn picture() -> String {
    let arrows = arrows();
    let mut left: Vec<&String> = arrows.keys().collect();
    let mut lines = Vec::new();
    while !left.is_empty() {
        let free = |name: &&&String| !left.iter().any(|other| arrows[*other].contains(**name));
        let top: Vec<&String> = left.iter().filter(free).copied().collect();
        assert!(!top.is_empty(), "crates depend on each other in a circle: {left:?}");
        for name in &top {
            let below: Vec<&str> = arrows[*name].iter().map(String::as_str).collect();
            lines.push(format!(
                "{name:<8} → {}",
                if below.is_empty() { "nothing".to_owned() } else { below.join(", ") }
            ));
        }
        left.retain(|name| !top.contains(name));
    }
    lines.join("\n") + "\n"
}

#[test]
fn the_picture_of_the_crates_is_what_cargo_builds() {
    let text = read("ARCHITECTURE.md");
    let start = text.find(PICTURE.0).expect("ARCHITECTURE.md has the picture") + PICTURE.0.len();
    let end = start + text[start..].find(PICTURE.1).unwrap();
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(root().join("ARCHITECTURE.md"), format!("{}{}{}", &text[..start], picture(), &text[end..])).unwrap();
        return;
    }
    assert_eq!(&text[start..end], picture(), "UPDATE_SNAPSHOTS=1 writes it");
}

#[test]
fn every_crate_is_described() {
    let text = read("ARCHITECTURE.md");
    for name in arrows().keys() {
        assert!(
            text.contains(&format!("| `crates/{name}` |")),
            "ARCHITECTURE.md does not say what crates/{name} is for"
        );
    }
}

/// The names of public types in a text.
fn public_types(text: &str) -> impl Iterator<Item = &str> {
    let named = text.lines().filter_map(|line| line.trim_start().strip_prefix("pub "));
    let types = named.filter_map(|line| ["struct ", "enum ", "trait "].iter().find_map(|kind| line.strip_prefix(kind)));
    types.map(|rest| rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or_default())
}

#[test]
fn no_two_public_types_have_the_same_name() {
    let mut seen: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (file, text) in sources() {
        // A module's error type is called `Error`; the module says whose it is.
        for name in public_types(&text).filter(|name| !name.is_empty() && *name != "Error") {
            seen.entry(name.to_owned()).or_default().push(file.clone());
        }
    }
    assert!(seen.len() > 300, "the sources were not read");
    let twice: Vec<_> = seen.iter().filter(|(_, files)| files.len() > 1).collect();
    assert!(twice.is_empty(), "{twice:#?}");
}

#[test]
fn other_systems_are_named_at_the_edges_only() {
    let is_edge = |file: &str| {
        let mut parts = file.split(['/', '.']);
        parts.any(|part| TRANSLATORS.contains(&part)) || NAMING.iter().any(|path| file.starts_with(path))
    };
    let product = sources()
        .into_iter()
        .filter(|(file, _)| !BESIDE.iter().any(|name| file.starts_with(&format!("crates/{name}/"))));
    let mut found = Vec::new();
    for (file, text) in product.filter(|(file, _)| !is_edge(file)) {
        let named = |line: &str| SYSTEMS.iter().any(|system| line.to_lowercase().contains(system));
        found.extend(text.lines().filter(|line| named(line)).map(|line| format!("{file}: {}", line.trim())));
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// The stations of the walks: a file, and a function or type in it.
fn stations(text: &str) -> Vec<(String, String, String)> {
    let mut walk = String::new();
    let mut found = Vec::new();
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            walk = title.to_owned();
        }
        let mut cells = line.split('|').map(|cell| cell.trim().trim_matches('`'));
        if let (Some(""), Some(_), Some(file), Some(name)) = (cells.next(), cells.next(), cells.next(), cells.next())
            && file.starts_with("crates/")
        {
            found.push((walk.clone(), file.to_owned(), name.to_owned()));
        }
    }
    found
}

#[test]
fn the_stations_of_the_walks_exist() {
    let stations = stations(&read("docs/walks.md"));
    let mut walks: BTreeMap<&str, usize> = BTreeMap::new();
    for (walk, file, name) in &stations {
        *walks.entry(walk).or_default() += 1;
        let text = fs::read_to_string(root().join(file)).unwrap_or_else(|_| panic!("{walk}: there is no {file}"));
        let item = name.rsplit("::").next().unwrap();
        let is_there = ["fn ", "struct ", "enum "].iter().any(|kind| text.contains(&format!("{kind}{item}")));
        assert!(is_there, "{walk}: {file} has no `{item}`");
    }
    assert_eq!(walks.len(), 4, "{walks:?}");
    assert!(walks.values().all(|count| (4..=12).contains(count)), "{walks:?}");
}

#[test]
fn every_decision_is_listed_and_every_listed_one_exists() {
    let list = read("docs/decisions/README.md");
    let files = fs::read_dir(root().join("docs/decisions")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut count = 0;
    for file in files.map(|file| file.into_string().unwrap()).filter(|file| file != "README.md") {
        assert!(list.contains(&format!("({file})")), "docs/decisions/README.md does not list {file}");
        count += 1;
    }
    assert_eq!(count, list.matches(".md)").count());
}

#[test]
fn the_files_that_the_architecture_names_exist() {
    let text = read("ARCHITECTURE.md");
    let named =
        text.split('`').skip(1).step_by(2).filter(|name| name.contains("/src/") && !name.contains(['<', '{', '*']));
    let mut count = 0;
    for name in named {
        let path = if name.starts_with("web/") { name.to_owned() } else { format!("crates/{name}") };
        assert!(root().join(&path).exists(), "ARCHITECTURE.md names {path}, which does not exist");
        count += 1;
    }
    assert!(count > 60, "only {count} files were found");
}
