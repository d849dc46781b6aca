//! Starts attempts: finds the agent, waits for a permit, and reports the result.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use longhaul_agents::answer;
use longhaul_core::Json;
use longhaul_core::decide::Start;
use longhaul_core::event::{self, Event, Failure, RunStarted};
use longhaul_core::id::RunId;
use longhaul_core::plan::{Compat, ErrorClass, Output, Parse, WorkKind};
use longhaul_core::role;
use longhaul_core::schema::{self, mismatch};
use longhaul_core::task::TaskKey;
use longhaul_core::value::{self, Unread};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::engine::Shared;
use crate::execute::agent_defaults::AgentDefaults;
use crate::execute::artifacts::Artifacts;
use crate::execute::cache;
use crate::execute::kinds::{self, Attempt, AttemptSender, Done};
use crate::execute::permits::Promise;
use crate::execute::secrets::{self, Readable};
use crate::execute::workspace::sync::{self, WorkspaceSync};
use crate::run::leases::Leases;
use crate::run::run_loop::Loaded;

/// Starts an attempt, or adopts one that another process started. Sends its end to `done` in every case.
pub(crate) fn begin(
    shared: &Arc<Shared>,
    run: &RunId,
    loaded: &Loaded,
    (start, adopted): (Start, bool),
    cancel: CancellationToken,
    promise: Promise,
    done: mpsc::UnboundedSender<Event>,
) {
    let step = loaded.plan.0.step(start.step);
    let (output, cache) = (step.output.clone(), step.cache.clone().filter(|_| start.cache_inputs.is_some()));
    let started = loaded.state.started.as_ref();
    let workflow_dir = started.and_then(|started| started.context.workflow_dir.as_deref()).unwrap_or_default();
    let workflow_dir = here(shared, started, PathBuf::from(workflow_dir));
    let recovery = loaded.state.find(&start.path).and_then(|step| step.recovery.as_ref());
    let session = recovery.and_then(|recovery| recovery.session.as_ref()).map(|session| session.id.clone());
    let denied = loaded.state.find(&start.path).filter(|_| adopted).map(|step| step.denied.clone()).unwrap_or_default();
    let is_kept = recovery.is_some_and(|recovery| recovery.kept == Some(start.attempt));
    let owner_session = started.and_then(|started| started.owner.as_ref()?.session.clone());
    let readable = Readable::of(started, &shared.options.values.env);
    let news = AttemptSender(done.clone());
    let unit = loaded.plan.0.unit(loaded.plan.0.body(step.body).unit);
    let compat = unit.compat.clone();
    let told = AgentDefaults::for_step(shared, &loaded.plan.0, started, start.step);
    let (workspace, baggage) = (shared.options.workspace.clone(), WorkspaceSync::of(shared, &loaded.state, step));
    let key = (run.clone(), TaskKey::new(&start.path, start.attempt).to_string());
    let held = Leases::hold(shared, key, cancel.clone());
    let (shared, run) = (Arc::clone(shared), run.clone());
    tokio::spawn(async move {
        let (path, number) = (start.path.clone(), start.attempt);
        let choice = kinds::prompt::who(&shared, &start, &told).await;
        let names: Vec<&str> = choice.iter().flat_map(|choice| [&*choice.name, &*choice.driver]).collect();
        let slot = tokio::select! {
            slot = shared.permits.take(&names, promise) => Some(slot),
            () = cancel.cancelled() => None,
        };
        let secrets = shared.secrets.clone();
        let attempt = Attempt {
            readable,
            shared,
            run,
            output,
            workflow_dir,
            workspace,
            baggage,
            cache,
            secrets,
            start,
            cancel,
            adopted,
            session,
            is_kept,
            denied,
            news,
            compat,
            owner_session,
            told,
            choice,
            delay: Mutex::default(),
        };
        let clean = attempt.secrets.clone();
        let Done { result, mut failure } = make(attempt).await;
        if let Some(failure) = &mut failure {
            // Also redact errors of other parts, such as git.
            failure.message = clean.redact(std::mem::take(&mut failure.message));
        }
        // Give the permit back before the end is known: the next step may need it.
        drop(slot);
        let event = match failure {
            None => Event::AttemptSucceeded { path, attempt: number, result },
            // The lease stopped it, even if the error looks different.
            Some(_) if held.is_released() => Event::AttemptStopped { path, attempt: number, usage: result.usage },
            Some(error) => Event::AttemptFailed { path, attempt: number, error, result },
        };
        // This fails only if the run's loop has ended. The attempt then counts as lost.
        let _ = done.send(event);
    });
}

