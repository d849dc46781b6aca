//! The loop of a run: it records first, then updates its state, then acts. The order never changes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use longhaul_core::decide::{Advance, Planner, Start, absorb, advance, place, start_of};
use longhaul_core::event::{Envelope, Event, Failure, VERSION};
use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_core::plan::{ErrorClass, Outcome};
use longhaul_core::state::{LAYOUT, State, StepInst};
use longhaul_core::status::RunStatus;
use longhaul_core::task::{TaskKey, TimerId};
use longhaul_store::{Append, Error as Refusal};
use tokio::sync::{Notify, mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::engine::{EngineEvent, Error, Shared};
use crate::execute::attempt;
use crate::execute::permits::Promise;
use crate::execute::workspace::sync;
use crate::fleet::membership;
use crate::fleet::reports;
use crate::fleet::reports::Reported;
use crate::run::admission::{self, Admission};
use crate::run::approvals;
use crate::run::message::Message;
use crate::run::on_failure;
use crate::run::record::{Extras, append, prepared, record};
use crate::run::recover;
use crate::run::recover::Orphans;
use crate::services::consent;

pub use crate::run::load::Loaded;
pub(crate) use crate::run::load::{Snapshot, load, load_from_start, plan_of, seen};
pub(crate) use crate::run::refused::{is_away, is_fenced, is_refused, moved_on};

/// The fewest events between two snapshots. A snapshot costs as much as the state is large, so a large state has fewer.
const SNAPSHOT_EVENTS: u64 = 500;
/// How often to decide a commit again because others changed the run.
pub(crate) const TRIES: u32 = 50;
/// How often to check whether the workers of other attempts are alive.
pub(crate) const LOOK_AT_OTHERS: std::time::Duration = std::time::Duration::from_secs(1);

/// Why a run needs no engine at the moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Idle {
    /// The run is over.
    Finished(Outcome),
    /// The run waits for a person, a signal, a timer, or an attempt in another process.
    Waiting {
        /// When the next timer fires.
        next_due: Option<i64>,
    },
}

/// Drives a run until this process runs nothing of it and nothing can be decided. Also returns the state, so that the
/// caller need not load it again.
pub(crate) async fn until_idle(
    shared: &Arc<Shared>,
    run: &RunId,
    stop: &CancellationToken,
) -> Result<(Idle, State), Error> {
    let Some(_turn) = shared.turns.take(run, stop).await else { return stopped(shared, run).await };
    membership::know_agents(shared).await;
    let loaded = load(shared, run).await?;
    let status = loaded.state.status();
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
    // Writes during the loading count as changes.
    runner.changes.mark_changed();
    let orphans = recover::orphans(shared, run, &runner.loaded.state).await?;
    let idle = runner.go(orphans, stop).await;
    shared.notifier.forget(run);
    Ok((idle?, runner.loaded.state))
}

/// Another loop of this process drives the run, and this one was told to stop.
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

/// News that is not recorded yet.
struct Owed {
    /// The results of attempts of this process.
    ended: Vec<Event>,
    orphans: Orphans,
    /// Whether there may be messages.
    mail: bool,
}

impl Owed {
    /// Call this when all of it is recorded, or is no longer wanted.
    fn clear(&mut self) {
        self.ended.clear();
        self.orphans = Orphans::default();
    }
}

struct Runner {
    shared: Arc<Shared>,
    run: RunId,
    loaded: Loaded,
    /// The attempts that this process runs.
    open: HashMap<TaskKey, CancellationToken>,
    /// The status in the files for people.
    written: RunStatus,
    /// Whether this loop recorded the failure of the run. Then it runs `on_failure`.
    fell: bool,
    /// Tells whether the store has changed since the last check of other workers.
    changes: watch::Receiver<u64>,
    done: mpsc::UnboundedSender<Event>,
    finished: mpsc::UnboundedReceiver<Event>,
}

