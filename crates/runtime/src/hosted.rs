//! Hosted runs: a client asks for the next steps, does them itself, and submits what came of them.
//!
//! The run is the same, and so is its journal. What no agent does is done here in between, by the same loop.
//!
//! **Invariant:** between two calls nothing is held in memory: whoever asks next, and whichever process answers, finds the
//! same picture. What does not fit is told to the caller, and the run is untouched.

mod picture;

use std::time::Duration;

use longhaul_agents::private;
use longhaul_core::Json;
use longhaul_core::decide::{Planner, claims, held_until, misfit, named};
use longhaul_core::event::{Envelope, Event, Failure, Result as Left, Usage};
use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_core::plan::ErrorClass;
use longhaul_core::state::{Phase, State};
use longhaul_core::view::{self, Held};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::engine::{Engine, Error};
use crate::execute::artifacts::Artifacts;
use crate::execute::attempt;
use crate::execute::kinds::Done;
use crate::run::run_loop::{Loaded, TRIES, moved_on, record_alone};
use picture::{Onlooker, picture};

pub use picture::{Handed, HostStatus, Work};

/// How long a client is kept waiting for steps that the engine does.
pub const PATIENCE: Duration = Duration::from_secs(50);
/// How long a client that has something to do is kept waiting for the rest.
const HASTE: Duration = Duration::from_secs(2);
/// Events that are read at once.
const PAGE: usize = 1000;

/// What a client has come to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Submission {
    /// The result: a value, or the text of an answer that holds it.
    pub output: Json,
    /// Why there is none.
    pub error: Option<String>,
    /// What it cost, as far as the client knows.
    pub usage: Option<Usage>,
    /// The attempt that it is of; without one, the client must hold the step.
    pub attempt: Option<u32>,
}

/// A sign of life.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Heartbeat {
    /// What the client is at, in words.
    pub hint: Option<String>,
    /// The attempt that it is about; without one, the client must hold the step.
    pub attempt: Option<u32>,
}

impl Engine {
    /// The next steps of a hosted run for a client: what is free is taken, what the client has is told again. Steps that no
    /// agent does are done first, as long as that does not take too long.
    pub async fn next(&self, run: &RunId, client: &str) -> Result<Handed, Error> {
        self.next_within(run, client, PATIENCE).await
    }

    /// The same, with a limit to how long the engine's own steps are waited for. They continue after that.
    pub async fn next_within(&self, run: &RunId, client: &str, patience: Duration) -> Result<Handed, Error> {
        self.hosted(run).await?;
        self.advance_hosted(run, client, patience).await?;
        self.deliver(run, client, None).await
    }

    /// How a hosted run stands. Nothing is taken, and nothing is done.
    pub async fn peek(&self, run: &RunId) -> Result<Handed, Error> {
        let loaded = self.hosted(run).await?;
        let onlooker = Onlooker { client: None, events: &[], done: None };
        picture(run, &loaded, &onlooker, self.now_ms())
    }

    /// Takes the result of a step, then answers like [`Engine::next`]. A value that does not fit leaves the step open.
    pub async fn submit(&self, run: &RunId, step: &str, submission: Submission, client: &str) -> Result<Handed, Error> {
        self.submit_within(run, step, submission, client, PATIENCE).await
    }

    /// The same, with a limit to how long the engine's own steps are waited for.
    pub async fn submit_within(
        &self,
        run: &RunId,
        step: &str,
        submission: Submission,
        client: &str,
        patience: Duration,
    ) -> Result<Handed, Error> {
        let submitted = |loaded: &Loaded| self.submission(loaded, step, &submission, client);
        let path = self.tell_hosted(run, submitted).await?;
        self.advance_hosted(run, client, patience).await?;
        self.deliver(run, client, Some(path)).await
    }

    /// A sign of life of whoever works on a step; its claim lasts longer.
    pub async fn heartbeat(&self, run: &RunId, step: &str, heartbeat: Heartbeat, client: &str) -> Result<Held, Error> {
        let until = held_until(self.now_ms());
        let seen = |loaded: &Loaded| {
            let (path, attempt) = named(&loaded.state, step, heartbeat.attempt, client).map_err(Error::Refused)?;
            Ok((path.clone(), Event::HeartbeatSeen { path, attempt, hint: heartbeat.hint.clone(), until }))
        };
        let path = self.tell_hosted(run, seen).await?;
        let held = view::held(&self.load(run).await?.state, self.now_ms());
        let gone = || Error::Refused(format!("`{path}` has moved on"));
        held.into_iter().find(|held| held.path == path).ok_or_else(gone)
    }

