//! A store in a file, a clock that stands still, and a new engine for every call: everything outside the store is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use longhaul_core::event::{Driver, Envelope, Event};
use longhaul_core::id::RunId;
use longhaul_core::plan::Plan;
use longhaul_runtime::{Clock, Engine, EngineOptions, HandedStep, StartRequest, Submission};
use longhaul_store::{Sqlite, SqliteOptions as StoreOptions};
use tempfile::TempDir;

/// A clock that stands still until the test moves it.
#[derive(Debug, Default)]
pub(crate) struct Hand(AtomicI64);

impl Clock for Hand {
    fn now_ms(&self) -> i64 {
        1_800_000_000_000 + self.0.load(Ordering::SeqCst)
    }
}

pub(crate) struct Bench {
    pub(crate) dir: TempDir,
    clock: Arc<Hand>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), clock: Arc::default() }
    }

    pub(crate) fn forward(&self, ms: i64) {
        self.clock.0.fetch_add(ms, Ordering::SeqCst);
    }

    /// A new engine on the store of this bench, as after a restart.
    pub(crate) fn engine(&self) -> Engine {
        let store = Sqlite::open(self.dir.path().join("store.db"), StoreOptions::default()).unwrap();
        let options = EngineOptions {
            runs_dir: self.dir.path().join("runs"),
            workspace: self.dir.path().to_owned(),
            ..EngineOptions::default()
        };
        Engine::new(Arc::new(store), Arc::clone(&self.clock) as Arc<dyn Clock>, options)
    }

    /// Starts a hosted run.
    pub(crate) async fn start(&self, workflow: &str) -> RunId {
        let request = StartRequest { task: "the task".to_owned(), driver: Driver::Client, ..StartRequest::default() };
        self.engine().start(&plan(workflow), request).await.unwrap()
    }

    pub(crate) async fn events(&self, run: &RunId) -> Vec<Envelope> {
        self.engine().events(run, 0, 10_000).await.unwrap()
    }

    /// The number of results of a step.
    pub(crate) async fn results_of(&self, run: &RunId, step: &str) -> usize {
        let is_result = |envelope: &&Envelope| matches!(&envelope.event, Event::AttemptSucceeded { path, .. } if path.to_string() == step);
        self.events(run).await.iter().filter(is_result).count()
    }
}

pub(crate) fn plan(text: &str) -> Plan {
    longhaul_testkit::plan(text).unwrap()
}

/// A result in words.
pub(crate) fn said(text: &str) -> Submission {
    Submission { output: text.into(), ..Submission::default() }
}

pub(crate) fn prompts(handed: &HandedStep) -> Vec<String> {
    handed.ready.iter().map(|work| work.prompt.clone()).collect()
}