/// The path of a project's folder on this machine.
fn here(shared: &Shared, started: Option<&RunStarted>, dir: PathBuf) -> PathBuf {
    let root = started.and_then(|started| started.context.workspace.as_deref());
    match root.and_then(|root| dir.strip_prefix(root).ok()) {
        Some(inside) => shared.options.workspace.join(inside),
        None => dir,
    }
}

async fn make(mut attempt: Attempt) -> Done {
    if let Err(problem) = secrets::resolve(&mut attempt.start, &attempt.readable) {
        return Done::unusable(ErrorClass::Invalid, problem.0);
    }
    match sync::arrive(&attempt).await {
        Ok(folder) => attempt.workspace = folder.unwrap_or(attempt.workspace),
        Err(done) => return *done,
    }
    let entry = match cache::entry(&attempt).await {
        Ok(entry) => entry,
        Err(message) => return Done::unusable(ErrorClass::Invalid, message),
    };
    if let Some(result) = entry.as_ref().and_then(cache::Entry::known) {
        return Done { result, failure: None };
    }
    let (output, secrets) = (attempt.output.clone(), attempt.secrets.clone());
    let reading = Reading::of(attempt.start.kind == WorkKind::Prompt, &attempt.compat);
    let role = foreign_role(&attempt);
    let folder = kinds::leaves_files(&attempt).then(|| attempt.place());
    let mut done = kinds::make(&attempt).await;
    done.redact(&secrets);
    if attempt.start.turn.compact {
        // A compacted conversation is no answer: it has no schema, and its text is not kept.
        done.result = done.result.without_repetition();
        return done;
    }
    if done.failure.is_none() {
        done = accept_from(&output, reading, role.as_deref(), done);
    }
    done.result = done.result.without_repetition();
    if let (Some(entry), None) = (&entry, &done.failure) {
        entry.keep(&done.result);
    }
    if let (Some(folder), None) = (folder, &done.failure) {
        Artifacts::write_output(&folder, &done.result.output);
    }
    sync::send(&attempt, &mut done).await;
    done
}

/// How to find a value in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// A program prints JSON and nothing else.
    Program,
    /// An agent writes text around the value.
    Agent,
    /// From the first brace of the output to the last.
    BetweenBraces,
    /// The first complete object of the output.
    FirstObject,
}

impl Reading {
    fn of(is_agent: bool, compat: &[Compat]) -> Self {
        let like = |one| compat.contains(&one);
        match is_agent {
            false => Self::Program,
            true if like(Compat::CountedRecovery) => Self::BetweenBraces,
            true if like(Compat::FirstObject) => Self::FirstObject,
            true => Self::Agent,
        }
    }

    fn value(self, text: &str, output: &Output) -> Result<Json, String> {
        let fits = |value: &Json| output.schema.as_ref().and_then(|schema| mismatch(schema, value));
        match self {
            Self::Agent => answer::value(text, &fits).map_err(|problem| problem.0),
            Self::BetweenBraces => {
                let fields = output.schema.as_ref().and_then(|schema| schema.get("properties")?.as_object());
                let keys: Vec<&str> = fields.into_iter().flat_map(|fields| fields.keys()).map(String::as_str).collect();
                answer::compat::between_braces(text, &keys).map(Json::Object).map_err(|problem| problem.0)
            }
            Self::FirstObject => answer::compat::first_object(text).map_err(|problem| problem.0),
            Self::Program => parse(text).map_err(|unread| match unread {
                Unread::Lossy(why) => why,
                Unread::NotJson(_) => format!("the answer is not JSON: {}", text.chars().take(200).collect::<String>()),
            }),
        }
    }
}

