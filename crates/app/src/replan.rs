//! Continues runs with a changed workflow.

use std::path::Path;

use indexmap::IndexMap;
use longhaul_core::Json;
use longhaul_core::id::RunId;
use longhaul_core::origin::Caller;
use longhaul_core::replan::{Choices, Comparison};
use longhaul_project::Disk;
use longhaul_runtime::{Applied, Error, ForkRequest, Loaded, ReplanRequest, SourceText, Startable};

use crate::command::PATIENCE;
use crate::{App, workflow};

/// A changed workflow for a run.
#[derive(Debug, Clone)]
pub struct Replanning {
    /// The workflow.
    pub what: Startable,
    /// Inputs that differ from those of the run.
    pub inputs: IndexMap<String, Json>,
    /// What the caller has decided about single steps.
    pub choices: Choices,
    /// The hash of the comparison that the caller was shown.
    pub expect: Option<String>,
}

impl Replanning {
    /// A workflow, and nothing else.
    pub fn new(what: Startable) -> Self {
        Self { what, inputs: IndexMap::new(), choices: Choices::default(), expect: None }
    }

    fn request(&self, caller: &Caller) -> ReplanRequest {
        ReplanRequest {
            inputs: self.inputs.clone(),
            choices: self.choices.clone(),
            by: caller.by().map(str::to_owned),
            ..ReplanRequest::new(self.what.plan.clone(), self.what.source.clone())
        }
    }
}

impl App {
    /// What a changed workflow means for a run. Changes nothing.
    pub async fn compare(&self, run: &RunId, how: &Replanning, caller: &Caller) -> Result<Comparison, Error> {
        self.engine().compare(run, &how.request(caller), &caller.who).await
    }

    /// Continues a run with a changed workflow.
    pub async fn replan(&self, run: &RunId, how: &Replanning, caller: &Caller) -> Result<(Comparison, Applied), Error> {
        let request = how.request(caller);
        self.engine().replan(run, &request, how.expect.as_deref(), &caller.who, PATIENCE).await
    }

    /// Records a run that shares the past of another one and continues with a changed workflow. The caller owns the new run.
    pub async fn fork_with(
        &self,
        from: &RunId,
        how: &Replanning,
        run: Option<RunId>,
        caller: &Caller,
    ) -> Result<RunId, Error> {
        // Before there is a run that could not continue.
        let comparison = self.compare(from, how, caller).await?;
        longhaul_runtime::settled(&comparison, how.expect.as_deref())?;
        let owner = Some(caller.who.clone());
        let request = ForkRequest { at: None, inputs: IndexMap::new(), run, trigger: None, owner };
        let forked = self.engine().fork(from, request).await?;
        self.replan(&forked, &Replanning { expect: None, ..how.clone() }, caller).await?;
        Ok(forked)
    }

    /// The text that a run holds; `None` if an earlier version of the program started it.
    pub async fn source(&self, run: &RunId) -> Result<Option<SourceText>, Error> {
        self.engine().source(run).await
    }
}

/// The file that a run got its plan from, if it would make another plan now.
pub fn changed_file(disk: &Disk, loaded: &Loaded) -> Option<ChangedFile> {
    let source = loaded.state.started.as_ref()?.source.as_deref().filter(|source| !source.edited)?;
    let file = source.file.clone().filter(|file| Path::new(file).is_file())?;
    let dialect = source.dialect.as_deref().and_then(|dialect| dialect.parse().ok());
    let entry = disk.find(&file).ok()?;
    let report = workflow::checked(disk, &entry, dialect).ok()?;
    match workflow::planned(&entry, report) {
        Ok(now) if now.plan == loaded.plan.0 => None,
        Ok(_) => Some(ChangedFile { file, has_errors: false }),
        Err(_) => Some(ChangedFile { file, has_errors: true }),
    }
}

/// A file that has changed since a run got its plan from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// The file.
    pub file: String,
    /// Whether the checker refuses it as it is.
    pub has_errors: bool,
}

impl ChangedFile {
    /// What changed, and the command that continues the run with it.
    pub fn sentence(&self, run: &RunId) -> String {
        let file = relative(&self.file);
        match self.has_errors {
            false => format!(
                "{file} has changed since this run got it; continue with it: longhaul retry {run} --with {}",
                quoted(&file)
            ),
            true => {
                format!("{file} has changed since this run got it, and it has errors: longhaul check {}", quoted(&file))
            }
        }
    }
}

/// A path from here, if it is below.
fn relative(file: &str) -> String {
    let here = std::env::current_dir().ok();
    let below = here.and_then(|here| Path::new(file).strip_prefix(here).ok().map(|path| path.display().to_string()));
    below.unwrap_or_else(|| file.to_owned())
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./".contains(letter);
    if word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}
