//! Measures a fleet: worker processes around a PostgreSQL database, compared with `pgbench` on the same database in the
//! same minutes.
//!
//! **Invariant:** every workload has its own schema, which is dropped afterwards. The results are counted in the
//! tables.

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

/// How long to wait for anything that is not measured.
const PATIENCE: Duration = Duration::from_secs(300);
/// How often to check for a condition.
const LOOK_EVERY: Duration = Duration::from_millis(25);

/// The number of runs that are started at the same time.
const STARTED_AT_ONCE: usize = 32;

/// The database to measure.
#[derive(Debug, Clone, Default)]
pub(crate) struct Around {
    /// An existing server; if `None`, one is started.
    pub(crate) address: Option<String>,
    /// The folder of PostgreSQL's programs; if `None`, they are searched for.
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

/// A store in the database, with an engine that starts runs but drives none.
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

    /// The output of SQL statements in this schema.
    fn sql(&self, statements: &str) -> Result<String> {
        self.server.sql(&format!("SET search_path = {}; {statements}", self.schema))
    }

    fn number(&self, statement: &str) -> Result<f64> {
        let told = self.sql(statement)?;
        told.parse().with_context(|| format!("`{statement}` answered {told:?}"))
    }

    /// Starts workers with `slots` slots each, in a folder of their own, and waits until all are ready.
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

    /// Records the start of runs of one plan, several at once.
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

    /// The number of succeeded steps, according to the events.
    fn done(&self) -> Result<f64> {
        self.number(&format!("SELECT count(*) FROM event WHERE {IS_DONE}"))
    }
}

/// The condition for an event of a succeeded step.
const IS_DONE: &str = "position('attempt_succeeded'::bytea IN body) > 0";

/// Drops the schema with its content.
impl Drop for Fleet<'_> {
    fn drop(&mut self) {
        let _ = self.server.sql(&format!("DROP SCHEMA IF EXISTS {} CASCADE", self.schema));
    }
}

fn run_id(at: usize) -> Result<RunId> {
    RunId::new(format!("bench-{at}")).context("not an id")
}

/// Worker processes; dropping this ends them.
struct Workers(Vec<Child>);

impl Workers {
    /// Fails if a worker has ended, or if it takes too long.
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

    /// The seconds of processor time that they have used.
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
