//! Hosted runs: a client asks for the next steps, does them itself, and submits the results.
//!
//! A hosted run has the same journal as any other. The usual loop does the steps that need no agent.
//!
//! **Invariant:** between two calls nothing is held in memory. Every process gives every client the same view. A
//! submission that does not fit gets an error and does not change the run.

mod picture;

use std::time::Duration;

use longhaul_agents::private;
use longhaul_core::Json;
use longhaul_core::decide::{Planner, claims, held_until, named, rejection};
use longhaul_core::event::{Envelope, Event, Failure, Result as Left, Usage};
use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_core::plan::ErrorClass;
use longhaul_core::rejection::Rejection;
use longhaul_core::state::State;
use longhaul_core::view::{self, Held};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::engine::{Engine, Error};
use crate::execute::artifacts::Artifacts;
use crate::execute::attempt;
use crate::execute::kinds::Done;
use crate::run::run_loop::{Loaded, TRIES, moved_on, record_alone};
use picture::{Onlooker, picture};

pub use picture::{HandedStep, HostStatus, HostedWork};

/// How long a client waits for steps that the engine does.
pub const PATIENCE: Duration = Duration::from_secs(50);
/// How long a client that already has work waits for more.
const HASTE: Duration = Duration::from_secs(2);
/// How many events to read at once.
const PAGE: usize = 1000;

/// A result from a client.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Submission {
    /// The result: a value, or the text of an answer that holds it.
    pub output: Json,
    /// Why there is no result.
    pub error: Option<String>,
    /// The cost, as far as the client knows it.
    pub usage: Option<Usage>,
    /// The attempt that the result belongs to. Without it, the client must hold the step.
    pub attempt: Option<u32>,
}

/// A sign of life from a client.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Heartbeat {
    /// What the client is doing, in words.
    pub hint: Option<String>,
    /// The attempt that this is about. Without it, the client must hold the step.
    pub attempt: Option<u32>,
}

impl Engine {
    /// Gives a client the next steps of a hosted run: it claims all free steps and repeats the steps that the client
    /// already holds. First the engine does the steps that need no agent, within a time limit.
    pub async fn next(&self, run: &RunId, client: &str) -> Result<HandedStep, Error> {
        self.next_within(run, client, PATIENCE).await
    }

    /// Like `next`, with a limit for waiting for the engine's own steps. They continue after that.
    pub async fn next_within(&self, run: &RunId, client: &str, patience: Duration) -> Result<HandedStep, Error> {
        self.hosted(run).await?;
        self.advance_hosted(run, client, patience).await?;
        self.deliver(run, client, None).await
    }

    /// Shows a hosted run. It claims no step and does nothing.
    pub async fn peek(&self, run: &RunId) -> Result<HandedStep, Error> {
        let loaded = self.hosted(run).await?;
        let onlooker = Onlooker { client: None, events: &[], done: None };
        picture(run, &loaded, &onlooker, self.now_ms())
    }

    /// Records the result of a step, then answers like [`Engine::next`]. If the value does not fit, the step stays
    /// open.
    pub async fn submit(
        &self,
        run: &RunId,
        step: &str,
        submission: Submission,
        client: &str,
    ) -> Result<HandedStep, Error> {
        self.submit_within(run, step, submission, client, PATIENCE).await
    }

    /// Like `submit`, with a limit for waiting for the engine's own steps.
    pub async fn submit_within(
        &self,
        run: &RunId,
        step: &str,
        submission: Submission,
        client: &str,
        patience: Duration,
    ) -> Result<HandedStep, Error> {
        let submitted = |loaded: &Loaded| self.submission(loaded, step, &submission, client);
        let path = self.tell_hosted(run, submitted).await?;
        self.advance_hosted(run, client, patience).await?;
        self.deliver(run, client, Some(path)).await
    }