impl Runner {
    /// Drives the run. After an error it stops all attempts, so that none runs without a listener.
    async fn go(&mut self, orphans: Orphans, stop: &CancellationToken) -> Result<Idle, Error> {
        let was_over = self.loaded.state.is_finished();
        // Boxed, because callers hold this future inside their own.
        let went = Box::pin(self.drive(orphans, stop)).await;
        if went.is_err() {
            self.stop_all().await;
        }
        if self.loaded.state.is_finished() {
            // Wake-ups are hints: a run that misses one polls a little later.
            let _ = admission::leave(&self.shared, &self.loaded).await;
            self.unburden(was_over).await;
        }
        let ours = std::mem::take(&mut self.fell);
        on_failure::settle(&self.shared, &self.run, &mut self.loaded, ours, stop).await.and(went)
    }

    /// Removes the sent files of a run that succeeded: it does not continue on another machine. A run that did not
    /// succeed may start again.
    async fn unburden(&self, was_over: bool) {
        let state = &self.loaded.state;
        let ended_well = state.finished.as_ref().is_some_and(|finished| finished.outcome == Outcome::Success);
        if state.placement.carried.is_some() && ended_well && !was_over {
            // If this fails, removing the run removes the files.
            let _ = sync::forget(&self.shared, &self.run, false).await;
        }
    }

    async fn drive(&mut self, orphans: Orphans, stop: &CancellationToken) -> Result<Idle, Error> {
        let news = self.shared.notifier.listen(&self.run);
        // This loop checks other workers itself, so it need not wake up for each write.
        self.shared.notifier.set_foreign(&self.run, false);
        let mut owed = Owed { ended: Vec::new(), orphans, mail: true };
        loop {
            if stop.is_cancelled() {
                return self.park(owed.ended).await;
            }
            if self.shared.draining.is_cancelled() {
                return self.drain(owed.ended, stop).await;
            }
            match self.proceed(&mut owed, &news, stop).await {
                Ok(Some(idle)) => return Ok(idle),
                Ok(None) => {}
                // Attempts continue meanwhile, while no other worker can have them.
                Err(error) if is_away(&error) => self.wait_for_store(&mut owed, stop).await?,
                Err(error) => return Err(error),
            }
        }
    }

    /// Records news, then waits for more. Returns once this process runs nothing of the run.
    async fn proceed(
        &mut self,
        owed: &mut Owed,
        news: &Notify,
        stop: &CancellationToken,
    ) -> Result<Option<Idle>, Error> {
        owed.mail = self.turn(owed, stop).await?;
        if owed.mail || self.may_claim_more().await? {
            return Ok(None);
        }
        if self.loaded.state.is_stopped() {
            return self.park(std::mem::take(&mut owed.ended)).await.map(Some);
        }
        if self.open.is_empty() {
            let is_queued = self.loaded.state.queued().next().is_some();
            self.shared.notifier.set_foreign(&self.run, is_queued || self.waits_for_others());
            return Ok(Some(self.idle()));
        }
        let next_due = next_due(&self.loaded);
        tokio::select! {
            event = self.finished.recv() => owed.ended.extend(event.map(|event| self.over(event))),
            () = news.notified() => owed.mail = true,
            () = until(&self.shared, next_due) => {}
            () = tokio::time::sleep(LOOK_AT_OTHERS) => owed.orphans = self.look_at_others(&owed.ended).await?,
            () = stop.cancelled() => {}
            () = self.shared.draining.cancelled() => {}
        }
        while let Ok(event) = self.finished.try_recv() {
            owed.ended.push(self.over(event));
        }
        Ok(None)
    }

    /// Waits for a store that is away, then loads the run again. Returns at once if `stop` is cancelled.
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

    /// Removes an attempt of this process that has ended, whether or not the run still wants its result.
    fn over(&mut self, event: Event) -> Event {
        if let Some(key) = event.ended_task() {
            self.open.remove(&key);
        }
        event
    }

    /// Claims attempts that wait for a worker, if this process has no worker of its own for that.
    async fn may_claim_more(&self) -> Result<bool, Error> {
        // Record results before claiming more, or the results of short steps would pile up.
        let is_free = !self.shared.taken.has_worker() && self.finished.is_empty();
        let is_wanted = is_free && self.loaded.state.queued().next().is_some();
        Ok(is_wanted && !membership::claim_tasks(&self.shared, Some(&self.run)).await?.is_empty())
    }

