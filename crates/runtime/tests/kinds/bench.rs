//! A workspace, an engine on it, and workflows from text.

use std::path::PathBuf;
use std::sync::Arc;

use longhaul_config::Channel;
use longhaul_core::id::RunId;
use longhaul_core::plan::{Outcome, Plan};
use longhaul_core::state::State;
use longhaul_runtime::{Clock, Engine, EngineOptions, Idle, StartRequest};
use longhaul_store::{Memory, Store};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// A clock that stands still until the test moves it.
#[derive(Debug, Default)]
pub(crate) struct Hand(std::sync::atomic::AtomicI64);

impl Hand {
    pub(crate) fn forward(&self, ms: i64) {
        self.0.fetch_add(ms, std::sync::atomic::Ordering::SeqCst);
    }
}

impl Clock for Hand {
    fn now_ms(&self) -> i64 {
        1_800_000_000_000 + self.0.load(std::sync::atomic::Ordering::SeqCst)
    }
}

/// Everything a test needs.
pub(crate) struct Bench {
    pub(crate) dir: TempDir,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<Hand>,
    pub(crate) options: EngineOptions,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let workspace = dir.path().join("workspace");
        std::fs::create_dir(&workspace).unwrap();
        let options = EngineOptions {
            runs_dir: dir.path().join("home/runs"),
            workspace,
            attempts_max: 8,
            ..EngineOptions::default()
        };
        Self { dir, store: Arc::new(Memory::default()), clock: Arc::default(), options }
    }

    pub(crate) fn with_channel(mut self, name: &str, channel: Channel) -> Self {
        self.options.channels.insert(name.to_owned(), channel);
        self
    }

    pub(crate) fn engine(&self) -> Engine {
        Engine::new(Arc::clone(&self.store), Arc::clone(&self.clock) as Arc<dyn Clock>, self.options.clone())
    }

    /// A file of the workspace.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.options.workspace.join(name)
    }

    /// A program of the workspace.
    pub(crate) fn program(&self, name: &str, script: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let file = self.file(name);
        std::fs::write(&file, script).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        file
    }

    /// Runs a workflow to its end.
    pub(crate) async fn run(&self, workflow: &str, inputs: &[(&str, &str)]) -> (RunId, Outcome, State) {
        let engine = self.engine();
        let run = start(&engine, &plan(workflow), inputs).await;
        let (outcome, state) = finish(&engine, &run).await;
        (run, outcome, state)
    }
}

pub(crate) async fn start(engine: &Engine, plan: &Plan, inputs: &[(&str, &str)]) -> RunId {
    let inputs = inputs.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
    engine.start(plan, StartRequest { inputs, task: "the task".to_owned(), ..StartRequest::default() }).await.unwrap()
}

/// Drives a run that must come to its end.
pub(crate) async fn finish(engine: &Engine, run: &RunId) -> (Outcome, State) {
    let idle = engine.drive(run, CancellationToken::new(), |_| true).await.unwrap();
    let Idle::Finished(outcome) = idle else { panic!("{idle:?}") };
    (outcome, engine.load(run).await.unwrap().state)
}

pub(crate) fn plan(text: &str) -> Plan {
    longhaul_testkit::plan(text).unwrap()
}
