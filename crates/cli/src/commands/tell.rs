//! `longhaul approve`, `deny`, `edit`, `answer`, `signal`, `cancel`, `pause`, `unpause`, `retry`, `leave`: telling a run something.

use std::process::ExitCode;

use anyhow::{Result, bail};
use longhaul_core::Json;
use longhaul_core::event::Answer;
use longhaul_core::id::RunId;
use longhaul_core::origin::{Auth, Caller};
use longhaul_core::path::StepPath;
use longhaul_core::state::State;
use longhaul_runtime::{Engine, Loaded, Message, Present, is_dead, key_of};
use serde_json::json;

use crate::office::{self, EngineArgs};
use crate::{answering, identity, ui};

/// Name a run, perhaps a step, perhaps a value
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Args {
    /// The run, or the beginning of its id
    run: String,
    /// The step; may be left out if only one asks
    step: Option<String>,
    /// The value, as JSON or as text
    value: Option<String>,
    /// Say something beside the answer, for others to read
    #[arg(long)]
    comment: Option<String>,
    /// The secret of the question, as it was handed out with it
    #[arg(long, value_name = "SECRET")]
    secret: Option<String>,
    /// Answer in the place of whoever started the run, where the policy allows that
    #[arg(long = "override")]
    overrides: bool,
    /// Why
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
    /// The run, or the beginning of its id
    run: String,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Name a run, and perhaps why
#[derive(Debug, clap::Args)]
pub(crate) struct CancelArgs {
    #[command(flatten)]
    run: RunArgs,
    /// Why
    #[arg(long)]
    reason: Option<String>,
}

/// Name a run
#[derive(Debug, clap::Args)]
pub(crate) struct RetryArgs {
    /// The run, or the beginning of its id
    run: String,
    /// From this step on [default: what failed]
    #[arg(long, value_name = "STEP")]
    from: Option<String>,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// What is told.
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
    Leave,
}

pub(crate) fn run(args: &Args, what: What) -> Result<ExitCode> {
    office::block_on(async {
        let engine = office::open_what_is_there(&args.engine)?;
        let run = engine.find(&args.run).await?;
        let message = match (engine.load(&run).await, what) {
            // One that cannot be read can be ended all the same.
            (Err(error), What::Cancel) if error.is_damage() => {
                Message::Cancel { reason: args.reason.clone(), by: identity::caller().who.name().map(str::to_owned) }
            }
            (loaded, _) => readings(args, what, &loaded?)?,
        };
        engine.tell_as(&run, message, &identity::origin()).await?;
        told(&engine, &run, args.json).await
    })
}

/// What is about the whole run.
pub(crate) fn whole(args: RunArgs, what: What) -> Result<ExitCode> {
    run(&Args { run: args.run, engine: args.engine, json: args.json, ..Args::default() }, what)
}

pub(crate) fn cancel(args: CancelArgs) -> Result<ExitCode> {
    let CancelArgs { run: RunArgs { run: id, engine, json }, reason } = args;
    run(&Args { run: id, reason, engine, json, ..Args::default() }, What::Cancel)
}

pub(crate) fn retry(args: &RetryArgs) -> Result<ExitCode> {
    office::block_on(async {
        let engine = office::open_what_is_there(&args.engine)?;
        let run = engine.find(&args.run).await?;
        let from = args.from.as_ref().map(|step| step.parse().map_err(anyhow::Error::msg)).transpose()?;
        let by = identity::caller().who.name().map(str::to_owned);
        engine.tell_as(&run, Message::Retry { from, by }, &identity::origin()).await?;
        told(&engine, &run, args.json).await
    })
}

async fn told(engine: &Engine, run: &RunId, json: bool) -> Result<ExitCode> {
    if json {
        ui::print_json(&json!({"run": run, "told": true}))?;
    } else {
        ui::say(format!("told {run}; {}", what_follows(engine, run).await));
    }
    Ok(ExitCode::SUCCESS)
}

/// It is told, whether or not it can be said who drives it. Who has a login makes steps, and decides nothing.
async fn what_follows(engine: &Engine, run: &RunId) -> String {
    let workers = engine.roster().await.map(|roster| roster.workers).unwrap_or_default();
    let drives = |worker: &Present| !worker.silent && worker.login.is_none() && !is_dead(&worker.id);
    match workers.into_iter().find(drives) {
        Some(worker) => format!("it continues by itself: the worker {} is there", ui::clean(&worker.name)),
        None => format!("it continues by itself if something drives it, else: longhaul resume {run}"),
    }
}

fn readings(args: &Args, what: What, loaded: &Loaded) -> Result<Message> {
    let shifted = without_step(args, what, &loaded.state);
    let args = shifted.as_ref().unwrap_or(args);
    let make = |value| message(args, what, value, &loaded.state);
    match &args.value {
        Some(text) => answering::fitting(text, loaded, |value| make(Some(value))),
        None => make(None),
    }
}

/// The same with the value in its place, where the step was left out: one word that no step is called by.
fn without_step(args: &Args, what: What, state: &State) -> Option<Args> {
    let word = args.step.as_ref().filter(|_| args.value.is_none() && matches!(what, What::Answer | What::Edit))?;
    let is_step = word.parse().is_ok_and(|path: StepPath| state.find(&path).is_some());
    (!is_step).then(|| Args { step: None, value: Some(word.clone()), ..args.clone() })
}

fn message(args: &Args, what: What, value: Option<Json>, state: &State) -> Result<Message> {
    let caller = identity::caller();
    let by = caller.who.name().map(str::to_owned);
    let answer = |answer| reply(args, asked(args, state)?, answer, &caller);
    match what {
        What::Approve => match value {
            Some(choice) => answer(Answer::Value { value: choice }),
            None => answer(Answer::Approve),
        },
        What::Deny => answer(Answer::Deny { reason: args.reason.clone() }),
        What::Edit => match value {
            Some(value) => answer(Answer::Edit { value }),
            None => bail!("what should it be instead? longhaul edit RUN STEP VALUE"),
        },
        What::Answer => match value {
            Some(value) => answer(Answer::Value { value }),
            None => bail!("what is the answer? longhaul answer RUN STEP VALUE"),
        },
        What::Signal => match &args.step {
            Some(name) => Ok(Message::Signal { name: name.clone(), data: value.unwrap_or_default(), by }),
            None => bail!("which signal? longhaul signal RUN NAME [VALUE]"),
        },
        What::Cancel => Ok(Message::Cancel { reason: args.reason.clone(), by }),
        What::Pause => Ok(Message::Pause { by }),
        What::Unpause => Ok(Message::Unpause { by }),
        What::Leave => match &state.host {
            Some(host) => Ok(Message::Leave { host: host.clone(), by }),
            None => bail!("its files are on no machine of several"),
        },
    }
}

/// An answer, with whatever was said beside it.
fn reply(args: &Args, path: StepPath, answer: Answer, caller: &Caller) -> Result<Message> {
    let auth = if args.secret.is_some() { Auth::Token } else { caller.auth };
    let mut message = Message::answer(path, answer, Caller { auth, overrides: args.overrides, ..caller.clone() });
    if let Message::Answer { comment, key, .. } = &mut message {
        comment.clone_from(&args.comment);
        *key = args.secret.as_deref().map(key_of);
    }
    Ok(message)
}

/// The step that is meant: the one named, or the only one that asks.
fn asked(args: &Args, state: &State) -> Result<StepPath> {
    if let Some(step) = &args.step {
        return step.parse().map_err(anyhow::Error::msg);
    }
    let open: Vec<&StepPath> = state.questions().map(|(step, _)| &step.path).collect();
    match open.as_slice() {
        [one] => Ok((*one).clone()),
        [] => bail!("this run asks nothing at the moment"),
        several => bail!(
            "several steps ask: {}; name one",
            several.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        ),
    }
}
