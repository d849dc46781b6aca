//! `longhaul store`: checks, backs up and copies the store.

mod adopt;
mod logins;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use longhaul_app::open_store;
use longhaul_project::{Project, state};
use longhaul_runtime::{Clock, is_dead};
use longhaul_store::{Copied, Sqlite, SqliteOptions, Store, StoreAddress, copy};
use serde_json::json;

use crate::engine_args::{self, EngineArgs};
use crate::ui;

/// Check, back up and copy the store; make logins for workers
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Print where the store of this project is
    Path {
        #[command(flatten)]
        engine: EngineArgs,
        /// Print as JSON, with the folder of the project and the folder of run files
        #[arg(long)]
        json: bool,
    },
    /// Check the store for damage: checksums, gaps, rows that belong to no run
    Check {
        #[command(flatten)]
        engine: EngineArgs,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Write the whole store to a new file; runs can continue from it
    Backup {
        /// The new file
        file: PathBuf,
        #[command(flatten)]
        engine: EngineArgs,
    },
    /// Copy every run into another store: a file, sqlite://FILE or postgres://…
    ///
    /// Stop all workers first; that stops their runs. The runs continue from the copy at the point where they stopped. Run
    /// files (output of commands, transcripts) stay where they are.
    Copy {
        /// The store to copy
        from: String,
        /// The store to copy to; it must not hold these runs already
        to: String,
    },
    /// Take over a store from a folder, such as the `.longhaul` of this project, where earlier versions kept it
    ///
    /// Without --yes it only shows what is there. Open runs stay paused until you run `longhaul unpause RUN`. Longhaul refuses a store that
    /// came with a checkout or that another user owns.
    Adopt {
        /// The folder [default: `.longhaul` of the project]
        folder: Option<PathBuf>,
        /// Take it over
        #[arg(long, short)]
        yes: bool,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Make a database login for `longhaul worker` that can do a worker's job and nothing else; shows its address once
    Login {
        /// The name of the login
        name: String,
        /// Labels: the worker may take only steps that need no other labels [default: all]
        #[arg(long, value_name = "LABEL,…", value_delimiter = ',', value_parser = engine_args::label)]
        labels: Vec<String>,
        #[command(flatten)]
        engine: EngineArgs,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// List the logins
    Logins {
        #[command(flatten)]
        engine: EngineArgs,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Revoke a login
    Logout {
        /// The name of the login
        name: String,
        #[command(flatten)]
        engine: EngineArgs,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    engine_args::block_on(async {
        match &args.what {
            What::Path { engine, json } => path(engine, *json),
            What::Check { engine, json } => check(engine, *json).await,
            What::Backup { file, engine } => back_up(engine, file).await,
            What::Copy { from, to } => move_all(from, to).await,
            What::Adopt { folder, yes, json } => adopt::adopt(folder.as_deref(), *yes, *json).await,
            What::Login { name, labels, engine, json } => logins::make(engine, name, labels, *json).await,
            What::Logins { engine, json } => logins::list(engine, *json).await,
            What::Logout { name, engine, json } => logins::end(engine, name, *json).await,
        }
    })
}

fn path(engine: &EngineArgs, is_json: bool) -> Result<ExitCode> {
    let store = engine_args::store_name(engine)?;
    if is_json {
        let (project, files) = (Project::current()?.root, engine_args::files_dir(engine)?);
        ui::print_json(&json!({"project": project, "store": store, "files": files}))?;
    } else {
        ui::print_line(store)?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn check(engine: &EngineArgs, is_json: bool) -> Result<ExitCode> {
    let place = engine_args::store_place(engine)?;
    open_store::require(&place)?;
    let (store, clock) = open_store::store(&place)?;
    let problems =
        longhaul_runtime::Engine::new(store, clock, longhaul_runtime::EngineOptions::default()).check().await?;
    if is_json {
        let said = problems.iter().map(|problem| json!({"run": problem.run, "problem": problem.text}));
        ui::print_json(&json!({"store": place.to_string(), "problems": said.collect::<Vec<_>>()}))?;
    } else {
        for problem in &problems {
            ui::print_line(&problem.text)?;
        }
        ui::say(match problems.len() {
            0 => format!("{place}: all is well"),
            count => {
                format!("{place}: {}; restore a copy, or remove the runs that are named", ui::count(count, "problem"))
            }
        });
    }
    Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Backs up a file as it is now. For a database, all work must stop first, or its own tools do the backup.
async fn back_up(engine: &EngineArgs, file: &Path) -> Result<ExitCode> {
    if file.exists() {
        bail!("{} exists; a backup is made into a new file", file.display());
    }
    let place = engine_args::store_place(engine)?;
    match &place {
        StoreAddress::File(from) => {
            open_store::require(&place)?;
            // Opening proves that the file is a store, and recovers what a crash left behind. Reading alone does
            // neither.
            let store =
                Sqlite::open(from, SqliteOptions::default()).with_context(|| format!("{place} cannot be opened"))?;
            Sqlite::back_up(from, file)?;
            drop(store);
        }
        StoreAddress::Database(_) => {
            transfer(&place, &StoreAddress::File(file.to_owned()))
                .await
                .context("to back up a database that is in use, run pg_dump")?;
        }
    }
    ui::say(format!("{place} is backed up; use it with --store {}", file.display()));
    Ok(ExitCode::SUCCESS)
}

async fn move_all(from: &str, to: &str) -> Result<ExitCode> {
    let (from, to): (StoreAddress, StoreAddress) = (from.parse()?, to.parse()?);
    let Copied { runs, events } = transfer(&from, &to).await?;
    if let (Some(file), None) = (from.file(), to.file()) {
        settle(file, &to).await?;
    }
    let schema = match &to {
        StoreAddress::Database(address) => format!(", into the schema {}", address.schema()),
        StoreAddress::File(_) => String::new(),
    };
    ui::say(format!("{} with {} copied to {to}{schema}", ui::count(runs, "run"), ui::count(events as usize, "event")));
    Ok(ExitCode::SUCCESS)
}

/// Records that the files of open runs are on this machine, because other machines could continue these runs from now
/// on.
async fn settle(file: &Path, to: &StoreAddress) -> Result<()> {
    let (store, clock) = open_store::store(to)?;
    let folder = std::path::absolute(file)?;
    let folder = folder.parent().unwrap_or(&folder);
    let host = engine_args::spot(&state::project_of(folder).unwrap_or_else(|| Project::around(folder).root));
    Ok(longhaul_runtime::settle(store.as_ref(), host, clock.now_ms()).await?)
}

async fn transfer(from: &StoreAddress, to: &StoreAddress) -> Result<Copied> {
    open_store::require(from)?;
    let (source, clock) = open_store::store(from)?;
    refuse_busy(source.as_ref(), clock.as_ref()).await.with_context(|| format!("{from} is in use"))?;
    let (target, _) = open_store::store(to)?;
    copy(source.as_ref(), target.as_ref()).await.map_err(|error| match error {
        longhaul_store::Error::Exists => {
            anyhow::anyhow!("{to} has runs of {from} already; copy into one that has none")
        }
        longhaul_store::Error::Conflict { .. } => {
            anyhow::anyhow!(
                "{from} was written to meanwhile; the copy is not whole: stop workers, and copy into another store"
            )
        }
        other => other.into(),
    })
}

/// Refuses to copy while attempts are running: they would run twice, once here and once from the copy.
async fn refuse_busy(store: &dyn Store, clock: &dyn Clock) -> Result<()> {
    let now = clock.now_ms();
    let held = store.expired(i64::MAX, usize::MAX >> 1).await?;
    let at_work = held.iter().filter(|task| {
        let dead = task.worker.as_ref().is_none_or(|worker| is_dead(worker.as_str()));
        !dead && task.lease_until_ms > now
    });
    match at_work.count() {
        0 => Ok(()),
        count => bail!("{} under way; stop their workers (Ctrl-C), then try again", ui::count(count, "attempt")),
    }
}
