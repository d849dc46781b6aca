//! Workflows on the shelf of a project's store, as if they were files.
//!
//! **Invariant:** only looked at when files of the project do not answer, and never made: a store that is not there, or cannot
//! be read, has no shelf.

use std::cell::OnceCell;
use std::time::Duration;

use longhaul_core::shelf::{Shelf, Text};
use longhaul_lang::diagnostic::{Severity, render, summary};
use longhaul_lang::source::FILE_BYTES_MAX;
use longhaul_lang::{Report, Request, hash};
use longhaul_store::Place;

use crate::disk::Disk;

/// Errors that are told; they often have one cause.
const TOLD_MAX: usize = 20;
/// How long a store that does not answer is waited for: whoever looks for a workflow may not need it.
const PATIENCE: Duration = Duration::from_secs(3);

/// A workflow of the shelf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shelved {
    /// The name it is found by.
    pub name: String,
    /// What it says.
    pub text: String,
}

/// The shelf of a store, read when somebody asks for it.
#[derive(Debug, Default)]
pub struct Shelves {
    store: Option<Place>,
    read: OnceCell<Vec<Shelved>>,
}

impl Shelves {
    /// The shelf of a store; of none, an empty one.
    pub fn of(store: Option<Place>) -> Self {
        Self { store, read: OnceCell::new() }
    }

    /// A shelf that was read.
    pub fn known(shelf: &Shelf) -> Self {
        Self { store: None, read: OnceCell::from(shelved(shelf)) }
    }

    /// What is on it.
    pub fn all(&self) -> &[Shelved] {
        self.read.get_or_init(|| self.store.as_ref().map(read).unwrap_or_default())
    }

    /// The workflow with a name.
    pub fn find(&self, name: &str) -> Option<&Shelved> {
        self.all().iter().find(|shelved| shelved.name == name)
    }
}

impl Disk {
    /// A text that may stand on the shelf, with what it is known by; else everything that is wrong with it.
    pub fn shelve(&self, name: &str, text: &str) -> Result<Text, String> {
        if text.len() > FILE_BYTES_MAX {
            return Err("the text is larger than a workflow may be: 4 MiB".to_owned());
        }
        let file = format!("{name}.yaml");
        let request =
            Request { file: file.clone(), name: name.to_owned(), text: text.to_owned(), ..Request::default() };
        let report = longhaul_lang::check(request, self);
        if report.has_errors() || report.workflows.iter().all(|workflow| workflow.plan.is_none()) {
            return Err(in_words(&report));
        }
        hash::known(&file, text).ok_or_else(|| "the text cannot be read".to_owned())
    }
}

/// The errors, the first ones in full.
fn in_words(report: &Report) -> String {
    let errors = report.diagnostics.iter().filter(|found| found.severity == Severity::Error);
    let told: Vec<String> = errors.take(TOLD_MAX).map(|found| render(found, &report.sources, false)).collect();
    format!("the workflow has errors, and was not kept\n\n{}\n\n{}", told.join("\n\n"), summary(&report.diagnostics))
}

/// Those that can be started.
fn shelved(shelf: &Shelf) -> Vec<Shelved> {
    let enabled = shelf.workflows().filter(|(_, kept)| kept.about.enabled);
    enabled.map(|(name, kept)| Shelved { name: name.to_owned(), text: kept.current().text.text.clone() }).collect()
}

/// On a thread of its own: whoever asks may be inside a runtime, and cannot wait there.
fn read(store: &Place) -> Vec<Shelved> {
    if store.file().is_some_and(|file| !file.is_file()) {
        return Vec::new();
    }
    let store = store.clone();
    let reading = std::thread::Builder::new().spawn(move || read_here(&store)).ok();
    reading.and_then(|reading| reading.join().ok()).flatten().unwrap_or_default()
}

fn read_here(store: &Place) -> Option<Vec<Shelved>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    runtime.block_on(async {
        let store = store.open(PATIENCE).await.ok()?;
        longhaul_runtime::read_shelf(store.as_ref()).await.ok().map(|shelf| shelved(&shelf))
    })
}