    /// Gives back everything that a client has taken, so that nobody waits for one that is gone; answers how much that was.
    pub async fn give_back(&self, run: &RunId, client: &str) -> Result<usize, Error> {
        for _ in 0..TRIES {
            let mut loaded = self.hosted(run).await?;
            let given = given_back(&loaded.state, client);
            if given.is_empty() {
                return Ok(0);
            }
            match record_alone(&self.shared, run, &mut loaded, &given).await {
                Ok(()) => {
                    self.shared.mailroom.tell(run);
                    return Ok(given.len());
                }
                Err(error) if moved_on(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Err(busy(run))
    }

    /// A run whose turns a client makes.
    async fn hosted(&self, run: &RunId) -> Result<Loaded, Error> {
        let loaded = self.load(run).await?;
        if !loaded.state.is_hosted() {
            let why = format!("the engine drives {run}; only a run that was started for a host hands its steps out");
            return Err(Error::Refused(why));
        }
        Ok(loaded)
    }

    /// Does what no agent does, until something is to be done by a client or the time is up. What is under way then continues.
    async fn advance_hosted(&self, run: &RunId, client: &str, patience: Duration) -> Result<(), Error> {
        let (engine, of) = (self.clone(), run.clone());
        let mut drive =
            tokio::spawn(async move { engine.drive(&of, CancellationToken::new(), |state| state.running() > 0).await });
        let until = Instant::now() + patience;
        loop {
            let pause = HASTE.min(until.saturating_duration_since(Instant::now()));
            match tokio::time::timeout(pause, &mut drive).await {
                Ok(Ok(idle)) => return idle.map(drop),
                Ok(Err(error)) => return Err(Error::Refused(format!("the run cannot be driven: {error}"))),
                Err(_) if Instant::now() >= until || has_work(&self.load(run).await?.state, client) => return Ok(()),
                Err(_) => {}
            }
        }
    }

    /// Takes what is free, and tells the client what it has.
    async fn deliver(&self, run: &RunId, client: &str, done: Option<StepPath>) -> Result<Handed, Error> {
        let loaded = self.claim(run, client).await?;
        let since = loaded.state.submitted.get(client).copied().unwrap_or_default();
        let events = self.all_events(run, since).await?;
        let onlooker = Onlooker { client: Some(client), events: &events, done };
        let handed = picture(run, &loaded, &onlooker, self.now_ms())?;
        handed.ready.iter().for_each(|work| self.keep_prompt(run, work));
        Ok(handed)
    }

    /// For people; the journal does not depend on it.
    fn keep_prompt(&self, run: &RunId, work: &Work) {
        let Ok(folder) = self.shared.artifacts.attempt(run, &work.path, work.attempt) else { return };
        let file = folder.join("prompt.md");
        if !file.exists() {
            // For people; whoever has the step got the prompt itself.
            let _ = private::replace(&file, self.shared.secrets.redact(work.prompt.clone()).as_bytes());
        }
    }

    /// For people; the journal has it anyway.
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

    /// Records what a client says, or tells it why not. If somebody else was faster, it is held against what they left.
    async fn tell_hosted(
        &self,
        run: &RunId,
        said: impl Fn(&Loaded) -> Result<(StepPath, Event), Error>,
    ) -> Result<StepPath, Error> {
        for _ in 0..TRIES {
            let mut loaded = self.hosted(run).await?;
            let (path, event) = said(&loaded)?;
            let planner = Planner { plan: &loaded.plan.0, index: &loaded.plan.1 };
            if let Some(why) = misfit(planner, &loaded.state, &event) {
                return Err(Error::Refused(why));
            }
            match record_alone(&self.shared, run, &mut loaded, std::slice::from_ref(&event)).await {
                Ok(()) => {
                    self.keep_output(run, &event);
                    self.shared.mailroom.tell(run);
                    return Ok(path);
                }
                Err(error) if moved_on(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Err(busy(run))
    }

    /// The end of an attempt, as its client says it.
    fn submission(
        &self,
        loaded: &Loaded,
        step: &str,
        submission: &Submission,
        client: &str,
    ) -> Result<(StepPath, Event), Error> {
        let (path, attempt) = named(&loaded.state, step, submission.attempt, client).map_err(Error::Refused)?;
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

/// The value that a step promises, out of what its client sent. What is not open is refused for that, whatever was sent.
fn accepted(loaded: &Loaded, path: &StepPath, attempt: u32, sent: &Json) -> Result<Json, Error> {
    let open = loaded.state.find(path).filter(|step| step.phase == Phase::Handed && step.attempts == attempt);
    let Some(inst) = open.filter(|_| !loaded.state.is_finished()) else { return Ok(sent.clone()) };
    let plan = &loaded.plan.0;
    let step = plan.step(inst.step);
    let unit = plan.unit(plan.body(step.body).unit);
    attempt::accepted(&step.output, &unit.compat, sent.clone())
        .map_err(|why| Error::Misfit { step: path.to_string(), why })
}

fn given_back(state: &State, client: &str) -> Vec<Event> {
    let held = state.handed().filter(|step| step.hand.as_ref().is_some_and(|hand| hand.by == client));
    let held = held.filter(|_| !state.is_finished());
    held.map(|step| Event::HandedBack { path: step.path.clone(), attempt: step.attempts }).collect()
}

/// Whether there is something for a client: free, or its own.
fn has_work(state: &State, client: &str) -> bool {
    state.is_finished() || state.handed().any(|step| step.hand.as_ref().is_none_or(|hand| hand.by == client))
}

fn busy(run: &RunId) -> Error {
    Error::Refused(format!("others move {run} on all the time; try again"))
}
