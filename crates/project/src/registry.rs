//! Gives access to workflows in the registry of a project's store, like files.
//!
//! **Invariant:** it reads the registry only if the project's files have no match, and never creates one. A missing
//! or unreadable store has an empty registry.

use std::cell::OnceCell;

use longhaul_core::registry::{Registry, WorkflowText};
use longhaul_lang::diagnostic::{Severity, render, summary};
use longhaul_lang::source::FILE_BYTES_MAX;
use longhaul_lang::{CheckReport, CheckRequest, hash};
use longhaul_store::StoreAddress;

use crate::disk::Disk;

/// The most errors in a message; they often have one cause.
const TOLD_MAX: usize = 20;

/// A workflow of the registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryWorkflow {
    /// The name of the workflow.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// Reads the registry of a store; `None` if there is none, or it cannot be read.
pub type ReadRegistry = fn(&StoreAddress) -> Option<Registry>;

/// The registry of a store, read at the first use.
#[derive(Debug, Default)]
pub struct RegistryReader {
    store: Option<(StoreAddress, ReadRegistry)>,
    read: OnceCell<Vec<RegistryWorkflow>>,
}

impl RegistryReader {
    /// The registry of a store; empty without a store.
    pub fn of(store: Option<StoreAddress>, read: ReadRegistry) -> Self {
        Self { store: store.map(|store| (store, read)), read: OnceCell::new() }
    }

    /// A registry that was read already.
    pub fn known(shelf: &Registry) -> Self {
        Self { store: None, read: OnceCell::from(shelved(shelf)) }
    }

    /// All workflows in it.
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
    /// Checks a text for the registry and computes its hashes; otherwise returns all its errors.
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
    format!("the workflow has errors and was not saved\n\n{}\n\n{}", told.join("\n\n"), summary(&report.diagnostics))
}

/// The workflows that can be started.
fn shelved(shelf: &Registry) -> Vec<RegistryWorkflow> {
    let enabled = shelf.workflows().filter(|(_, kept)| kept.about.enabled);
    enabled
        .map(|(name, kept)| RegistryWorkflow { name: name.to_owned(), text: kept.current().text.text.clone() })
        .collect()
}