/// The value that fits a step, from a client's submission.
pub(crate) fn accepted(output: &Output, compat: &[Compat], sent: Json) -> Result<Json, String> {
    let done = accept(output, Reading::of(true, compat), Done::with(sent));
    match done.failure {
        None => Ok(done.result.output),
        Some(failure) => Err(failure.message),
    }
}

/// The role of an agent that was written for another system.
fn foreign_role(attempt: &Attempt) -> Option<String> {
    let agent = attempt.start.params.get("agent")?;
    agent.get("played_by")?;
    agent.get("role")?.as_str().map(str::to_owned)
}

/// As `accept`, and also an answer in the words of the system for which the agent of a role was written.
fn accept_from(output: &Output, reading: Reading, role: Option<&str>, done: Done) -> Done {
    let said = role.filter(|_| output.parse == Parse::Json).and_then(|role| {
        // Without a check this is the last object of the text.
        let said = match &done.result.output {
            Json::String(text) => answer::value(text, &|_| None).ok()?,
            value => value.clone(),
        };
        Some(role::translated(role, &said))
    });
    let plain = accept(output, reading, done);
    let (Some(said), Some(_)) = (said, &plain.failure) else { return plain };
    let ours = Done { result: event::Result { output: said, ..plain.result.clone() }, failure: None };
    let ours = check(output, ours);
    if ours.failure.is_none() { ours } else { plain }
}

/// Turns text into the value that the step promises, or fails the attempt.
fn accept(output: &Output, reading: Reading, mut done: Done) -> Done {
    let text = match &done.result.output {
        Json::String(text) => text.clone(),
        _ => return check(output, done),
    };
    done.result.output = match output.parse {
        Parse::Text => Json::String(text),
        Parse::Lines => Json::Array(text.lines().map(|line| Json::String(line.to_owned())).collect()),
        Parse::Json => match reading.value(&text, output) {
            Ok(value) => value,
            Err(why) => return Done { failure: Some(Failure::new(ErrorClass::Invalid, why)), ..done },
        },
    };
    check(output, done)
}

fn check(output: &Output, mut done: Done) -> Done {
    if value::is_too_deep(&done.result.output) {
        return Done::failed(ErrorClass::Invalid, value::TOO_DEEP);
    }
    if let Some(why) = output.schema.as_ref().and_then(schema::unusable) {
        let failure = Failure::unusable(ErrorClass::Invalid, format!("its schema cannot be used: {why}"));
        return Done { failure: Some(failure), ..done };
    }
    if let Some(why) = output.schema.as_ref().and_then(|schema| mismatch(schema, &done.result.output)) {
        let message = format!("the answer does not follow its schema: {why}");
        return Done { failure: Some(Failure::new(ErrorClass::Invalid, message)), ..done };
    }
    if let (Some(max), Json::String(text)) = (output.max_chars, &done.result.output) {
        let max = usize::try_from(max).unwrap_or(usize::MAX);
        if text.chars().count() > max {
            done.result.output = Json::String(text.chars().take(max).collect::<String>() + "\n[cut]");
        }
    }
    done
}

/// Finds one JSON value: the whole text, a fenced block, or the outermost braces.
fn parse(text: &str) -> Result<Json, Unread> {
    let whole = match value::read(text.trim()) {
        Err(Unread::NotJson(why)) => Unread::NotJson(why),
        read => return read,
    };
    let fenced = || {
        let after = text.split_once("```")?.1;
        let inside = after.split_once('\n')?.1.split_once("```")?.0;
        value::read(inside.trim()).ok()
    };
    let braces = || value::read(text.get(text.find('{')?..=text.rfind('}')?)?).ok();
    fenced().or_else(braces).ok_or(whole)
}
