//! `longhaul approve`, `deny`, `edit`, `answer`, `signal`, `cancel`, `pause`, `unpause`, `stop`, `leave`: sends a
//! message to a run.

use std::process::ExitCode;

use anyhow::{Result, bail};
use longhaul_app::{App, CommandOutcome, GivenAnswer, RunCommand, outcome};
use longhaul_core::Json;
use longhaul_core::event::Answer;
use longhaul_core::id::RunId;
use longhaul_core::origin::Caller;
use longhaul_core::path::StepPath;
use longhaul_core::state::State;
use longhaul_runtime::{Applied, Message};

use crate::engine_args::{self, EngineArgs};
use crate::{answering, identity, rejected, ui};

/// Name a run, perhaps a step, perhaps a value
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Args {
    /// The id of the run, or its first characters
    run: String,
    /// The step [default: the only step that asks]
    step: Option<String>,
    /// The value: JSON or text
    value: Option<String>,
    /// A comment for others to read
    #[arg(long)]
    comment: Option<String>,
    /// The secret that came with the question
    #[arg(long, value_name = "SECRET")]
    secret: Option<String>,
    /// Answer in place of the person who started the run, if the policy allows it
    #[arg(long = "override")]
    overrides: bool,
    /// The reason
    #[arg(long)]
    reason: Option<String>,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Name a run
#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// The id of the run, or its first characters
    run: String,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Name a run, and perhaps why
#[derive(Debug, clap::Args)]
pub(crate) struct CancelArgs {
    #[command(flatten)]
    run: RunArgs,
    /// The reason
    #[arg(long)]
    reason: Option<String>,
}

/// The kind of message.
#[derive(Debug, Clone, Copy)]
pub(crate) enum What {
    Approve,
    Deny,
    Edit,
    Answer,
    Signal,
    Cancel,
    Pause,
    Unpause,
    Stop,
    Leave,
}

pub(crate) fn run(args: &Args, what: What) -> Result<ExitCode> {
    engine_args::block_on(async {
        let app = App::new(engine_args::open_what_is_there(&args.engine)?);
        let run = app.find(&args.run).await?;
        let caller = Caller { overrides: args.overrides, ..identity::caller() };
        let applied = carried_out(&app, &run, args, what, &caller).await;
        print(&run, applied, args.json)
    })
}

async fn carried_out(app: &App, run: &RunId, args: &Args, what: What, caller: &Caller) -> Result<Applied> {
    Ok(match (&args.value, args.step.is_some() && may_be_a_value(what)) {
        (None, false) => app.command(run, command(args, what, None)?, caller).await?,
        // The typed value becomes a number, a list or a text, whichever the question accepts.
        _ => {
            let message = fitting(app, run, args, what, caller).await?;
            app.send(run, message, caller).await?
        }
    })
}

/// Whether one word after the run can be the value, if the user leaves out the step.
fn may_be_a_value(what: What) -> bool {
    matches!(what, What::Answer | What::Edit)
}

async fn fitting(app: &App, run: &RunId, args: &Args, what: What, caller: &Caller) -> Result<Message> {
    let loaded = app.engine().load(run).await?;
    let shifted = without_step(args, what, &loaded.state);
    let args = shifted.as_ref().unwrap_or(args);
    let make = |value| Ok(command(args, what, value)?.message(&loaded.state, caller)?);
    match &args.value {
        Some(text) => answering::fitting(text, &loaded, |value| make(Some(value))),
        None => make(None),
    }
}

/// Sends a message about the whole run.
pub(crate) fn whole(args: RunArgs, what: What) -> Result<ExitCode> {
    run(&Args { run: args.run, engine: args.engine, json: args.json, ..Args::default() }, what)
}

pub(crate) fn cancel(args: CancelArgs) -> Result<ExitCode> {
    let CancelArgs { run: RunArgs { run: id, engine, json }, reason } = args;
    run(&Args { run: id, reason, engine, json, ..Args::default() }, What::Cancel)
}

/// Prints the result of a command.
pub(super) fn print(run: &RunId, applied: Result<Applied>, json: bool) -> Result<ExitCode> {
    match applied {
        Ok(applied) if json => ui::print_json(&CommandOutcome::of(&applied))?,
        Ok(applied) => ui::say(outcome::sentence(&applied)),
        Err(error) if json => {
            let Some(rejection) = rejected::of(&error) else { return Err(error) };
            ui::print_json(&rejected::data(run, &rejection))?;
            return Ok(ExitCode::from(rejected::exit_code(rejection.kind)));
        }
        Err(error) => return Err(error),
    }
    Ok(ExitCode::SUCCESS)
}

/// The arguments with the step's word moved to the value, if no step has that name.
fn without_step(args: &Args, what: What, state: &State) -> Option<Args> {
    let word = args.step.as_ref().filter(|_| args.value.is_none() && matches!(what, What::Answer | What::Edit))?;
    let is_step = word.parse().is_ok_and(|path: StepPath| state.find(&path).is_some());
    (!is_step).then(|| Args { step: None, value: Some(word.clone()), ..args.clone() })
}

fn command(args: &Args, what: What, value: Option<Json>) -> Result<RunCommand> {
    Ok(match what {
        What::Approve => answer(args, value.map_or(Answer::Approve, |value| Answer::Value { value }))?,
        What::Deny => answer(args, Answer::Deny { reason: args.reason.clone() })?,
        What::Edit => match value {
            Some(value) => answer(args, Answer::Edit { value })?,
            None => bail!("what should it be instead? longhaul edit RUN STEP VALUE"),
        },
        What::Answer => match value {
            Some(value) => answer(args, Answer::Value { value })?,
            None => bail!("what is the answer? longhaul answer RUN STEP VALUE"),
        },
        What::Signal => match &args.step {
            Some(name) => RunCommand::Signal { name: name.clone(), data: value.unwrap_or_default() },
            None => bail!("which signal? longhaul signal RUN NAME [VALUE]"),
        },
        What::Cancel => RunCommand::Cancel { reason: args.reason.clone() },
        What::Pause => RunCommand::Pause,
        What::Unpause => RunCommand::Unpause,
        What::Stop => RunCommand::Stop,
        What::Leave => RunCommand::Abandon,
    })
}

/// An answer, with the comment and the other options.
fn answer(args: &Args, answer: Answer) -> Result<RunCommand> {
    let step = args.step.as_ref().map(|step| step.parse().map_err(anyhow::Error::msg)).transpose()?;
    let (comment, secret) = (args.comment.clone(), args.secret.clone());
    Ok(RunCommand::Answer(GivenAnswer { step, comment, secret, ..GivenAnswer::new(answer) }))
}
