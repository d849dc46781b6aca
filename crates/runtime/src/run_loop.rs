//! The loop of a run: record, believe, act — in that order, always.

use std::collections::HashMap;
use std::sync::Arc;

use indexmap::IndexMap;
use longhaul_core::Json;
use longhaul_core::decide::{Advance, Planner, advance};
use longhaul_core::event::{Envelope, Event, Failure, VERSION};
use longhaul_core::id::RunId;
use longhaul_core::index::Index;
use longhaul_core::path::StepPath;
use longhaul_core::plan::{ErrorClass, Outcome, Plan};
use longhaul_core::state::{Phase, State};
use longhaul_store::{Append, Blob, Head, MessageId, NewTask, TaskEnd, Timer};
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::codec;
use crate::engine::{Error, Pulse, Shared, new_run_id};
use crate::message::Message;
use crate::{perform, recover};

/// Events between two snapshots, at least. A snapshot costs what the state is large, so a large state has them rarer.
const SNAPSHOT_EVENTS: u64 = 500;
/// Events that are read at once.
const PAGE: usize = 1000;

/// Why nobody has to do anything for a run at the moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Idle {
    /// It is over.
    Finished(Outcome),
    /// It waits for a person, a signal, a timer, or for work that another process does.
    Waiting {
        /// When the next timer is due.
        next_due: Option<i64>,
    },
}

/// A run, loaded.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// What it executes, with its lookups.
    pub plan: Arc<(Plan, Index)>,
    /// What is true of it.
    pub state: State,
    /// The last event of the newest snapshot; 0 if there is none.
    pub(crate) snapshot_seq: u64,
}

/// What goes into a commit beside the events.
#[derive(Debug, Default)]
pub(crate) struct Extras {
    pub(crate) blobs: Vec<Blob>,
    pub(crate) consumed: Vec<MessageId>,
    /// Tasks that end whoever holds them.
    pub(crate) lost: Vec<(StepPath, u32)>,
}

/// A run's plan and state, from its newest snapshot and what came after.
pub(crate) async fn load(shared: &Shared, run: &RunId) -> Result<Loaded, Error> {
    let snapshot = shared.store.snapshot(run).await?;
    let restored = snapshot.and_then(|(_, bytes)| serde_json::from_slice::<State>(&bytes).ok());
    let mut state = restored.unwrap_or_default();
    let snapshot_seq = state.seq;
    let mut plan = match &state.started {
        Some(started) => Some(shared.plan(&started.plan).await?),
        None => None,
    };
    loop {
        let rows = shared.store.read(run, state.seq, PAGE).await?;
        let last = rows.len() < PAGE;
        for row in rows {
            let envelope = codec::decode(row, shared.store.as_ref()).await?;
            if let Event::RunStarted(started) = &envelope.event {
                plan = Some(shared.plan(&started.plan).await?);
            }
            let known =
                plan.as_ref().ok_or_else(|| Error::Damaged("the run does not begin with its start".to_owned()))?;
            state.apply(&known.0, &known.1, &envelope).map_err(|illegal| Error::Damaged(illegal.0))?;
        }
        if last {
            break;
        }
    }
    let plan = plan.ok_or_else(|| Error::UnknownRun(run.to_string()))?;
    Ok(Loaded { plan, state, snapshot_seq })
}

/// Drives a run until nothing of it is under way in this process and nothing can be decided. Answers what the run has come
/// to, too: whoever asked need not load it again.
pub(crate) async fn until_idle(
    shared: &Arc<Shared>,
    run: &RunId,
    stop: &CancellationToken,
) -> Result<(Idle, State), Error> {
    let loaded = load(shared, run).await?;
    let (done, finished) = mpsc::unbounded_channel();
    let mut runner =
        Runner { shared: Arc::clone(shared), run: run.clone(), loaded, open: HashMap::new(), done, finished };
    let lost = recover::lost_attempts(shared, run, &runner.loaded.state).await?;
    let idle = runner.go(lost, stop).await;
    shared.mailroom.forget(run);
    Ok((idle?, runner.loaded.state))
}

struct Runner {
    shared: Arc<Shared>,
    run: RunId,
    loaded: Loaded,
    /// Attempts that this process makes.
    open: HashMap<(String, u32), CancellationToken>,
    done: mpsc::UnboundedSender<Event>,
    finished: mpsc::UnboundedReceiver<Event>,
}

