//! The loop of a run: record, believe, act — in that order, always.

use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::sync::Arc;

use longhaul_core::decide::{Advance, Planner, Start, advance, place, start_of, take_in};
use longhaul_core::event::{Envelope, Event, Failure, VERSION};
use longhaul_core::id::RunId;
use longhaul_core::index::Index;
use longhaul_core::path::StepPath;
use longhaul_core::plan::{ErrorClass, Outcome, Plan};
use longhaul_core::state::{LAYOUT, Phase, State, StepInst};
use longhaul_store::{Append, Error as Refusal, Restored, StoredEvent};
use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::engine::{Error, Pulse, Shared};
use crate::execute::attempt;
use crate::execute::permits::Promise;
use crate::execute::workspace::sync;
use crate::fleet::membership;
use crate::fleet::reports;
use crate::fleet::reports::Reported;
use crate::run::admission::{self, Admission};
use crate::run::approvals;
use crate::run::codec;
use crate::run::message::Message;
use crate::run::on_failure;
use crate::run::record::{Extras, append, prepared, record};
use crate::run::recover;
use crate::run::recover::Orphans;
use crate::services::consent;

/// Events between two snapshots, at least. A snapshot costs what the state is large, so a large state has them rarer.
const SNAPSHOT_EVENTS: u64 = 500;
/// How often a commit is decided again because others moved the run on.
pub(crate) const TRIES: u32 = 50;
/// How often is looked whether those still live who do a part of the work.
pub(crate) const LOOK_AT_OTHERS: std::time::Duration = std::time::Duration::from_secs(1);
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

/// A run's plan and state, from its newest snapshot and what came after.
pub(crate) async fn load(shared: &Shared, run: &RunId) -> Result<Loaded, Error> {
    let Restored { snapshot, events: mut rows } = shared.store.restore(run, PAGE).await?;
    let mut state = State::default();
    if let Some((seq, bytes)) = snapshot {
        match restored(&bytes).filter(|state| state.seq == seq) {
            Some(restored) => state = restored,
            // Another version wrote it: everything is still in the events.
            None => rows = shared.store.read(run, 0, PAGE).await?,
        }
    }
    replay(shared, run, state, rows).await
}

/// The same without a snapshot.
pub(crate) async fn load_from_start(shared: &Shared, run: &RunId) -> Result<Loaded, Error> {
    let rows = shared.store.read(run, 0, PAGE).await?;
    replay(shared, run, State::default(), rows).await
}

/// A state, and the layout in which it is written.
#[derive(Serialize, Deserialize)]
struct Snapshot<T> {
    layout: u32,
    state: T,
}

/// The state that a snapshot holds, if it was written in the layout of this program: what another one left out would read as
/// nothing.
fn restored(bytes: &[u8]) -> Option<State> {
    let snapshot: Snapshot<State> = codec::read(std::str::from_utf8(bytes).ok()?).ok()?;
    (snapshot.layout == LAYOUT).then_some(snapshot.state)
}

