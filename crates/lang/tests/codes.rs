//! Tests the manual of mistakes: every code has a page, and every page is correct.
//!
//! **Invariant:** the codes in the sources, the list in `codes.rs` and the pages in `docs/errors` are the same set; the
//! file under "Wrong" gives the page's code and no other error, the one under "Right" gives nothing. Codes of requests
//! (`LH07…`) belong to no file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use longhaul_lang::diagnostic::Severity;
use longhaul_lang::world::{Able, Bare, FoundWorkflow, NameKind, Unavailable, World};
use longhaul_lang::{CheckReport, CheckRequest, codes};

/// Codes whose mistake a block of YAML cannot show: it is in the bytes.
const WITHOUT_WRONG: &[&str] = &["LH0103"];

#[test]
fn the_list_holds_exactly_the_codes_of_the_sources() {
    let mut used = BTreeSet::new();
    for folder in ["crates/core/src", "crates/lang/src", "crates/cli/src", "crates/server/src"] {
        collect_codes(&root().join(folder), &mut used);
    }
    let listed: BTreeSet<String> = codes::ALL.iter().map(|entry| entry.code.to_owned()).collect();
    assert_eq!(used, listed, "left: in the sources, right: in codes.rs");
}

#[test]
fn the_list_is_in_order_and_each_code_is_there_once() {
    let listed: Vec<&str> = codes::ALL.iter().map(|entry| entry.code).collect();
    assert!(listed.windows(2).all(|pair| pair[0] < pair[1]), "{listed:?}");
}

#[test]
fn the_folder_holds_exactly_the_pages_of_the_list() {
    let pages: BTreeSet<String> = names_in(&root().join("docs/errors")).into_iter().collect();
    let listed: BTreeSet<String> = codes::ALL.iter().map(|entry| format!("{}.md", entry.code)).collect();
    assert_eq!(pages, listed);
}

#[test]
fn every_page_opens_with_its_code_and_a_title_and_explains() {
    for entry in codes::ALL {
        let head = format!("# {}: {}\n\n", entry.code, entry.title());
        assert!(entry.page.starts_with(&head) && !entry.title().is_empty(), "{}", entry.code);
        let text = entry.page[head.len()..].split("\n## ").next().unwrap_or_default();
        assert!((80..1000).contains(&text.trim().len()), "{}: {} bytes", entry.code, text.len());
    }
}

/// Codes of mistakes in files.
fn of_files() -> impl Iterator<Item = &'static codes::CodeEntry> {
    codes::ALL.iter().filter(|entry| !entry.code.starts_with("LH07"))
}

#[test]
fn what_a_page_calls_wrong_gives_its_code_and_no_other_error() {
    for entry in of_files() {
        let files = blocks(entry.page, "Wrong");
        assert_eq!(files.is_empty(), WITHOUT_WRONG.contains(&entry.code), "{}", entry.code);
        if files.is_empty() {
            continue;
        }
        let report = check(files);
        assert!(report.diagnostics.iter().any(|found| found.code == entry.code), "{}", told(entry.code, &report));
        let mut errors = report.diagnostics.iter().filter(|found| found.severity == Severity::Error);
        assert!(errors.all(|found| found.code == entry.code), "{}", told(entry.code, &report));
    }
}

#[test]
fn what_a_page_calls_right_is_clean() {
    for entry in of_files() {
        let files = blocks(entry.page, "Right");
        assert!(!files.is_empty(), "{} shows no way out", entry.code);
        let report = check(files);
        // The page shows a correct trigger, although nothing reads it yet.
        let is_known = |code: &str| code == "LH0514" && entry.code != "LH0514";
        assert!(report.diagnostics.iter().all(|found| is_known(found.code)), "{}", told(entry.code, &report));
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn names_in(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files.map(|file| file.file_name().to_string_lossy().into_owned()).collect()
}

#[expect(clippy::disallowed_methods, reason = "the test is about the source files themselves")]
fn collect_codes(folder: &Path, found: &mut BTreeSet<String>) {
    for name in names_in(folder) {
        let path = folder.join(&name);
        if path.is_dir() {
            collect_codes(&path, found);
        } else if name.ends_with(".rs") && name != "codes.rs" {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            found.extend(text.split('"').filter(|word| is_code(word)).map(str::to_owned));
        }
    }
}

fn is_code(word: &str) -> bool {
    word.strip_prefix("LH").is_some_and(|rest| rest.len() == 4 && rest.bytes().all(|b| b.is_ascii_digit()))
}

/// The files of a section, by path: a block without `file=` is `main.yaml`.
fn blocks(page: &str, section: &str) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let (_, text) = page.split_once(&format!("\n## {section}\n")).unwrap_or_default();
    let mut parts = text.split("\n## ").next().unwrap_or_default().split("```");
    while let (Some(_), Some(block)) = (parts.next(), parts.next()) {
        let (head, body) = block.split_once('\n').unwrap_or_default();
        let path = head.split_once("file=").map_or("main.yaml", |(_, path)| path);
        files.insert(path.to_owned(), body.to_owned());
    }
    files
}

fn check(mut files: BTreeMap<String, String>) -> CheckReport {
    let text = files.remove("main.yaml").unwrap_or_default();
    let request = CheckRequest { file: "main.yaml".into(), name: "main".into(), text, ..CheckRequest::default() };
    longhaul_lang::check(request, &Pages::new(files))
}

fn told(code: &str, report: &CheckReport) -> String {
    let all = report.diagnostics.iter().map(|found| format!("\n  {} {}", found.code, found.message));
    format!("the page of {code}:{}", all.collect::<String>())
}

/// The files of a page, and a few other names.
struct Pages {
    files: BTreeMap<String, String>,
    bare: Bare,
    personas: Vec<String>,
    skills: Vec<String>,
}

impl Pages {
    fn new(files: BTreeMap<String, String>) -> Self {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let (personas, skills) = (owned(&["code-reviewer", "coder"]), owned(&["release-notes"]));
        Self { files, bare: Bare::default(), personas, skills }
    }
}

impl World for Pages {
    fn read(&self, _dir: &str, path: &str) -> Result<String, Unavailable> {
        if path.starts_with("../") {
            return Err(Unavailable::Outside);
        }
        self.files.get(path).cloned().ok_or(Unavailable::NotFound)
    }

    fn able(&self, agent: &str) -> Option<Able> {
        let tools = agent != "codex";
        let able = Able { tools, read_only: true, mcp: agent != "openai", mcp_only: agent == "claude" };
        self.bare.names(NameKind::Backend).iter().any(|name| name == agent).then_some(able)
    }

    fn exists(&self, dir: &str, path: &str) -> Result<(), Unavailable> {
        self.read(dir, path).map(drop)
    }

    fn workflow(&self, dir: &str, name: &str) -> Result<FoundWorkflow, Unavailable> {
        let text = self.read(dir, name)?;
        Ok(FoundWorkflow { name: name.to_owned(), dir: String::new(), text })
    }

    fn names(&self, kind: NameKind) -> &[String] {
        match kind {
            NameKind::Persona => &self.personas,
            NameKind::Skill => &self.skills,
            _ => self.bare.names(kind),
        }
    }
}
