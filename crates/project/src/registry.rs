//! Workflows on the shelf of a project's store, as if they were files.
//!
//! **Invariant:** only looked at when files of the project do not answer, and never made: a store that is not there, or cannot
//! be read, has no shelf.

use std::cell::OnceCell;

use longhaul_core::registry::{Registry, WorkflowText};
use longhaul_lang::diagnostic::{Severity, render, summary};
use longhaul_lang::source::FILE_BYTES_MAX;
use longhaul_lang::{CheckReport, CheckRequest, hash};
use longhaul_store::StoreAddress;

use crate::disk::Disk;

/// Errors that are told; they often have one cause.
const TOLD_MAX: usize = 20;

/// A workflow of the shelf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryWorkflow {
    /// The name it is found by.
    pub name: String,
    /// What it says.
    pub text: String,
}

/// Reads the registry of a store; `None` where there is none, or it cannot be read.
pub type ReadRegistry = fn(&StoreAddress) -> Option<Registry>;

/// The shelf of a store, read when somebody asks for it.
#[derive(Debug, Default)]
pub struct RegistryReader {
    store: Option<(StoreAddress, ReadRegistry)>,
    read: OnceCell<Vec<RegistryWorkflow>>,
}

impl RegistryReader {
    /// The shelf of a store; of none, an empty one.
    pub fn of(store: Option<StoreAddress>, read: ReadRegistry) -> Self {
        Self { store: store.map(|store| (store, read)), read: OnceCell::new() }
    }

    /// A shelf that was read.
    pub fn known(shelf: &Registry) -> Self {
        Self { store: None, read: OnceCell::from(shelved(shelf)) }
    }

    /// What is on it.
    pub fn all(&self) -> &[RegistryWorkflow] {
        self.read.get_or_init(|| {
            let shelf = self.store.as_ref().and_then(|(store, read)| read(store));
            shelf.as_ref().map(shelved).unwrap_or_default()
        })
    }

    /// The workflow with a name.
    pub fn find(&self, name: &str) -> Option<&RegistryWorkflow> {
        self.all().iter().find(|shelved| shelved.name == name)
    }
}

impl Disk {
    /// A text that may stand on the shelf, with what it is known by; else everything that is wrong with it.
    pub fn shelve(&self, name: &str, text: &str) -> Result<WorkflowText, String> {
        if text.len() > FILE_BYTES_MAX {
            return Err("the text is larger than a workflow may be: 4 MiB".to_owned());
        }
        let file = format!("{name}.yaml");
        let request = CheckRequest {
            file: file.clone(),
            name: name.to_owned(),
            text: text.to_owned(),
            ..CheckRequest::default()
        };
        let report = longhaul_lang::check(request, self);
        if report.has_errors() || report.workflows.iter().all(|workflow| workflow.plan.is_none()) {
            return Err(in_words(&report));
        }
        hash::known(&file, text).ok_or_else(|| "the text cannot be read".to_owned())
    }
}

/// The errors, the first ones in full.
fn in_words(report: &CheckReport) -> String {
    let errors = report.diagnostics.iter().filter(|found| found.severity == Severity::Error);
    let told: Vec<String> = errors.take(TOLD_MAX).map(|found| render(found, &report.sources, false)).collect();
    format!("the workflow has errors, and was not kept\n\n{}\n\n{}", told.join("\n\n"), summary(&report.diagnostics))
}

/// Those that can be started.
fn shelved(shelf: &Registry) -> Vec<RegistryWorkflow> {
    let enabled = shelf.workflows().filter(|(_, kept)| kept.about.enabled);
    enabled
        .map(|(name, kept)| RegistryWorkflow { name: name.to_owned(), text: kept.current().text.text.clone() })
        .collect()
}