    /// Extends the claim of a client that works on a step.
    pub async fn heartbeat(&self, run: &RunId, step: &str, heartbeat: Heartbeat, client: &str) -> Result<Held, Error> {
        let until = held_until(self.now_ms());
        let seen = |loaded: &Loaded| {
            let (path, attempt) = named(&loaded.state, step, heartbeat.attempt, client)?;
            Ok((path.clone(), Event::HeartbeatSeen { path, attempt, hint: heartbeat.hint.clone(), until }))
        };
        let path = self.tell_hosted(run, seen).await?;
        let held = view::held(&self.load(run).await?.state, self.now_ms());
        let gone = || Error::Rejected(Rejection::conflict(format!("`{path}` has moved on")));
        held.into_iter().find(|held| held.path == path).ok_or_else(gone)
    }

    /// Gives back all steps that a client holds, so that no run waits for a client that is gone. Returns how many
    /// steps.
    pub async fn give_back(&self, run: &RunId, client: &str) -> Result<usize, Error> {
        for _ in 0..TRIES {
            let mut loaded = self.hosted(run).await?;
            let given = given_back(&loaded.state, client);
            if given.is_empty() {
                return Ok(0);
            }
            match record_alone(&self.shared, run, &mut loaded, &given).await {
                Ok(()) => {
                    self.shared.notifier.tell(run);
                    return Ok(given.len());
                }
                Err(error) if moved_on(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Err(busy(run))
    }

    /// Loads a run and checks that a client drives it.
    async fn hosted(&self, run: &RunId) -> Result<Loaded, Error> {
        let loaded = self.load(run).await?;
        if !loaded.state.is_hosted() {
            let why = format!("the engine drives {run}; only a hosted run gives its steps to clients");
            return Err(Rejection::invalid(why).into());
        }
        Ok(loaded)
    }

    /// Does the steps that need no agent, until the client has work or the time is up. Steps that are running then
    /// continue.
    async fn advance_hosted(&self, run: &RunId, client: &str, patience: Duration) -> Result<(), Error> {
        let (engine, of) = (self.clone(), run.clone());
        let mut drive =
            tokio::spawn(async move { engine.drive(&of, CancellationToken::new(), |state| state.running() > 0).await });
        let until = Instant::now() + patience;
        loop {
            let pause = HASTE.min(until.saturating_duration_since(Instant::now()));
            match tokio::time::timeout(pause, &mut drive).await {
                Ok(Ok(idle)) => return idle.map(drop),
                Ok(Err(error)) => {
                    return Err(Rejection::unavailable(format!("the run cannot be driven: {error}")).into());
                }
                Err(_) if Instant::now() >= until || has_work(&self.load(run).await?.state, client) => return Ok(()),
                Err(_) => {}
            }
        }
    }

    /// Claims the free steps, and tells the client all steps that it holds.
    async fn deliver(&self, run: &RunId, client: &str, done: Option<StepPath>) -> Result<HandedStep, Error> {
        let loaded = self.claim(run, client).await?;
        let since = loaded.state.submitted.get(client).copied().unwrap_or_default();
        let events = self.all_events(run, since).await?;
        let onlooker = Onlooker { client: Some(client), events: &events, done };
        let handed = picture(run, &loaded, &onlooker, self.now_ms())?;
        handed.ready.iter().for_each(|work| self.keep_prompt(run, work));
        Ok(handed)
    }

    /// Writes the prompt to a file for people. The journal does not depend on it.
    fn keep_prompt(&self, run: &RunId, work: &HostedWork) {
        let Ok(folder) = self.shared.artifacts.attempt(run, &work.path, work.attempt) else { return };
        let file = folder.join("prompt.md");
        if !file.exists() {
            // The client already has the prompt.
            let _ = private::replace(&file, self.shared.secrets.redact(work.prompt.clone()).as_bytes());
        }
    }

    /// Writes the output to a file for people. The journal has it, too.
    fn keep_output(&self, run: &RunId, event: &Event) {
        if let Event::AttemptSucceeded { path, attempt, result } = event {
            Artifacts::write_output(&self.attempt_dir(run, path, *attempt), &result.output);
        }
    }

    async fn claim(&self, run: &RunId, client: &str) -> Result<Loaded, Error> {
        for _ in 0..TRIES {
            let mut loaded = self.load(run).await?;
            let claims = claims(&loaded.state, client, self.now_ms());
            if claims.is_empty() {
                return Ok(loaded);
            }
            match record_alone(&self.shared, run, &mut loaded, &claims).await {
                Ok(()) => return Ok(loaded),
                Err(error) if moved_on(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Err(busy(run))
    }

    /// Records an event of a client, or tells the client why not. If another process wrote first, it decides again on
    /// the new state.
    async fn tell_hosted(
        &self,
        run: &RunId,
        said: impl Fn(&Loaded) -> Result<(StepPath, Event), Error>,
    ) -> Result<StepPath, Error> {
        for _ in 0..TRIES {
            let mut loaded = self.hosted(run).await?;
            let (path, event) = said(&loaded)?;
            let planner = Planner { plan: &loaded.plan.0, index: &loaded.plan.1 };
            if let Some(why) = rejection(planner, &loaded.state, &event) {
                return Err(why.into());
            }
            match record_alone(&self.shared, run, &mut loaded, std::slice::from_ref(&event)).await {
                Ok(()) => {
                    self.keep_output(run, &event);
                    self.shared.notifier.tell(run);
                    return Ok(path);
                }
                Err(error) if moved_on(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Err(busy(run))
    }

    /// The event that ends an attempt, from the client's submission.
    fn submission(
        &self,
        loaded: &Loaded,
        step: &str,
        submission: &Submission,
        client: &str,
    ) -> Result<(StepPath, Event), Error> {
        let (path, attempt) = named(&loaded.state, step, submission.attempt, client)?;
        let by = Some(client.to_owned());
        let mut done = Done { result: Left { usage: submission.usage, by, ..Left::default() }, failure: None };
        if let Some(error) = &submission.error {
            done.failure = Some(Failure::new(ErrorClass::Failed, error.clone()));
        } else {
            done.result.output = accepted(loaded, &path, attempt, &submission.output)?;
        }
        done.redact(&self.shared.secrets);
        let (of, result) = (path.clone(), done.result);
        let event = match done.failure {
            None => Event::AttemptSucceeded { path, attempt, result },
            Some(error) => Event::AttemptFailed { path, attempt, error, result },
        };
        Ok((of, event))
    }

    async fn all_events(&self, run: &RunId, after: u64) -> Result<Vec<Envelope>, Error> {
        let mut events = Vec::new();
        let mut after = after;
        loop {
            let page = self.events(run, after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(events) };
            after = last.seq;
            events.extend(page);
        }
    }
}

/// Takes the value of a step out of the submission. If the step is not open, the value stays unchecked, because the
/// caller then rejects the submission.
fn accepted(loaded: &Loaded, path: &StepPath, attempt: u32, sent: &Json) -> Result<Json, Error> {
    let open = loaded.state.find(path).filter(|step| step.phase.is_hosted() && step.attempts == attempt);
    let Some(inst) = open.filter(|_| !loaded.state.is_finished()) else { return Ok(sent.clone()) };
    let plan = &loaded.plan.0;
    let step = plan.step(inst.step);
    let unit = plan.unit(plan.body(step.body).unit);
    attempt::accepted(&step.output, &unit.compat, sent.clone())
        .map_err(|why| Error::Misfit { step: path.to_string(), why })
}

fn given_back(state: &State, client: &str) -> Vec<Event> {
    let held = state.hosted().filter(|step| step.lease().is_some_and(|lease| lease.by == client));
    let held = held.filter(|_| !state.is_finished());
    held.map(|step| Event::HostedReturned { path: step.path.clone(), attempt: step.attempts }).collect()
}

/// Whether a client has work: a free step, or one that it holds.
fn has_work(state: &State, client: &str) -> bool {
    state.is_finished() || state.hosted().any(|step| step.lease().is_none_or(|lease| lease.by == client))
}

pub(crate) fn busy(run: &RunId) -> Error {
    Rejection::busy(format!("other processes keep changing {run}; try again")).into()
}
