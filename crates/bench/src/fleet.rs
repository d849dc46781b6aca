//! Workloads of a fleet: workers that are processes of their own around a PostgreSQL database, beside what `pgbench` does to the same
//! database in the same minutes.
//!
//! **Invariant:** every workload has a schema of its own, which is dropped afterwards. What was done is counted in the tables.

mod claims;
mod idle;
mod pgbench;
mod server;
mod steps;
mod waiting;
mod wide;

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use longhaul_core::id::RunId;
use longhaul_core::plan::Plan;
use longhaul_runtime::{Engine, EngineOptions, StartRequest, clock_of};
use longhaul_store::{Query, Store, StoreAddress};
use tokio::process::{Child, Command};
use tokio::task::JoinSet;

use super::report::Figure;
use super::{Bench, Part};
use server::Server;

/// How long something may take that is not what is measured.
const PATIENCE: Duration = Duration::from_secs(300);
/// How often it is looked whether something has come about.
const LOOK_EVERY: Duration = Duration::from_millis(25);

/// Runs that are started at the same time.
const STARTED_AT_ONCE: usize = 32;

/// Where the database is that is measured.
#[derive(Debug, Clone, Default)]
pub(crate) struct Around {
    /// A server that is there; else one is started.
    pub(crate) address: Option<String>,
    /// Where the programs of PostgreSQL are; else they are looked for.
    pub(crate) programs: Option<PathBuf>,
}

/// Measures one workload of a fleet.
pub(super) async fn measure(bench: &Bench, part: Part) -> Result<Vec<Figure>> {
    let server = Server::find_or_start(bench)?;
    match part {
        Part::FleetSteps => steps::measure(bench, &server).await,
        Part::FleetClaims => claims::measure(bench, &server).await,
        Part::FleetWaiting => waiting::measure(bench, &server).await,
        Part::FleetFanOut => wide::measure(bench, &server).await,
        Part::FleetIdle => idle::measure(bench, &server).await,
        _ => bail!("this is no workload of a fleet"),
    }
}

/// A store in the database, with an engine that starts runs in it and drives none.
struct Fleet<'a> {
    bench: &'a Bench,
    server: &'a Server,
    schema: String,
    store: Arc<dyn Store>,
    engine: Engine,
}

impl<'a> Fleet<'a> {
    async fn new(bench: &'a Bench, server: &'a Server, name: &str) -> Result<Self> {
        let schema = format!("bench_{}_{name}", std::process::id());
        let place: StoreAddress = server.store(&schema).parse()?;
        let store = place.open(PATIENCE).await?;
        let options = EngineOptions { guard: None, ..bench.options() };
        let engine = Engine::new(Arc::clone(&store), clock_of(&store).await?, options);
        Ok(Self { bench, server, schema, store, engine })
    }

    /// What statements answer, in this schema.
    fn sql(&self, statements: &str) -> Result<String> {
        self.server.sql(&format!("SET search_path = {}; {statements}", self.schema))
    }

    fn number(&self, statement: &str) -> Result<f64> {
        let told = self.sql(statement)?;
        told.parse().with_context(|| format!("`{statement}` answered {told:?}"))
    }

    /// Workers with so many slots each, in a folder of their own, once all of them are there.
    async fn workers(&self, count: usize, slots: usize) -> Result<Workers> {
        let folder = self.bench.folder.join(&self.schema);
        std::fs::create_dir_all(folder.join(".longhaul"))?;
        let mut workers = Workers(Vec::new());
        for number in 0..count {
            let mut command = Command::new(&self.bench.program);
            let (slots, name) = (slots.to_string(), format!("bench-{number}"));
            command.args(["worker", "--agent", "scripted", "--slots", &slots, "--name", &name]).current_dir(&folder);
            command
                .env("LONGHAUL_STORE", self.server.store(&self.schema))
                .env("HOME", &folder)
                .env_remove("XDG_STATE_HOME");
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
            workers.0.push(command.spawn()?);
        }
        let since = Instant::now();
        while self.store.workers().await?.len() < count {
            workers.check(since)?;
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(workers)
    }

    /// Records the beginnings of runs of one plan, several at once.
    async fn start(&self, plan: Plan, runs: usize) -> Result<()> {
        let plan = Arc::new(plan);
        let mut starting = JoinSet::new();
        for at in 0..runs {
            if starting.len() >= STARTED_AT_ONCE {
                starting.join_next().await.context("nothing is started")???;
            }
            let (engine, plan) = (self.engine.clone(), Arc::clone(&plan));
            let request = StartRequest { run: Some(run_id(at)?), ..StartRequest::default() };
            starting.spawn(async move { engine.start(&plan, request).await });
        }
        starting.join_all().await.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(())
    }

    /// Waits until no run has one of these statuses.
    async fn until_none(&self, statuses: &[&str], workers: &mut Workers) -> Result<()> {
        let statuses: Vec<String> = statuses.iter().map(|status| (*status).to_owned()).collect();
        let since = Instant::now();
        loop {
            let query = Query { statuses: statuses.clone(), limit: 1, ..Query::default() };
            if self.engine.list(query).await?.is_empty() {
                return Ok(());
            }
            workers.check(since)?;
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Steps that the events say have ended well.
    fn done(&self) -> Result<f64> {
        self.number(&format!("SELECT count(*) FROM event WHERE {IS_DONE}"))
    }
}

/// An event of a step that has ended well.
const IS_DONE: &str = "position('attempt_succeeded'::bytea IN body) > 0";

/// The schema goes with what was in it.
impl Drop for Fleet<'_> {
    fn drop(&mut self) {
        let _ = self.server.sql(&format!("DROP SCHEMA IF EXISTS {} CASCADE", self.schema));
    }
}

fn run_id(at: usize) -> Result<RunId> {
    RunId::new(format!("bench-{at}")).context("not an id")
}

/// Worker processes, ended with this.
struct Workers(Vec<Child>);

impl Workers {
    /// Fails if one has ended, or if it takes too long.
    fn check(&mut self, since: Instant) -> Result<()> {
        for worker in &mut self.0 {
            if let Some(status) = worker.try_wait()? {
                bail!("a worker has ended: {status}");
            }
        }
        if since.elapsed() > PATIENCE {
            bail!("nothing has come of it in {} seconds", PATIENCE.as_secs());
        }
        Ok(())
    }

    /// Seconds that the processor has spent on them.
    fn cpu(&self) -> f64 {
        let spent = |worker: &Child| super::others::cpu_of(worker.id()?);
        self.0.iter().filter_map(spent).map(|spent| spent.as_secs_f64()).sum()
    }

    async fn end(mut self) -> Result<()> {
        for worker in &mut self.0 {
            worker.kill().await?;
        }
        Ok(())
    }
}
