//! `longhaul store`: looks at what keeps the runs, copies it, and moves it elsewhere.

mod adopt;
mod logins;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use longhaul_project::{Project, state};
use longhaul_runtime::{Clock, is_dead};
use longhaul_store::{Copied, Options, Place, Sqlite, Store, copy};
use serde_json::json;

use crate::office::{self, EngineArgs};
use crate::{opening, ui};

/// Check, back up or move what keeps the runs; let machines in
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Print where the runs of this project are kept
    Path {
        #[command(flatten)]
        engine: EngineArgs,
        /// Print as JSON, with the folders of the project and of files about runs
        #[arg(long)]
        json: bool,
    },
    /// Look for damage: checksums, gaps, rows that belong to nothing
    Check {
        #[command(flatten)]
        engine: EngineArgs,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Write everything into a new file, from which runs can continue
    Backup {
        /// The file to make
        file: PathBuf,
        #[command(flatten)]
        engine: EngineArgs,
    },
    /// Copy every run into another store, of the same kind or the other: a file, sqlite://FILE or postgres://…
    ///
    /// Nobody may work on them meanwhile: stop workers first, which parks what they do. Whoever opens the copy continues where they stopped. Files
    /// about runs (what commands printed, transcripts) stay where they are.
    Copy {
        /// From where
        from: String,
        /// To where; runs that are there already are refused
        to: String,
    },
    /// Take over a store that lies in a folder, such as the `.longhaul` of this project, where earlier versions kept it
    ///
    /// Without --yes it only says what there is. Runs that are not over are paused until you say `longhaul unpause RUN`. A store that came with a
    /// checkout, or that another user owns, is refused.
    Adopt {
        /// The folder [default: `.longhaul` of the project]
        folder: Option<PathBuf>,
        /// Do it
        #[arg(long, short)]
        yes: bool,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Make an address of the database with which `longhaul worker` can do its work, and nothing else; shown once
    Login {
        /// What to call it
        name: String,
        /// Steps that it may take: those that ask for nothing else than these labels [default: all]
        #[arg(long, value_name = "LABEL,…", value_delimiter = ',', value_parser = office::label)]
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
    /// Take a login back: it can do nothing from now on
    Logout {
        /// Which
        name: String,
        #[command(flatten)]
        engine: EngineArgs,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    office::block_on(async {
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
    let store = office::store_name(engine)?;
    if is_json {
        let (project, files) = (Project::current()?.root, office::files_dir(engine)?);
        ui::print_json(&json!({"project": project, "store": store, "files": files}))?;
    } else {
        ui::print_line(store)?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn check(engine: &EngineArgs, is_json: bool) -> Result<ExitCode> {
    let place = office::store_place(engine)?;
    opening::require(&place)?;
    let (store, clock) = opening::store(&place)?;
    let problems = longhaul_runtime::Engine::new(store, clock, longhaul_runtime::Options::default()).check().await?;
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

/// A file is copied as it is at this moment; a database has to stand still, or is left to its own tools.
async fn back_up(engine: &EngineArgs, file: &Path) -> Result<ExitCode> {
    if file.exists() {
        bail!("{} exists; a backup is made into a new file", file.display());
    }
    let place = office::store_place(engine)?;
    match &place {
        Place::File(from) => {
            opening::require(&place)?;
            // It must be a store, and what was left of a crash must be put right: reading alone does neither.
            let store = Sqlite::open(from, Options::default()).with_context(|| format!("{place} cannot be opened"))?;
            Sqlite::back_up(from, file)?;
            drop(store);
        }
        Place::Database(_) => {
            transfer(&place, &Place::File(file.to_owned()))
                .await
                .context("pg_dump backs a database up that is in use")?;
        }
    }
    ui::say(format!("{place} is backed up; use it with --store {}", file.display()));
    Ok(ExitCode::SUCCESS)
}

async fn move_all(from: &str, to: &str) -> Result<ExitCode> {
    let (from, to): (Place, Place) = (from.parse()?, to.parse()?);
    let Copied { runs, events } = transfer(&from, &to).await?;
    if let (Some(file), None) = (from.file(), to.file()) {
        settle(file, &to).await?;
    }
    let schema = match &to {
        Place::Database(address) => format!(", into the schema {}", address.schema()),
        Place::File(_) => String::new(),
    };
    ui::say(format!("{} with {} copied to {to}{schema}", ui::count(runs, "run"), ui::count(events as usize, "event")));
    Ok(ExitCode::SUCCESS)
}

/// Says of runs that are not over that their files are here: from now on other machines could continue with them.
async fn settle(file: &Path, to: &Place) -> Result<()> {
    let (store, clock) = opening::store(to)?;
    let folder = std::path::absolute(file)?;
    let folder = folder.parent().unwrap_or(&folder);
    let host = office::spot(&state::project_of(folder).unwrap_or_else(|| Project::around(folder).root));
    Ok(longhaul_runtime::settle(store.as_ref(), host, clock.now_ms()).await?)
}

async fn transfer(from: &Place, to: &Place) -> Result<Copied> {
    opening::require(from)?;
    let (source, clock) = opening::store(from)?;
    refuse_busy(source.as_ref(), clock.as_ref()).await.with_context(|| format!("{from} is in use"))?;
    let (target, _) = opening::store(to)?;
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

/// Attempts that somebody makes would be made twice: once by them, once by whoever opens the copy.
async fn refuse_busy(store: &dyn Store, clock: &dyn Clock) -> Result<()> {
    let now = clock.now_ms();
    let held = store.expired(i64::MAX, usize::MAX >> 1).await?;
    let at_work = held.iter().filter(|task| {
        let dead = task.worker.as_ref().is_none_or(|worker| is_dead(worker.as_str()));
        !dead && task.lease_until_ms > now
    });
    match at_work.count() {
        0 => Ok(()),
        count => bail!(
            "{} under way; stop what drives them (Ctrl-C parks them), then try again",
            ui::count(count, "attempt")
        ),
    }
}