    /// Reads what other processes did to the run. Returns the attempts that they left.
    async fn look_at_others(&mut self, ended: &[Event]) -> Result<Orphans, Error> {
        if self.changes.has_changed().unwrap_or(true) {
            self.changes.mark_unchanged();
            self.catch_up().await?;
        }
        if self.waits_for_others() { self.left_by_others(ended).await } else { Ok(Orphans::default()) }
    }

    /// Attempts without a living worker. This leaves out the attempts of this process: the open ones, and those whose
    /// end is not recorded yet.
    async fn left_by_others(&self, ended: &[Event]) -> Result<Orphans, Error> {
        let mut orphans = recover::orphans(&self.shared, &self.run, &self.loaded.state).await?;
        let over: HashSet<TaskKey> = ended.iter().filter_map(Event::ended_task).collect();
        let foreign = |(path, attempt): &(StepPath, u32)| {
            let key = TaskKey::new(path, *attempt);
            !self.open.contains_key(&key) && !over.contains(&key)
        };
        orphans.lost.retain(foreign);
        orphans.alive.retain(foreign);
        Ok(orphans)
    }

    /// Whether another process runs an attempt of this run.
    fn waits_for_others(&self) -> bool {
        let state = &self.loaded.state;
        !state.is_finished() && state.running() > self.open.len()
    }