async fn replay(shared: &Shared, run: &RunId, mut state: State, mut rows: Vec<StoredEvent>) -> Result<Loaded, Error> {
    let snapshot_seq = state.seq;
    let mut plan = match &state.started {
        Some(started) => Some(shared.plan(&started.plan).await?),
        None => None,
    };
    loop {
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
        rows = shared.store.read(run, state.seq, PAGE).await?;
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
    let Some(_turn) = shared.turns.take(run, stop).await else { return stopped(shared, run).await };
    membership::know_agents(shared).await;
    let loaded = load(shared, run).await?;
    let status = loaded.state.status_word();
    let (done, finished) = mpsc::unbounded_channel();
    let mut runner = Runner {
        shared: Arc::clone(shared),
        run: run.clone(),
        loaded,
        open: HashMap::new(),
        written: status,
        fell: false,
        changes: shared.store.watch(),
        done,
        finished,
    };
    // What was written while it was loaded is looked at, too.
    runner.changes.mark_changed();
    let orphans = recover::orphans(shared, run, &runner.loaded.state).await?;
    let idle = runner.go(orphans, stop).await;
    shared.mailroom.forget(run);
    Ok((idle?, runner.loaded.state))
}

/// Somebody else in this process drives it, and this one is to stop.
async fn stopped(shared: &Shared, run: &RunId) -> Result<(Idle, State), Error> {
    let loaded = load(shared, run).await?;
    Ok((idle(shared, &loaded), loaded.state))
}

fn idle(shared: &Shared, loaded: &Loaded) -> Idle {
    match &loaded.state.finished {
        Some(finished) => Idle::Finished(finished.outcome),
        None => {
            let look = admission::look_again(loaded, shared.clock.now_ms());
            Idle::Waiting { next_due: next_due(loaded).into_iter().chain(look).min() }
        }
    }
}

/// What has not been recorded yet.
struct Owed {
    /// What attempts of this process told.
    ended: Vec<Event>,
    orphans: Orphans,
    /// Whether there may be messages.
    mail: bool,
}

impl Owed {
    /// All of it is recorded, or nobody wants it.
    fn clear(&mut self) {
        self.ended.clear();
        self.orphans = Orphans::default();
    }
}

struct Runner {
    shared: Arc<Shared>,
    run: RunId,
    loaded: Loaded,
    /// Attempts that this process makes.
    open: HashMap<(String, u32), CancellationToken>,
    /// The status that the files for people show.
    written: &'static str,
    /// Whether it was here that the run failed, and what follows from that is ours to do.
    fell: bool,
    /// Whether the store has been written to since others were looked at.
    changes: watch::Receiver<u64>,
    done: mpsc::UnboundedSender<Event>,
    finished: mpsc::UnboundedReceiver<Event>,
}

impl Runner {
    /// Whatever goes wrong, nothing continues that nobody listens to.
    async fn go(&mut self, orphans: Orphans, stop: &CancellationToken) -> Result<Idle, Error> {
        let was_over = self.loaded.state.is_finished();
        // Apart from what drives it: its callers hold it within futures of their own.
        let went = Box::pin(self.drive(orphans, stop)).await;
        if went.is_err() {
            self.stop_all().await;
        }
        if self.loaded.state.is_finished() {
            // Who is not woken looks by itself, a little later.
            let _ = admission::leave(&self.shared, &self.loaded).await;
            self.unburden(was_over).await;
        }
        let ours = std::mem::take(&mut self.fell);
        on_failure::settle(&self.shared, &self.run, &mut self.loaded, ours, stop).await.and(went)
    }

    /// Nobody continues elsewhere with the files of a run that ended well. One that did not may start again.
    async fn unburden(&self, was_over: bool) {
        let state = &self.loaded.state;
        let ended_well = state.finished.as_ref().is_some_and(|finished| finished.outcome == Outcome::Success);
        if state.carried.is_some() && ended_well && !was_over {
            // What cannot be taken away now goes when the run is forgotten.
            let _ = sync::forget(&self.shared, &self.run, false).await;
        }
    }

    async fn drive(&mut self, orphans: Orphans, stop: &CancellationToken) -> Result<Idle, Error> {
        let news = self.shared.mailroom.listen(&self.run);
        // Whoever drives it looks at others by itself, and need not be woken by all that is written.
        self.shared.mailroom.set_foreign(&self.run, false);
        let mut owed = Owed { ended: Vec::new(), orphans, mail: true };
        loop {
            if stop.is_cancelled() {
                return self.park(owed.ended).await;
            }
            match self.proceed(&mut owed, &news, stop).await {
                Ok(Some(idle)) => return Ok(idle),
                Ok(None) => {}
                // Attempts continue meanwhile, for as long as nobody else can have them.
                Err(error) if is_away(&error) => self.wait_for_store(&mut owed, stop).await?,
                Err(error) => return Err(error),
            }
        }
    }

    /// Records what is new, then waits for more; answers once nothing of the run is under way here.
    async fn proceed(
        &mut self,
        owed: &mut Owed,
        news: &Notify,
        stop: &CancellationToken,
    ) -> Result<Option<Idle>, Error> {
        owed.mail = self.turn(owed, stop).await?;
        if owed.mail || self.takes_more().await? {
            return Ok(None);
        }
        if self.open.is_empty() {
            let is_queued = self.loaded.state.queued().next().is_some();
            self.shared.mailroom.set_foreign(&self.run, is_queued || self.waits_for_others());
            return Ok(Some(self.idle()));
        }
        let next_due = next_due(&self.loaded);
        tokio::select! {
            event = self.finished.recv() => owed.ended.extend(event.map(|event| self.over(event))),
            () = news.notified() => owed.mail = true,
            () = until(&self.shared, next_due) => {}
            () = tokio::time::sleep(LOOK_AT_OTHERS) => owed.orphans = self.look_at_others(&owed.ended).await?,
            () = stop.cancelled() => {}
        }
        while let Ok(event) = self.finished.try_recv() {
            owed.ended.push(self.over(event));
        }
        Ok(None)
    }

    /// Waits until a store that is away is there again, then reads what became of the run. Whoever stops does not wait.
    async fn wait_for_store(&mut self, owed: &mut Owed, stop: &CancellationToken) -> Result<(), Error> {
        owed.mail = true;
        loop {
            tokio::select! {
                () = tokio::time::sleep(LOOK_AT_OTHERS) => {}
                () = stop.cancelled() => {}
            }
            match self.read_again(owed).await {
                Err(error) if is_away(&error) && !stop.is_cancelled() => {}
                read => return read,
            }
        }
    }

    async fn read_again(&mut self, owed: &mut Owed) -> Result<(), Error> {
        self.loaded = load(&self.shared, &self.run).await?;
        self.drop_stale();
        owed.orphans = self.left_by_others(&owed.ended).await?;
        Ok(())
    }

    /// An attempt of ours that is over, whether anybody wants its result or not.
    fn over(&mut self, event: Event) -> Event {
        if let Some(key) = attempt_of(&event) {
            self.open.remove(&key);
        }
        event
    }

    /// Takes what waits for a worker, where no worker of this process does.
    async fn takes_more(&self) -> Result<bool, Error> {
        // What is over is recorded before more is taken, or short steps would pile up unrecorded.
        let is_free = !self.shared.taken.has_worker() && self.finished.is_empty();
        let is_wanted = is_free && self.loaded.state.queued().next().is_some();
        Ok(is_wanted && !membership::take(&self.shared, Some(&self.run)).await?.is_empty())
    }

    /// What others have done to the run, and what they have left.
    async fn look_at_others(&mut self, ended: &[Event]) -> Result<Orphans, Error> {
        if self.changes.has_changed().unwrap_or(true) {
            self.changes.mark_unchanged();
            self.catch_up().await?;
        }
        if self.waits_for_others() { self.left_by_others(ended).await } else { Ok(Orphans::default()) }
    }

    /// Attempts that nobody makes any more, but for those of this process: the open ones, and those whose end is not recorded yet.
    async fn left_by_others(&self, ended: &[Event]) -> Result<Orphans, Error> {
        let mut orphans = recover::orphans(&self.shared, &self.run, &self.loaded.state).await?;
        let over: HashSet<(String, u32)> = ended.iter().filter_map(attempt_of).collect();
        let foreign = |(path, attempt): &(StepPath, u32)| {
            let key = (path.to_string(), *attempt);
            !self.open.contains_key(&key) && !over.contains(&key)
        };
        orphans.lost.retain(foreign);
        orphans.alive.retain(foreign);
        Ok(orphans)
    }

    /// Whether somebody else is running on this run.
    fn waits_for_others(&self) -> bool {
        let state = &self.loaded.state;
        !state.is_finished() && state.running() > self.open.len()
    }

    /// Takes in whatever is new, records what follows, and acts on it. True if there may be more to take in.
    async fn turn(&mut self, owed: &mut Owed, stop: &CancellationToken) -> Result<bool, Error> {
        let mut attempts = 0;
        let Owed { ended, orphans, mail } = owed;
        let mail = *mail;
        let (mut taken, mut promised) = self.shared.taken.of(&self.run);
        taken.extend(orphans.taken.iter().cloned());
        if mail && self.loaded.state.is_hosted() {
            self.catch_up().await?;
        }
        loop {
            let (mut news, mut extras) = self.news(ended, orphans, mail).await?;
            news.splice(0..0, self.taken(&taken, orphans));
            let admission = admission::ask(&self.shared, &self.run, &self.loaded).await?;
            let advance = if matches!(admission, Admission::Held) { take_in } else { advance };
            if let Admission::Refused(event) = admission {
                news = vec![*event];
                extras = Extras::default();
            }
            let more = !extras.consumed.is_empty();
            let at = self.shared.clock.now_ms();
            let (plan, index) = (&self.loaded.plan.0, &self.loaded.plan.1);
            extras.timers_before = self.loaded.state.timers(plan);
            extras.on_failure_before = self.loaded.state.on_failure.open_attempt();
            let mut advance = advance(Planner { plan, index }, &mut self.loaded.state, news, at)
                .map_err(|illegal| Error::Damaged(illegal.0))?;
            extras.blobs = approvals::seal_questions(&mut self.loaded.state, &mut advance);
            let agents = membership::counted_agents(&self.shared, &self.loaded, &advance.starts);
            let more_promised = membership::with_place(&self.shared, &agents, |at| {
                place(Planner { plan, index }, &mut self.loaded.state, &mut advance, at);
                advance.starts.len()
            });
            if advance.events.is_empty() {
                owed.clear();
                return Ok(false);
            }
            let given_up = |(path, attempt): &&(StepPath, u32)| !is_open(&self.loaded.state, path, *attempt);
            extras.given_up = advance.stops.iter().filter(given_up).cloned().collect();
            extras.lost.clone_from(&orphans.lost);
            let reported = extras.reported.clone();
            match self.commit(&advance, extras, stop).await {
                Ok(()) => {
                    owed.clear();
                    let more = more | advance.is_cut;
                    let asked = consent::asked(&advance.events);
                    promised.join(more_promised);
                    self.act(advance, reported.as_ref(), promised);
                    let more = more | consent::offer(&self.shared, &self.run, &asked).await;
                    return Ok(more || !due_timers(&self.loaded, self.shared.clock.now_ms()).is_empty());
                }
                Err(error) if moved_on(&error) && attempts < TRIES => {
                    // Somebody else moved the run on: believe the store and decide again.
                    attempts += 1;
                    self.loaded = load(&self.shared, &self.run).await?;
                    self.drop_stale();
                    ended.retain(|event| still_open(&self.loaded.state, event));
                    if !orphans.is_empty() {
                        *orphans = self.left_by_others(ended).await?;
                    }
                    if is_fenced(&error) {
                        self.disown(ended, &mut taken).await?;
                    }
                }
                Err(error) if is_refused(&error) => {
                    let ended = std::mem::take(ended);
                    owed.clear();
                    // Rare, so it does not make every turn larger.
                    return Box::pin(self.hold(ended, error)).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// What follows cannot be recorded: records what is done, and pauses the run with the reason. To decide it again would
    /// lead to the same.
    async fn hold(&mut self, mut ended: Vec<Event>, why: Error) -> Result<bool, Error> {
        self.loaded = load(&self.shared, &self.run).await?;
        ended.retain(|event| still_open(&self.loaded.state, event));
        if !self.loaded.state.paused {
            ended.push(Event::Paused { by: Some(format!("the store, which refused what follows: {why}")) });
        }
        // It is paused already, and there is nothing to keep: whoever drives it is told why.
        if ended.is_empty() {
            return Err(why);
        }
        record_alone(&self.shared, &self.run, &mut self.loaded, &ended).await.map(|()| false)
    }

    /// Forgets what is not ours any more: whoever has it tells what becomes of it.
    async fn disown(&self, ended: &mut Vec<Event>, taken: &mut Vec<membership::Attempt>) -> Result<(), Error> {
        let tasks = self.shared.store.tasks(&self.run).await?;
        let ours = tasks.into_iter().filter(|task| task.worker.as_ref() == Some(&self.shared.worker));
        let ours: HashSet<String> = ours.map(|task| task.key).collect();
        let is_ours = |path: &dyn Display, attempt: u32| ours.contains(&format!("{path}@{attempt}"));
        ended.retain(|event| attempt_of(event).is_none_or(|(path, attempt)| is_ours(&path, attempt)));
        taken.retain(|(path, attempt)| is_ours(path, *attempt));
        Ok(())
    }

    /// What clients submit is recorded beside this loop, and what other processes do.
    async fn catch_up(&mut self) -> Result<(), Error> {
        if !self.shared.store.read(&self.run, self.loaded.state.seq, 1).await?.is_empty() {
            self.loaded = load(&self.shared, &self.run).await?;
            self.drop_stale();
        }
        Ok(())
    }

    /// What was taken of the attempts that wait for a worker, and what whoever took it has left.
    fn taken(&self, taken: &[membership::Attempt], orphans: &Orphans) -> Vec<Event> {
        let state = &self.loaded.state;
        let mut claimed: Vec<&membership::Attempt> = taken.iter().collect();
        claimed.sort();
        claimed.dedup();
        let is_wanted = |attempt: &&membership::Attempt| !state.cancelling && is_queued(state, &attempt.0, attempt.1);
        let member = &self.shared.options.member;
        let claimed = claimed.into_iter().filter(is_wanted).map(|(path, attempt)| Event::AttemptClaimed {
            path: path.clone(),
            attempt: *attempt,
            worker: member.name.clone(),
            host: member.host.clone(),
        });
        let released = orphans.released.iter().filter(is_wanted);
        let released = released.map(|(path, attempt)| Event::AttemptReleased { path: path.clone(), attempt: *attempt });
        claimed.chain(released).collect()
    }

    /// Results of attempts, messages, timers that are due, attempts that were lost.
    async fn news(&self, ended: &[Event], orphans: &Orphans, mail: bool) -> Result<(Vec<Event>, Extras), Error> {
        let state = &self.loaded.state;
        let mut news: Vec<Event> = ended.iter().filter(|event| still_open(state, event)).cloned().collect();
        for (path, attempt) in &orphans.alive {
            let event = Event::AttemptAdopted { path: path.clone(), attempt: *attempt };
            if still_open(state, &event) {
                news.push(event);
            }
        }
        for (path, attempt) in &orphans.lost {
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
            let event = match reports::taken_in(&self.shared, &self.run, &self.loaded, &message).await? {
                Some((event, reported)) => {
                    extras.reported = reported;
                    event
                }
                None => self.told(&message.body),
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

    /// What a message says that is no report.
    fn told(&self, body: &str) -> Event {
        match serde_json::from_str::<Message>(body) {
            Ok(parsed) => parsed.into_event(),
            Err(error) => Event::Refused { what: "message".to_owned(), why: error.to_string() },
        }
    }

    async fn commit(&mut self, advance: &Advance, extras: Extras, stop: &CancellationToken) -> Result<(), Error> {
        let (plan, index) = (&self.loaded.plan.0, &self.loaded.plan.1);
        let planner = Planner { plan, index };
        let commit = prepared(&self.shared, &self.run, planner, &self.loaded.state, &advance.events, extras)?;
        self.write(commit, stop).await?;
        self.snapshot()
    }

    /// Writes a commit. If nobody knows whether it was kept, the store is asked again until it says so: it knows it by its ids.
    async fn write(&self, commit: Append, stop: &CancellationToken) -> Result<(), Error> {
        // A file is never in doubt, so its commits need no copy.
        let again = self.shared.options.member.host.is_some().then(|| commit.clone());
        let mut written = append(&self.shared, commit).await;
        while let (Err(Error::Store(Refusal::Unsure(_))), Some(commit)) = (&written, &again) {
            tokio::select! {
                () = tokio::time::sleep(LOOK_AT_OTHERS) => {}
                () = stop.cancelled() => return written,
            }
            written = match append(&self.shared, commit.clone()).await {
                Err(error) if is_away(&error) => written,
                known => known,
            };
        }
        written
    }

    /// Keeps the state now and then, so that loading a long run does not begin at its beginning.
    fn snapshot(&mut self) -> Result<(), Error> {
        let state = &self.loaded.state;
        let pause = SNAPSHOT_EVENTS.max(state.steps().len() as u64);
        if state.seq - self.loaded.snapshot_seq < pause {
            return Ok(());
        }
        let snapshot = Snapshot { layout: LAYOUT, state };
        let (seq, bytes) = (state.seq, serde_json::to_vec(&snapshot).map_err(Error::encoding)?);
        self.loaded.snapshot_seq = seq;
        let (shared, run) = (Arc::clone(&self.shared), self.run.clone());
        // Nobody waits for it: it goes with the next commit, and a run without it is only slower to load.
        tokio::spawn(async move { shared.store.save_snapshot(&run, seq, bytes).await });
        Ok(())
    }

    /// What somebody else makes who may not record it is `reported`, and not begun here.
    fn act(&mut self, advance: Advance, reported: Option<&Reported>, mut promised: Promise) {
        self.fell |= on_failure::is_begun(&advance.events);
        for event in &advance.events {
            if let Some(key) = attempt_of(&event.event) {
                self.open.remove(&key);
            }
        }
        for (path, attempt) in &advance.stops {
            if let Some(token) = self.open.get(&(path.to_string(), *attempt)) {
                token.cancel();
            }
        }
        let planner = Planner { plan: &self.loaded.plan.0, index: &self.loaded.plan.1 };
        let adopted = advance.events.iter().filter_map(|envelope| match &envelope.event {
            Event::AttemptAdopted { path, .. } => Some((start_of(planner, &self.loaded.state, path)?, true)),
            Event::AttemptClaimed { path, .. } => Some((start_of(planner, &self.loaded.state, path)?, false)),
            _ => None,
        });
        let is_ours = |start: &Start| {
            reported.is_none_or(|((path, attempt), _)| (path, *attempt) != (&start.path, start.attempt))
                && is_open(&self.loaded.state, &start.path, start.attempt)
        };
        let adopted: Vec<(Start, bool)> = adopted.filter(|(start, _)| is_ours(start)).collect();
        for start in advance.starts.into_iter().map(|start| (start, false)).chain(adopted) {
            let token = CancellationToken::new();
            self.open.insert((start.0.path.to_string(), start.0.attempt), token.clone());
            attempt::begin(&self.shared, &self.run, &self.loaded, start, token, promised.one(), self.done.clone());
        }
        let events = Arc::new(advance.events);
        let _ = self.shared.pulse.send(Pulse::Events(self.run.clone(), events));
        self.write_files();
    }

    /// Files for people; the run does not depend on them.
    fn write_files(&mut self) {
        let status = self.loaded.state.status_word();
        if self.written != status {
            self.written = status;
            self.shared.artifacts.write_run(&self.run, &self.loaded.state);
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
            if !open || state.cancelling {
                token.cancel();
            }
            open
        });
    }

    /// Stops what is under way and records it, so that whoever continues knows. Nothing is decided from it here: an
    /// attempt that nobody makes would be begun, and lost at once.
    async fn park(&mut self, ended: Vec<Event>) -> Result<Idle, Error> {
        let stopped = self.stop_all().await.into_iter().map(as_stopped);
        let mut ended: Vec<Event> = ended.into_iter().chain(stopped).collect();
        loop {
            ended.retain(|event| still_open(&self.loaded.state, event));
            if ended.is_empty() {
                return Ok(self.idle());
            }
            match record_alone(&self.shared, &self.run, &mut self.loaded, &ended).await {
                Err(error) if moved_on(&error) => self.loaded = load(&self.shared, &self.run).await?,
                recorded => return recorded.map(|()| self.idle()),
            }
        }
    }

    /// Stops every attempt that this process makes; answers how each ended, once nothing of it is left.
    async fn stop_all(&mut self) -> Vec<Event> {
        self.open.values().for_each(CancellationToken::cancel);
        let mut ended = Vec::new();
        while !self.open.is_empty() {
            let Some(event) = self.finished.recv().await else { break };
            if let Some(key) = attempt_of(&event) {
                self.open.remove(&key);
            }
            ended.push(event);
        }
        ended
    }

    fn idle(&self) -> Idle {
        idle(&self.shared, &self.loaded)
    }
}

/// Records news without deciding what follows.
pub(crate) async fn record_alone(
    shared: &Shared,
    run: &RunId,
    loaded: &mut Loaded,
    news: &[Event],
) -> Result<(), Error> {
    let at = shared.clock.now_ms();
    let mut state = loaded.state.clone();
    let (plan, index) = (&loaded.plan.0, &loaded.plan.1);
    let mut events = Vec::new();
    for event in news {
        let envelope = Envelope { v: VERSION, seq: state.seq + 1, at, event: event.clone() };
        state.apply(plan, index, &envelope).map_err(|illegal| Error::Damaged(illegal.0))?;
        events.push(envelope);
    }
    let timers_before = loaded.state.timers(plan);
    let on_failure_before = loaded.state.on_failure.open_attempt();
    let extras = Extras { timers_before, on_failure_before, ..Extras::default() };
    record(shared, run, Planner { plan, index }, &state, &events, extras).await?;
    loaded.state = state;
    let _ = shared.pulse.send(Pulse::Events(run.clone(), Arc::new(events)));
    Ok(())
}

/// Somebody else wrote first: believe the store and decide again.
pub(crate) fn moved_on(error: &Error) -> bool {
    use longhaul_store::Error::{Conflict, Exists, Fenced};
    matches!(error, Error::Store(Conflict { .. } | Exists | Fenced { .. }))
}

/// The store will never take this.
fn is_refused(error: &Error) -> bool {
    matches!(error, Error::Store(Refusal::TooLarge { .. } | Refusal::Invalid(_)))
}

/// Whether something of the commit is held by somebody else.
fn is_fenced(error: &Error) -> bool {
    matches!(error, Error::Store(Refusal::Fenced { .. }))
}

/// Whether the store does not answer at the moment, and may do so again.
pub(crate) fn is_away(error: &Error) -> bool {
    matches!(error, Error::Store(Refusal::Unreachable(_) | Refusal::Unsure(_) | Refusal::Busy))
}

/// The attempt that an event ends.
fn attempt_of(event: &Event) -> Option<(String, u32)> {
    match event {
        Event::AttemptSucceeded { path, attempt, .. }
        | Event::AttemptFailed { path, attempt, .. }
        | Event::AttemptStopped { path, attempt, .. } => Some((path.to_string(), *attempt)),
        _ => None,
    }
}

/// What was stopped because the engine stops has neither failed nor been lost.
pub(crate) fn as_stopped(event: Event) -> Event {
    match event {
        Event::AttemptFailed { path, attempt, result, .. } => {
            Event::AttemptStopped { path, attempt, usage: result.usage }
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

/// Whether an attempt is under way, and somebody wants its result.
pub(crate) fn is_open(state: &State, path: &StepPath, attempt: u32) -> bool {
    let open = |step: &StepInst| step.phase == Phase::Attempt && step.attempts == attempt;
    !state.is_finished() && state.find(path).is_some_and(open)
}

/// Whether an attempt waits for a worker.
pub(crate) fn is_queued(state: &State, path: &StepPath, attempt: u32) -> bool {
    let queued = |step: &StepInst| step.phase == Phase::Queued && step.attempts == attempt;
    !state.is_finished() && state.find(path).is_some_and(queued)
}

/// Whether a result is of an attempt that is still open.
fn still_open(state: &State, event: &Event) -> bool {
    match event {
        Event::AttemptSucceeded { path, attempt, .. }
        | Event::AttemptFailed { path, attempt, .. }
        | Event::AttemptStopped { path, attempt, .. }
        | Event::AttemptAdopted { path, attempt }
        | Event::FilesKept { path, attempt, .. }
        | Event::FilesRestored { path, attempt, .. }
        | Event::FilesRebuilt { path, attempt, .. }
        | Event::CarryFailed { path, attempt, .. }
        | Event::AttemptDelayed { path, attempt, .. }
        | Event::SessionSeen { path, attempt, .. } => is_open(state, path, *attempt),
        _ => true,
    }
}

fn due_timers(loaded: &Loaded, now: i64) -> Vec<String> {
    let due = loaded.state.timers(&loaded.plan.0).into_iter().filter(|(_, due)| *due <= now);
    due.map(|(timer, _)| timer).collect()
}

fn next_due(loaded: &Loaded) -> Option<i64> {
    loaded.state.timers(&loaded.plan.0).into_iter().map(|(_, due)| due).min()
}