impl Runner {
    async fn go(&mut self, lost: Vec<(StepPath, u32)>, stop: &CancellationToken) -> Result<Idle, Error> {
        let mut lost = Some(lost);
        let news = self.shared.mailroom.listen(&self.run);
        let mut ended: Vec<Event> = Vec::new();
        let mut mail = true;
        loop {
            let more = self.turn(std::mem::take(&mut ended), lost.take().unwrap_or_default(), mail).await?;
            mail = more;
            if more {
                continue;
            }
            if self.open.is_empty() {
                self.shared.mailroom.set_foreign(&self.run, self.waits_for_others());
                return Ok(self.idle());
            }
            let next_due = next_due(&self.loaded);
            tokio::select! {
                event = self.finished.recv() => ended.extend(event),
                () = news.notified() => mail = true,
                () = until(&self.shared, next_due) => {}
                () = stop.cancelled() => return self.park().await,
            }
            while let Ok(event) = self.finished.try_recv() {
                ended.push(event);
            }
        }
    }

    /// Whether somebody else is at work on this run.
    fn waits_for_others(&self) -> bool {
        !self.loaded.state.is_finished() && self.loaded.state.open_attempts().next().is_some()
    }

    /// Takes in whatever is new, records what follows, and acts on it. True if there may be more to take in.
    async fn turn(&mut self, ended: Vec<Event>, lost: Vec<(StepPath, u32)>, mail: bool) -> Result<bool, Error> {
        let mut attempts = 0;
        let mut ended = ended;
        loop {
            let (news, mut extras) = self.news(&ended, &lost, mail).await?;
            let more = !extras.consumed.is_empty();
            let at = self.shared.clock.now_ms();
            let (plan, index) = (&self.loaded.plan.0, &self.loaded.plan.1);
            let advance = advance(Planner { plan, index }, &mut self.loaded.state, news, at)
                .map_err(|illegal| Error::Damaged(illegal.0))?;
            if advance.events.is_empty() {
                return Ok(false);
            }
            extras.lost.clone_from(&lost);
            match self.commit(&advance, extras).await {
                Ok(()) => {
                    self.act(advance);
                    return Ok(more || !due_timers(&self.loaded, self.shared.clock.now_ms()).is_empty());
                }
                Err(Error::Store(longhaul_store::Error::Conflict { .. } | longhaul_store::Error::Exists))
                    if attempts < 50 =>
                {
                    // Somebody else moved the run on: believe the store and decide again.
                    attempts += 1;
                    self.loaded = load(&self.shared, &self.run).await?;
                    self.drop_stale();
                    ended.retain(|event| still_open(&self.loaded.state, event));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Results of attempts, messages, timers that are due, attempts that were lost.
    async fn news(&self, ended: &[Event], lost: &[(StepPath, u32)], mail: bool) -> Result<(Vec<Event>, Extras), Error> {
        let state = &self.loaded.state;
        let mut news: Vec<Event> = ended.iter().filter(|event| still_open(state, event)).cloned().collect();
        for (path, attempt) in lost {
            let error = Failure::new(ErrorClass::Lost, "the process that made the attempt is gone");
            let event =
                Event::AttemptFailed { path: path.clone(), attempt: *attempt, error, result: Default::default() };
            if still_open(state, &event) {
                news.push(event);
            }
        }
        let mut extras = Extras::default();
        let inbox = if mail { self.shared.store.inbox(&self.run).await? } else { Vec::new() };
        // One message a turn: the next one must be held against what this one changes.
        if let Some(message) = inbox.into_iter().next() {
            let event = match serde_json::from_str::<Message>(&message.body) {
                Ok(parsed) => parsed.into_event(state),
                Err(error) => Event::Refused { what: "message".to_owned(), why: error.to_string() },
            };
            news.push(event);
            extras.consumed.push(message.id);
        }
        let now = self.shared.clock.now_ms();
        if extras.consumed.is_empty() {
            news.extend(due_timers(&self.loaded, now).into_iter().map(|timer| Event::TimerFired { timer }));
        }
        Ok((news, extras))
    }

    async fn commit(&mut self, advance: &Advance, extras: Extras) -> Result<(), Error> {
        let (plan, index) = (&self.loaded.plan.0, &self.loaded.plan.1);
        let planner = Planner { plan, index };
        record(&self.shared, &self.run, planner, &self.loaded.state, &advance.events, extras).await?;
        self.snapshot()
    }

    /// Keeps the state now and then, so that loading a long run does not begin at its beginning.
    fn snapshot(&mut self) -> Result<(), Error> {
        let state = &self.loaded.state;
        let pause = SNAPSHOT_EVENTS.max(state.steps().len() as u64);
        if state.seq - self.loaded.snapshot_seq < pause {
            return Ok(());
        }
        let (seq, bytes) = (state.seq, serde_json::to_vec(state).map_err(Error::encoding)?);
        self.loaded.snapshot_seq = seq;
        let (shared, run) = (Arc::clone(&self.shared), self.run.clone());
        // Nobody waits for it: it goes with the next commit, and a run without it is only slower to load.
        tokio::spawn(async move { shared.store.save_snapshot(&run, seq, bytes).await });
        Ok(())
    }

    fn act(&mut self, advance: Advance) {
        for event in &advance.events {
            if let Event::AttemptSucceeded { path, attempt, .. } | Event::AttemptFailed { path, attempt, .. } =
                &event.event
            {
                self.open.remove(&(path.to_string(), *attempt));
            }
        }
        for (path, attempt) in &advance.stops {
            if let Some(token) = self.open.get(&(path.to_string(), *attempt)) {
                token.cancel();
            }
        }
        for start in advance.starts {
            let token = CancellationToken::new();
            self.open.insert((start.path.to_string(), start.attempt), token.clone());
            perform::begin(&self.shared, &self.run, &self.loaded, start, token, self.done.clone());
        }
        let events = Arc::new(advance.events);
        let _ = self.shared.pulse.send(Pulse::Events(self.run.clone(), events));
        self.write_files();
    }

    /// Files for people; the run does not depend on them.
    fn write_files(&self) {
        let state = &self.loaded.state;
        if let Some(finished) = &state.finished {
            let about = json!({
                "run": self.run, "workflow": state.started.as_ref().map(|started| &started.workflow),
                "started_at": state.started_at, "ended_at": finished.at, "outcome": finished.outcome, "message": finished.message,
            });
            let _ = self.shared.artifacts.write_json(&self.run, "run.json", &about);
            let _ = self.shared.artifacts.write_json(&self.run, "context.json", &finished.outputs);
        }
    }

    /// Attempts of ours that the store does not know any more: stop, and kill the tree.
    fn drop_stale(&mut self) {
        let state = &self.loaded.state;
        self.open.retain(|(path, attempt), token| {
            let open = path
                .parse::<StepPath>()
                .ok()
                .and_then(|path| state.find(&path))
                .is_some_and(|step| step.phase == Phase::Attempt && step.attempts == *attempt);
            if !open {
                token.cancel();
            }
            open
        });
    }

    /// Stops what is under way and records it, so that whoever goes on knows.
    async fn park(&mut self) -> Result<Idle, Error> {
        for token in self.open.values() {
            token.cancel();
        }
        let mut ended = Vec::new();
        while !self.open.is_empty() {
            let Some(event) = self.finished.recv().await else { break };
            if let Event::AttemptSucceeded { path, attempt, .. } | Event::AttemptFailed { path, attempt, .. } = &event {
                self.open.remove(&(path.to_string(), *attempt));
            }
            ended.push(as_lost(event));
        }
        let at = self.shared.clock.now_ms();
        let (plan, index) = (&self.loaded.plan.0, &self.loaded.plan.1);
        let news: Vec<Event> = ended.into_iter().filter(|event| still_open(&self.loaded.state, event)).collect();
        if !news.is_empty() {
            let mut advance = advance(Planner { plan, index }, &mut self.loaded.state, news, at)
                .map_err(|illegal| Error::Damaged(illegal.0))?;
            // Recorded, not begun: starts that follow are lost at once and found by whoever goes on.
            advance.starts.clear();
            self.commit(&advance, Extras::default()).await?;
        }
        Ok(self.idle())
    }

    fn idle(&self) -> Idle {
        match &self.loaded.state.finished {
            Some(finished) => Idle::Finished(finished.outcome),
            None => Idle::Waiting { next_due: next_due(&self.loaded) },
        }
    }
}

/// What was stopped because the engine stops is work that was lost, not work that failed.
fn as_lost(event: Event) -> Event {
    match event {
        Event::AttemptFailed { path, attempt, result, .. } => {
            let error = Failure::new(ErrorClass::Lost, "stopped with the engine");
            Event::AttemptFailed { path, attempt, error, result }
        }
        other => other,
    }
}

async fn until(shared: &Shared, due: Option<i64>) {
    match due {
        Some(due) => {
            let ms = u64::try_from(due - shared.clock.now_ms()).unwrap_or(0);
            tokio::time::sleep(std::time::Duration::from_millis(ms)).await;
        }
        None => std::future::pending().await,
    }
}

/// Whether a result is of an attempt that is still open.
fn still_open(state: &State, event: &Event) -> bool {
    match event {
        Event::AttemptSucceeded { path, attempt, .. } | Event::AttemptFailed { path, attempt, .. } => {
            state.find(path).is_some_and(|step| step.phase == Phase::Attempt && step.attempts == *attempt)
        }
        _ => true,
    }
}

/// Timers of a state, each with its name and time.
fn timers(state: &State) -> impl Iterator<Item = (String, i64)> + '_ {
    state.waiting().filter_map(|step| match &step.phase {
        Phase::Retry { due } => Some((format!("retry:{}", step.path), *due)),
        Phase::Waiting { due: Some(due), .. } => Some((format!("wait:{}", step.path), *due)),
        Phase::Question => Some((format!("gate:{}", step.path), step.question.as_ref()?.due?)),
        _ => None,
    })
}

fn due_timers(loaded: &Loaded, now: i64) -> Vec<String> {
    if loaded.state.is_finished() {
        return Vec::new();
    }
    let deadline = deadline(loaded).filter(|due| *due <= now).map(|_| "deadline".to_owned());
    let due = timers(&loaded.state).filter(|(_, due)| *due <= now).map(|(timer, _)| timer);
    due.chain(deadline).collect()
}

fn next_due(loaded: &Loaded) -> Option<i64> {
    if loaded.state.is_finished() {
        return None;
    }
    timers(&loaded.state).map(|(_, due)| due).chain(deadline(loaded)).min()
}

/// When the run's time is up, unless it was up before.
fn deadline(loaded: &Loaded) -> Option<i64> {
    let ms = loaded.plan.0.main().limits.duration_ms.filter(|_| !loaded.state.is_past_deadline())?;
    Some(loaded.state.started_at.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX)))
}

/// One commit: events and everything in the store that follows from them.
pub(crate) async fn record(
    shared: &Shared,
    run: &RunId,
    planner: Planner<'_>,
    state: &State,
    events: &[Envelope],
    extras: Extras,
) -> Result<(), Error> {
    let mut blobs = extras.blobs;
    let rows = events.iter().map(|envelope| codec::encode(envelope, &mut blobs)).collect::<Result<Vec<_>, _>>()?;
    let expected = events.first().map_or(0, |envelope| envelope.seq - 1);
    let mut append = Append::new(run.clone(), expected, rows);
    append.blobs = blobs;
    append.consumed = extras.consumed;
    append.head = Some(head(planner, state));
    for envelope in events {
        effects(shared, run, planner, &envelope.event, &extras.lost, &mut append);
    }
    match shared.store.append(append).await {
        Ok(_) | Err(longhaul_store::Error::AlreadyApplied) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Timers and tasks that an event means.
fn effects(
    shared: &Shared,
    run: &RunId,
    planner: Planner<'_>,
    event: &Event,
    lost: &[(StepPath, u32)],
    append: &mut Append,
) {
    let mut set = |id: String, due_ms: i64| {
        append.timers_set.retain(|timer| timer.id != id);
        append.timers_set.push(Timer { run: run.clone(), id, due_ms });
    };
    match event {
        Event::RunStarted(_) => {
            if let Some(ms) = planner.plan.main().limits.duration_ms {
                set("deadline".to_owned(), shared.clock.now_ms().saturating_add(i64::try_from(ms).unwrap_or(i64::MAX)));
            }
        }
        Event::RetryScheduled { path, due, .. } => set(format!("retry:{path}"), *due),
        Event::WaitStarted { path, due: Some(due), .. } => set(format!("wait:{path}"), *due),
        Event::QuestionAsked { path, due: Some(due), .. } => set(format!("gate:{path}"), *due),
        Event::TimerFired { timer } => clear(append, timer.clone()),
        Event::Answered { path, .. } => clear(append, format!("gate:{path}")),
        Event::RunFinished { .. } => clear(append, "deadline".to_owned()),
        Event::AttemptStarted { path, attempt } => {
            let lease_ms = i64::try_from(shared.options.lease.as_millis()).unwrap_or(i64::MAX);
            append.tasks_started.push(NewTask {
                key: format!("{path}@{attempt}"),
                attempt: *attempt,
                worker: Some(shared.worker.clone()),
                lease_ms,
                labels: Vec::new(),
            });
        }
        Event::AttemptSucceeded { path, attempt, .. } | Event::AttemptFailed { path, attempt, .. } => {
            let key = format!("{path}@{attempt}");
            let begun_here = append.tasks_started.iter().any(|task| task.key == key);
            if begun_here {
                append.tasks_started.retain(|task| task.key != key);
            } else {
                let worker = (!lost.contains(&(path.clone(), *attempt))).then(|| shared.worker.clone());
                append.tasks_ended.push(TaskEnd { key, attempt: *attempt, worker });
            }
        }
        _ => {}
    }
}

fn clear(append: &mut Append, timer: String) {
    append.timers_set.retain(|set| set.id != timer);
    if !append.timers_cleared.contains(&timer) {
        append.timers_cleared.push(timer);
    }
}

/// What lists show.
fn head(planner: Planner<'_>, state: &State) -> Head {
    let started = state.started.as_ref();
    let summary = json!({
        "task": started.map(|started| started.task.chars().take(200).collect::<String>()),
        "done": state.succeeded, "started_at": state.started_at, "usd": state.usage.usd,
        "message": state.finished.as_ref().and_then(|finished| finished.message.clone()),
    });
    Head {
        workflow: planner.plan.main().name.clone(),
        status: state.status_word().to_owned(),
        summary: summary.to_string(),
        group: None,
        parent: None,
    }
}

/// A new run with the events of another one up to the first attempt of a step.
pub(crate) async fn fork(
    shared: &Arc<Shared>,
    from: &RunId,
    at: &StepPath,
    inputs: IndexMap<String, Json>,
) -> Result<RunId, Error> {
    let source = load(shared, from).await?;
    if source.state.find(at).is_none() {
        return Err(Error::Refused(format!("no step `{at}` was reached in {from}")));
    }
    let run = new_run_id(shared.clock.now_ms());
    let rows = shared.store.read(from, 0, usize::MAX >> 1).await?;
    let mut state = State::default();
    let (plan, index) = (&source.plan.0, &source.plan.1);
    let mut events = Vec::new();
    for row in rows {
        let mut envelope = codec::decode(row, shared.store.as_ref()).await?;
        if begins(&envelope.event, at) {
            break;
        }
        if let Event::RunStarted(started) = &mut envelope.event {
            started.forked = Some((from.to_string(), at.clone()));
            started.inputs.extend(inputs.clone());
        }
        state.apply(plan, index, &envelope).map_err(|illegal| Error::Damaged(illegal.0))?;
        events.push(envelope);
    }
    // Attempts that were open at that moment belong to the other run.
    let open: Vec<Event> = state
        .open_attempts()
        .map(|step| Event::AttemptFailed {
            path: step.path.clone(),
            attempt: step.attempts,
            error: Failure::new(ErrorClass::Lost, "left behind in the run this one was forked from"),
            result: Default::default(),
        })
        .collect();
    for event in open {
        let envelope = Envelope { v: VERSION, seq: state.seq + 1, at: shared.clock.now_ms(), event };
        state.apply(plan, index, &envelope).map_err(|illegal| Error::Damaged(illegal.0))?;
        events.push(envelope);
    }
    let blob = plan_blob(plan)?;
    record(shared, &run, Planner { plan, index }, &state, &events, Extras { blobs: vec![blob], ..Extras::default() })
        .await?;
    Ok(run)
}

fn plan_blob(plan: &Plan) -> Result<Blob, Error> {
    Ok(Blob::new(serde_json::to_string(plan).map_err(Error::encoding)?.into_bytes()))
}

fn begins(event: &Event, at: &StepPath) -> bool {
    match event {
        Event::AttemptStarted { path, .. } | Event::QuestionAsked { path, .. } | Event::WaitStarted { path, .. } => {
            path == at
        }
        Event::BodyOpened { path, .. } | Event::StepEnded { path, .. } | Event::StepSkipped { path, .. } => path == at,
        _ => false,
    }
}
