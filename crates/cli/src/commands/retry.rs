//! `longhaul retry` and `longhaul fork`: starts again what failed, or what came after a step; also with a changed workflow.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use longhaul_app::{App, CommandOutcome, Forking, Replanning, RunCommand, outcome, workflow};
use longhaul_core::id::RunId;
use longhaul_core::replan::{Choices, Comparison};
use longhaul_lang::CheckReport;
use longhaul_project::Disk;
use longhaul_runtime::Startable;
use serde_json::json;

use super::DialectArg;
use crate::background::protocol::Order;
use crate::engine_args::{self, AgentArgs, EngineArgs};
use crate::{asking, background, comparison, editor, identity, inputs, ui};

/// Name a run, and perhaps a changed workflow
#[derive(Debug, clap::Args)]
pub(crate) struct RetryArgs {
    /// The id of the run, or its first characters
    run: String,
    /// Start again at this step [default: the failed steps]
    #[arg(long, value_name = "STEP", conflicts_with_all = ["with", "edit"])]
    from: Option<String>,
    #[command(flatten)]
    changed: ChangedArgs,
    /// Edit the text that the run holds in $VISUAL or $EDITOR, and continue with that
    #[arg(long, conflicts_with = "with")]
    edit: bool,
    /// Continue it in the background engine
    #[arg(long, conflicts_with = "dry_run")]
    detach: bool,
    #[command(flatten)]
    agents: AgentArgs,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Start a new run from a step of an earlier one
///
/// The steps before that step keep their results. With --with, the new run has the changed workflow and keeps every result that
/// still holds.
#[derive(Debug, clap::Args)]
pub(crate) struct ForkArgs {
    /// The id of the run, or its first characters
    run: String,
    /// The first step to run again; with --with it may be left out
    #[arg(long, value_name = "STEP", required_unless_present = "with")]
    at: Option<String>,
    #[command(flatten)]
    changed: ChangedArgs,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// A changed workflow for a run.
#[derive(Debug, clap::Args)]
struct ChangedArgs {
    /// Continue with this workflow: a path or a name. Finished steps that mean the same keep their results
    #[arg(long, value_name = "FILE")]
    with: Option<String>,
    /// A changed input, as NAME=VALUE
    #[arg(long, short, value_name = "NAME=VALUE")]
    input: Vec<String>,
    /// With --with: keep the result of this step, changed or not
    #[arg(long, value_name = "STEP")]
    keep: Vec<String>,
    /// With --with: run this step again, changed or not
    #[arg(long, value_name = "STEP")]
    again: Vec<String>,
    /// With --with: only show what would be kept and what would run again
    #[arg(long)]
    dry_run: bool,
    /// With --with: do not ask before the run continues
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    dialect: DialectArg,
}

impl ChangedArgs {
    /// Refuses options that have no effect without a changed workflow.
    fn alone(&self) -> Result<()> {
        let named = !self.keep.is_empty() || !self.again.is_empty() || self.dry_run || self.yes;
        if named || self.dialect.dialect.is_some() {
            bail!("--keep, --again, --dry-run, --yes and --dialect need a changed workflow: --with FILE or --edit");
        }
        Ok(())
    }

    fn replanning(&self, what: Startable) -> Result<Replanning> {
        let inputs = inputs::read(&self.input, Some(&what.plan))?;
        let choices = Choices { keep: self.keep.clone(), redo: self.again.clone() };
        Ok(Replanning { inputs, choices, ..Replanning::new(what) })
    }