    /// Takes in the news, records what follows, and acts on it. True if there may be more news.
    async fn turn(&mut self, owed: &mut Owed, stop: &CancellationToken) -> Result<bool, Error> {
        let mut attempts = 0;
        let Owed { ended, orphans, mail } = owed;
        let mail = *mail;
        let (mut taken, mut promised) = self.shared.taken.of(&self.run);
        taken.extend(orphans.taken.iter().cloned());
        // Commands and clients record events beside this loop.
        if mail {
            self.catch_up().await?;
        }
        loop {
            let (mut news, mut extras) = self.news(ended, orphans, mail).await?;
            news.splice(0..0, self.claimed_events(&taken, orphans));
            let admission = admission::ask(&self.shared, &self.run, &self.loaded).await?;
            let advance = if matches!(admission, Admission::Held) { absorb } else { advance };
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
                .map_err(|error| Error::Damaged(error.0))?;
            extras.blobs = approvals::seal_questions(&mut self.loaded.state, &mut advance);
            let agents = membership::counted_agents(&self.shared, &self.loaded, &advance.starts);
            let more_promised = membership::with_placement(&self.shared, &agents, |at| {
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
                    // Another process changed the run: load it and decide again.
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
                    // Boxed, because it is rare and would make the future of every turn larger.
                    return Box::pin(self.hold(ended, error)).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The store refuses what follows. Records the finished work, and pauses the run with the reason. To decide again
    /// would lead to the same refusal.
    async fn hold(&mut self, mut ended: Vec<Event>, why: Error) -> Result<bool, Error> {
        self.loaded = load(&self.shared, &self.run).await?;
        ended.retain(|event| still_open(&self.loaded.state, event));
        if !self.loaded.state.paused {
            ended.push(Event::Paused { by: Some(format!("the store, which refused what follows: {why}")) });
        }
        // The run is already paused, and there is nothing to record: return the reason to the caller.
        if ended.is_empty() {
            return Err(why);
        }
        record_alone(&self.shared, &self.run, &mut self.loaded, &ended).await.map(|()| false)
    }

    /// Forgets attempts that no longer belong to this worker. Their new worker reports on them.
    async fn disown(&self, ended: &mut Vec<Event>, taken: &mut Vec<membership::Attempt>) -> Result<(), Error> {
        let tasks = self.shared.store.tasks(&self.run).await?;
        let ours = tasks.into_iter().filter(|task| task.worker.as_ref() == Some(&self.shared.worker));
        let ours: HashSet<String> = ours.map(|task| task.key).collect();
        let is_ours = |key: TaskKey| ours.contains(&key.to_string());
        ended.retain(|event| event.ended_task().is_none_or(is_ours));
        taken.retain(|(path, attempt)| is_ours(TaskKey::new(path, *attempt)));
        Ok(())
    }

    /// Loads the run again if clients or other processes have recorded events.
    async fn catch_up(&mut self) -> Result<(), Error> {
        if !self.shared.store.read(&self.run, self.loaded.state.seq, 1).await?.is_empty() {
            self.loaded = load(&self.shared, &self.run).await?;
            self.drop_stale();
        }
        Ok(())
    }

    /// The events for attempts that this worker claimed, and for attempts that a dead worker had claimed.
    fn claimed_events(&self, taken: &[membership::Attempt], orphans: &Orphans) -> Vec<Event> {
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

    /// The news: results of attempts, messages, timers that fire, lost attempts.
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
        // One message per turn: the next one must fit the state that this one leaves.
        if let Some(message) = inbox.into_iter().next() {
            let event = match reports::accepted(&self.shared, &self.run, &self.loaded, &message).await? {
                Some((event, reported)) => {
                    extras.reported = reported;
                    event
                }
                None => self.inbound(&message.body),
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

    /// The event of a message that is not a report.
    fn inbound(&self, body: &str) -> Event {
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

    /// Writes a commit. If it is not known whether the store has it, asks again until the store answers. The store
    /// recognises the commit by its ids.
    async fn write(&self, commit: Append, stop: &CancellationToken) -> Result<(), Error> {
        // With a file the result is always known, so its commits need no copy.
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

    /// Saves a snapshot from time to time, so that a long run loads quickly.
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
        // Do not wait for it: the next commit makes it durable, and without it the run only loads more slowly.
        tokio::spawn(async move { shared.store.save_snapshot(&run, seq, bytes).await });
        Ok(())
    }

    /// Acts on a decision: stops and starts attempts. An attempt in `reported` runs at another worker, so it does not
    /// start here.
    fn act(&mut self, advance: Advance, reported: Option<&Reported>, mut promised: Promise) {
        self.fell |= on_failure::is_begun(&advance.events);
        for event in &advance.events {
            if let Some(key) = event.event.ended_task() {
                self.open.remove(&key);
            }
        }
        for (path, attempt) in &advance.stops {
            if let Some(token) = self.open.get(&TaskKey::new(path, *attempt)) {
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
            self.open.insert(TaskKey::new(&start.0.path, start.0.attempt), token.clone());
            attempt::begin(&self.shared, &self.run, &self.loaded, start, token, promised.one(), self.done.clone());
        }
        let events = Arc::new(advance.events);
        let _ = self.shared.pulse.send(EngineEvent::Events(self.run.clone(), events));
        self.write_files();
    }

    /// Writes the files for people. The run does not depend on them.
    fn write_files(&mut self) {
        let status = self.loaded.state.status();
        if self.written != status {
            self.written = status;
            self.shared.artifacts.write_run(&self.run, &self.loaded.state);
        }
    }

    /// Stops the attempts of this process that are no longer open in the state.
    fn drop_stale(&mut self) {
        let state = &self.loaded.state;
        self.open.retain(|key, token| {
            let step = key.path().and_then(|path| state.find(path));
            let open = step.is_some_and(|step| step.is_making(key.attempt()));
            if !open || state.cancelling {
                token.cancel();
            }
            open
        });
    }

    /// Stops all attempts and records that, so that the next engine knows. It decides nothing: a new attempt would have
    /// no worker and be lost at once.
    async fn park(&mut self, ended: Vec<Event>) -> Result<Idle, Error> {
        let stopped = self.stop_all().await.into_iter().map(as_stopped);
        let ended: Vec<Event> = ended.into_iter().chain(stopped).collect();
        self.note_ends(ended).await?;
        Ok(self.idle())
    }

    /// Records the ends of attempts, and decides nothing.
    async fn note_ends(&mut self, mut ended: Vec<Event>) -> Result<(), Error> {
        loop {
            ended.retain(|event| still_open(&self.loaded.state, event));
            if ended.is_empty() {
                return Ok(());
            }
            match record_alone(&self.shared, &self.run, &mut self.loaded, &ended).await {
                Err(error) if moved_on(&error) => self.loaded = load(&self.shared, &self.run).await?,
                recorded => return recorded,
            }
        }
    }

    /// Decides nothing more, and waits for the attempts that would not outlive this process. Agents under a shim
    /// continue without it.
    async fn drain(&mut self, mut ended: Vec<Event>, stop: &CancellationToken) -> Result<Idle, Error> {
        loop {
            // A store that is away comes back; until then nothing may stop the agents.
            match self.noted(&mut ended).await {
                Err(error) if !is_away(&error) || stop.is_cancelled() => return Err(error),
                _ => {}
            }
            if stop.is_cancelled() || self.loaded.state.is_stopped() {
                return self.park(ended).await;
            }
            if ended.is_empty() && self.open.keys().all(|key| self.outlives(key)) {
                return Ok(self.idle());
            }
            tokio::select! {
                event = self.finished.recv() => ended.extend(event.map(|event| self.over(event))),
                () = tokio::time::sleep(LOOK_AT_OTHERS) => {}
                () = stop.cancelled() => {}
            }
        }
    }

    /// Records the ends of attempts and reads what others did. What could not be recorded stays in the list.
    async fn noted(&mut self, ended: &mut Vec<Event>) -> Result<(), Error> {
        self.note_ends(ended.clone()).await?;
        ended.clear();
        self.catch_up().await
    }

    /// Whether the agent of an attempt runs under a shim.
    fn outlives(&self, key: &TaskKey) -> bool {
        key.path().is_some_and(|path| self.shared.artifacts.has_agent(&self.run, path, key.attempt()))
    }

    /// Stops all attempts of this process. Returns their ends, once all their processes are gone.
    async fn stop_all(&mut self) -> Vec<Event> {
        self.open.values().for_each(CancellationToken::cancel);
        let mut ended = Vec::new();
        while !self.open.is_empty() {
            let Some(event) = self.finished.recv().await else { break };
            if let Some(key) = event.ended_task() {
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
        state.apply(plan, index, &envelope).map_err(|error| Error::Damaged(error.0))?;
        events.push(envelope);
    }
    let timers_before = loaded.state.timers(plan);
    let on_failure_before = loaded.state.on_failure.open_attempt();
    let extras = Extras { timers_before, on_failure_before, ..Extras::default() };
    record(shared, run, Planner { plan, index }, &state, &events, extras).await?;
    loaded.state = state;
    let _ = shared.pulse.send(EngineEvent::Events(run.clone(), Arc::new(events)));
    Ok(())
}

/// Whether an attempt is open, and the run wants its result.
pub(crate) fn is_open(state: &State, path: &StepPath, attempt: u32) -> bool {
    let open = |step: &StepInst| step.is_making(attempt);
    !state.is_finished() && state.find(path).is_some_and(open)
}

/// Whether an attempt waits for a worker.
pub(crate) fn is_queued(state: &State, path: &StepPath, attempt: u32) -> bool {
    let queued = |step: &StepInst| step.phase.is_queued() && step.attempts == attempt;
    !state.is_finished() && state.find(path).is_some_and(queued)
}

/// Whether a result is of an attempt that is still open.
fn still_open(state: &State, event: &Event) -> bool {
    let of_maker = event.attempt().filter(|_| event.is_of_maker());
    of_maker.is_none_or(|(path, attempt)| is_open(state, path, attempt))
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

fn due_timers(loaded: &Loaded, now: i64) -> Vec<TimerId> {
    let due = loaded.state.timers(&loaded.plan.0).into_iter().filter(|(_, due)| *due <= now);
    due.map(|(timer, _)| timer).collect()
}

fn next_due(loaded: &Loaded) -> Option<i64> {
    loaded.state.timers(&loaded.plan.0).into_iter().map(|(_, due)| due).min()
}