    /// The workflow of `--with`, or the report on its errors.
    fn file(&self, disk: &Disk, file: &str) -> Result<Result<Startable, Box<CheckReport>>> {
        let entry = disk.find(file)?;
        let report = disk.check(&entry, self.dialect.dialect)?;
        Ok(match workflow::planned(&entry, report) {
            Ok(startable) => Ok(startable),
            Err(workflow::Unplanned::Mistakes(report)) => Err(report),
            Err(other) => return Err(other.rejection(file).into()),
        })
    }
}

pub(crate) fn retry(args: &RetryArgs) -> Result<ExitCode> {
    let changed = &args.changed;
    if !args.edit && changed.with.is_none() {
        changed.alone()?;
        if !changed.input.is_empty() {
            bail!(
                "--input needs a changed workflow: --with FILE or --edit; or start a fork: longhaul fork RUN --at STEP --input …"
            );
        }
    }
    let disk = engine_args::disk(&args.engine)?;
    engine_args::block_on(async {
        let app = App::new(engine_args::open_what_is_there(&args.engine)?);
        let run = app.find(&args.run).await?;
        let ended = restarted(&app, &disk, &run, args).await?;
        if args.detach && !app.engine().load(&run).await?.state.is_finished() {
            let why = format!("{run} was started again with --detach");
            let to = Order { why, ..super::run::background_order(&args.engine, &args.agents)? };
            let handed = background::client::work(to).await?;
            if !args.json {
                ui::say(format!("the background engine has it; its log: {}", handed.worker.log.display()));
            }
        }
        Ok(ended)
    })
}

/// Starts a run again, with the plan that it has or with a changed one.
async fn restarted(app: &App, disk: &Disk, run: &RunId, args: &RetryArgs) -> Result<ExitCode> {
    let changed = &args.changed;
    let what = match &changed.with {
        Some(file) => changed.file(disk, file)?,
        None if args.edit => match edited(app, disk, run).await? {
            Some(edited) => edited,
            None => return Ok(ExitCode::SUCCESS),
        },
        None => return plain(app, run, args).await,
    };
    let what = match what {
        Ok(what) => what,
        Err(report) => return super::refuse(&report),
    };
    let how = changed.replanning(what)?;
    continued(app, run, changed, how, Then::Continue, args.json).await
}

/// Starts again what failed, with the plan that the run has.
async fn plain(app: &App, run: &RunId, args: &RetryArgs) -> Result<ExitCode> {
    let from = args.from.as_ref().map(|step| step.parse().map_err(anyhow::Error::msg)).transpose()?;
    let applied = app.command(run, RunCommand::Retry { from }, &identity::caller()).await;
    super::tell::print(run, applied.map_err(Into::into), args.json)
}

/// The text of a run after a person has edited it; `None` if they changed nothing.
async fn edited(app: &App, disk: &Disk, run: &RunId) -> Result<Option<Result<Startable, Box<CheckReport>>>> {
    let source = app.source(run).await?;
    let source = source.with_context(|| {
        format!("an earlier version of Longhaul started {run} and did not store its text; use: longhaul retry {run} --with FILE")
    })?;
    let name = app.engine().load(run).await?.plan.0.main().name.clone();
    let mut text = source.text.clone();
    loop {
        let Some(now) = editor::edit(&text, source.file.as_deref())? else {
            ui::say("nothing was changed, so nothing was done");
            return Ok(None);
        };
        match workflow::edited(disk, Some(&source), &name, &now) {
            Ok(startable) => return Ok(Some(Ok(startable))),
            Err(workflow::Unplanned::Mistakes(report)) if asking::is_attended() => {
                super::tell_findings(&report);
                if !asking::agrees("The text has errors. Edit it again?", true)? {
                    return Ok(Some(Err(report)));
                }
            }
            Err(workflow::Unplanned::Mistakes(report)) => return Ok(Some(Err(report))),
            Err(other) => return Err(other.rejection(&name).into()),
        }
        text = now;
    }
}

/// What is done with a changed workflow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    Continue,
    Fork,
}

/// Shows the comparison, asks, and continues the run, or a new one that shares its past.
async fn continued(
    app: &App,
    run: &RunId,
    args: &ChangedArgs,
    mut how: Replanning,
    then: Then,
    json: bool,
) -> Result<ExitCode> {
    let caller = identity::caller();
    let mut compared = app.compare(run, &how, &caller).await?;
    if args.dry_run {
        return shown(run, &compared, json);
    }
    if !json {
        ui::say(comparison::table(&compared));
    }
    let asks = asking::is_attended() && !args.yes && !json;
    if asks && decided(&compared, &mut how)? {
        compared = app.compare(run, &how, &caller).await?;
        ui::say(comparison::table(&compared));
    }
    if asks && compared.asks.is_empty() && !asking::agrees("Continue the run like this?", false)? {
        ui::say("nothing was done");
        return Ok(ExitCode::FAILURE);
    }
    how.expect = Some(compared.hash.clone());
    match then {
        Then::Continue => {
            let done = app.replan(run, &how, &caller).await;
            match done {
                Ok((compared, applied)) if json => {
                    let mut data = serde_json::to_value(CommandOutcome::of(&applied))?;
                    data["comparison"] = serde_json::to_value(compared)?;
                    ui::print_json(&data)?;
                }
                Ok((_, applied)) => ui::say(outcome::sentence(&applied)),
                Err(error) => return super::tell::print(run, Err(error.into()), json),
            }
        }
        Then::Fork => new_run(run, &app.fork_with(run, &how, None, &caller).await?, json)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Asks about steps that may be steps of the run; false if there are none.
fn decided(compared: &Comparison, how: &mut Replanning) -> Result<bool> {
    for row in compared.rows.iter().filter(|row| compared.asks.contains(&row.step)) {
        let was = row.was.as_deref().unwrap_or("a step that is gone");
        let question = format!("`{}` does what `{was}` did. Does it keep the result of `{was}`?", row.step);
        match asking::agrees(&question, false)? {
            true => how.choices.keep.push(row.step.clone()),
            false => how.choices.redo.push(row.step.clone()),
        }
    }
    Ok(!compared.asks.is_empty())
}

fn shown(run: &RunId, compared: &Comparison, json: bool) -> Result<ExitCode> {
    if json {
        ui::print_json(&json!({"run": run, "comparison": compared}))?;
    } else {
        ui::print_line(comparison::table(compared))?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn fork(args: &ForkArgs) -> Result<ExitCode> {
    let changed = &args.changed;
    let disk = engine_args::disk(&args.engine)?;
    engine_args::block_on(async {
        let app = App::new(engine_args::open(&args.engine, &AgentArgs::default())?);
        let run = app.find(&args.run).await?;
        let Some(file) = &changed.with else {
            changed.alone()?;
            return forked(&app, &run, args).await;
        };
        let what = match changed.file(&disk, file)? {
            Ok(what) => what,
            Err(report) => return super::refuse(&report),
        };
        let mut how = changed.replanning(what)?;
        how.choices.redo.extend(args.at.clone());
        continued(&app, &run, changed, how, Then::Fork, args.json).await
    })
}

async fn forked(app: &App, run: &RunId, args: &ForkArgs) -> Result<ExitCode> {
    let at = args.at.as_ref().map(|at| at.parse().map_err(anyhow::Error::msg)).transpose()?;
    let loaded = app.engine().load(run).await?;
    let inputs = inputs::read(&args.changed.input, Some(&loaded.plan.0))?;
    let forking = Forking { at, inputs, ..Forking::default() };
    new_run(run, &app.fork(run, forking, &identity::caller()).await?, args.json)?;
    Ok(ExitCode::SUCCESS)
}

fn new_run(from: &RunId, run: &RunId, json: bool) -> Result<()> {
    if json {
        return ui::print_json(&json!({"run": run, "from": from}));
    }
    ui::print_line(run)?;
    ui::say(format!("continue with: longhaul resume {run}"));
    Ok(())
}
