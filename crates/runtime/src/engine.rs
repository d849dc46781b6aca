//! The engine: interfaces use it to start, command, watch and drive runs.

mod error;
mod options;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use indexmap::IndexMap;
use longhaul_agents::contract::TranscriptEntry;
use longhaul_agents::machine::Short;
use longhaul_agents::process::{self, Guard};
use longhaul_core::Json;
use longhaul_core::consent::Ledger;
use longhaul_core::decide::{Planner, group};
use longhaul_core::event::{Driver, Envelope, Event, RunContext, RunSource, RunStarted, RunTrigger};
use longhaul_core::id::RunId;
use longhaul_core::index::Index;
use longhaul_core::notification::NotifyLedger;
use longhaul_core::origin::{Caller, Origin};
use longhaul_core::path::StepPath;
use longhaul_core::plan::{Compat, Plan, Unit};
use longhaul_core::registry::Registry;
use longhaul_core::rejection::{Rejection, Remedy};
use longhaul_core::schema::mismatch;
use longhaul_core::state::State;
use longhaul_core::value::{TOO_DEEP, is_too_deep};
use longhaul_store::{Blob, Hash, NewMessage, Posted, Query, RunRow, Store, WorkerId};
use tokio::sync::{Mutex, OnceCell, broadcast, watch};
use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

use crate::clock::Clock;
use crate::execute::artifacts::Artifacts;
use crate::execute::compat;
use crate::execute::permits::Permits;
use crate::execute::secrets::Secrets;
use crate::execute::shortage;
use crate::fleet::membership::ClaimedTasks;
use crate::run::approvals;
use crate::run::attendance::Driving;
use crate::run::awake::Awake;
use crate::run::codec;
use crate::run::damaged;
use crate::run::exclusive::Turns;
use crate::run::fork::ForkRequest;
use crate::run::leases::{self, Leases};
use crate::run::message::Message;
use crate::run::notifier::{self, Notifier};
use crate::run::run_loop::{self, Idle, Loaded};
use crate::services::consent;
use crate::services::notifications;
use crate::services::registry;
use crate::services::upkeep;

pub use error::Error;
pub use options::EngineOptions;

/// How often to check a run without a wake-up. Wake-ups from other processes can get lost.
const LOOK_ANYWAY: Duration = Duration::from_secs(2);
/// Collects changes of the store within this time and handles them together.
const TOGETHER: Duration = Duration::from_millis(100);

/// Something that happened in a run of this engine, for interfaces that show it.
#[derive(Debug, Clone)]
pub enum EngineEvent {
    /// Events were recorded.
    Events(RunId, Arc<Vec<Envelope>>),
    /// An attempt printed something.
    Output(RunId, StepPath, Arc<str>),
    /// An agent said or did something.
    Entry(RunId, Arc<TranscriptLine>),
    /// A sign of life of an agent that prints nothing.
    Alive(RunId, StepPath, Arc<str>),
    /// A step has a message for people.
    Notice(RunId, StepPath, Arc<str>),
}

/// One entry of an agent's transcript.
#[derive(Debug, Clone, PartialEq)]
pub struct TranscriptLine {
    /// The step.
    pub path: StepPath,
    /// The attempt.
    pub attempt: u32,
    /// Its number in the transcript, from 0.
    pub number: u64,
    /// The words or the action of the agent.
    pub entry: TranscriptEntry,
}

/// The values that a run starts with.
#[derive(Debug, Clone, Default)]
pub struct StartRequest {
    /// The text of the task.
    pub task: String,
    /// Inputs by name.
    pub inputs: IndexMap<String, Json>,
    /// The id, if the caller chooses one.
    pub run: Option<RunId>,
    /// The trigger that starts it.
    pub trigger: Option<RunTrigger>,
    /// The caller who starts it.
    pub owner: Option<Origin>,
    /// The folder of the workflow's scripts.
    pub workflow_dir: PathBuf,
    /// The driver of its agents' turns: the engine or a client.
    pub driver: Driver,
    /// The text that the plan was made from.
    pub source: Option<SourceText>,
}

/// The text that a plan was made from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceText {
    /// The file, where there is one.
    pub file: Option<String>,
    /// The text.
    pub text: String,
    /// The dialect, if the caller chose one.
    pub dialect: Option<String>,
    /// Whether the text was edited for the run alone, so that it is not the one in the file.
    pub edited: bool,
}

impl SourceText {
    /// The blob of the text, and what the journal says about it.
    pub(crate) fn kept(&self) -> (Blob, RunSource) {
        let blob = Blob::new(self.text.clone().into_bytes());
        let source = RunSource {
            file: self.file.clone(),
            text: blob.hash.to_string(),
            dialect: self.dialect.clone(),
            edited: self.edited,
        };
        (blob, source)
    }
}

/// Drives the runs of a store.
#[derive(Clone)]
pub struct Engine {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) options: EngineOptions,
    pub(crate) artifacts: Artifacts,
    pub(crate) worker: WorkerId,
    pub(crate) permits: Permits,
    /// The agent for prompts that name none, once it is known.
    pub(crate) first_agent: OnceCell<&'static str>,
    pub(crate) pulse: broadcast::Sender<EngineEvent>,
    pub(crate) notifier: Notifier,
    pub(crate) leases: Leases,
    pub(crate) awake: Awake,
    pub(crate) turns: Turns,
    pub(crate) taken: ClaimedTasks,
    pub(crate) secrets: Secrets,
    /// Cancelled when this engine leaves its runs to another one; see [`Engine::drain`].
    pub(crate) draining: CancellationToken,
    /// The consents that this engine has read so far.
    pub(crate) ledger: Mutex<Ledger>,
    /// The part of the registry that this engine has read so far.
    pub(crate) registry: Mutex<Registry>,
    /// The notifications that this engine has read so far.
    pub(crate) notified: Mutex<NotifyLedger>,
    /// When this engine started.
    pub(crate) since_ms: i64,
    /// When the next notification is due, as far as this engine knows.
    pub(crate) notify_at: AtomicI64,
    guard: OnceCell<Option<Guard>>,
    plans: Mutex<HashMap<String, Arc<(Plan, Index)>>>,
}

impl Engine {
    /// Creates an engine on a store. Must run inside a Tokio runtime.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, options: EngineOptions) -> Self {
        let (pulse, _) = broadcast::channel(4096);
        let shared = Shared {
            artifacts: Artifacts::new(options.runs_dir.clone()),
            permits: Permits::new(options.attempts_max, &options.backends_max),
            first_agent: OnceCell::new(),
            worker: crate::run::recover::this_worker(store.as_ref()),
            notifier: Notifier::default(),
            leases: Leases::default(),
            awake: Awake::new(clock.now_ms()),
            turns: Turns::default(),
            taken: ClaimedTasks::default(),
            secrets: Secrets::of(&options),
            ledger: Mutex::default(),
            registry: Mutex::default(),
            notified: Mutex::default(),
            since_ms: clock.now_ms(),
            notify_at: AtomicI64::new(i64::MAX),
            draining: CancellationToken::new(),
            guard: OnceCell::new(),
            plans: Mutex::default(),
            store,
            clock,
            options,
            pulse,
        };
        let shared = Arc::new(shared);
        tokio::spawn(notifier::deliver(Arc::downgrade(&shared)));
        Self { shared }
    }

    /// Follows the events of the runs that this engine drives.
    pub fn pulse(&self) -> broadcast::Receiver<EngineEvent> {
        self.shared.pulse.subscribe()
    }

    /// The most attempts that this engine runs at once, over all runs.
    pub fn attempts_max(&self) -> usize {
        self.shared.options.attempts_max
    }

    /// The current time of this engine's clock.
    pub fn now_ms(&self) -> i64 {
        self.shared.clock.now_ms()
    }

    /// The mark of this engine in the environment of its child processes.
    pub fn mark(&self) -> &str {
        self.shared.worker.as_str()
    }

    /// Records the start of a run. Nothing else happens until an engine drives the run.
    pub async fn start(&self, plan: &Plan, request: StartRequest) -> Result<RunId, Error> {
        let inputs = inputs(plan, &request.inputs)?;
        let owner = match request.owner {
            Some(owner) => Some(approvals::with_ancestors(&self.shared, owner).await?),
            None => None,
        };
        let terms = consent::terms(&self.shared, plan, owner.as_ref()).await?;
        let run = request.run.clone().unwrap_or_else(|| new_run_id(self.shared.clock.now_ms()));
        let text = serde_json::to_string(plan).map_err(Error::encoding)?;
        let blob = Blob::new(text.into_bytes());
        let source = request.source.as_ref().map(SourceText::kept);
        let started = RunStarted {
            workflow: plan.main().name.clone(),
            plan: blob.hash.to_string(),
            semantics: plan.semantics,
            task: request.task,
            inputs,
            context: Box::new(self.context(&run, plan, &request.workflow_dir)),
            trigger: request.trigger.map(Box::new),
            owner,
            approvals: self.shared.options.approvals.clone(),
            consent: Some(terms),
            forked: None,
            driver: request.driver,
            source: source.as_ref().map(|(_, source)| Box::new(source.clone())),
        };
        if let Some(Err(problem)) = group(plan, &started) {
            return Err(invalid(format!("`concurrency.group` cannot be rendered: {}", problem.0)));
        }
        let index = Index::of(plan);
        let mut state = State::default();
        let planner = Planner { plan, index: &index };
        // Record only the first event. The engine that drives the run decides what follows.
        let envelope = Envelope {
            v: longhaul_core::event::VERSION,
            seq: 1,
            at: self.shared.clock.now_ms(),
            event: Event::RunStarted(started),
        };
        state.apply(plan, &index, &envelope).map_err(|error| Error::Damaged(error.0))?;
        crate::run::record::record(
            &self.shared,
            &run,
            planner,
            &state,
            &[envelope],
            crate::run::record::Extras {
                blobs: [blob].into_iter().chain(source.map(|(text, _)| text)).collect(),
                ..Default::default()
            },
        )
        .await?;
        self.shared.artifacts.write_run(&run, &state);
        Ok(run)
    }

    fn context(&self, run: &RunId, plan: &Plan, workflow_dir: &std::path::Path) -> RunContext {
        let member = &self.shared.options.member;
        // On another machine the same folder may have another path.
        let workspace = member.host.as_ref().map(|_| self.shared.options.workspace.display().to_string());
        let is_counted = plan.main().compat.contains(&Compat::CountedRecovery);
        RunContext {
            id: Some(run.to_string()),
            workflow: Some(plan.main().name.clone()),
            started_at: Some(self.shared.clock.now_ms().to_string()),
            dir: Some(self.shared.artifacts.run(run).display().to_string()),
            workflow_dir: Some(workflow_dir.display().to_string()),
            agent: Some(self.shared.options.agent.clone()),
            workspace,
            home: member.host.clone().filter(|_| member.project.is_none()),
            project: member.project.clone(),
            agent_settings: is_counted.then(compat::agent_settings),
            other: IndexMap::new(),
        }
    }

    /// Finds a run by its id or by the beginning of its id.
    pub async fn find(&self, id: &str) -> Result<RunId, Error> {
        // A full id is exact, even if longer ids begin with it.
        if let Some(run) = RunId::new(id)
            && let Some(row) = self.shared.store.run(&run).await?.filter(is_run)
        {
            return Ok(row.run);
        }
        let query = Query { prefix: Some(id.to_owned()), limit: 5, ..Query::default() };
        let mut rows = self.shared.store.runs(query).await?;
        rows.retain(is_run);
        match rows.as_slice() {
            [] => Err(Error::UnknownRun(id.to_owned())),
            [one] => Ok(one.run.clone()),
            several => {
                let ids: Vec<&str> = several.iter().map(|row| row.run.as_str()).collect();
                Err(Error::Ambiguous(id.to_owned(), ids.join(", ")))
            }
        }
    }

    /// Runs, newest first.
    pub async fn list(&self, query: Query) -> Result<Vec<RunRow>, Error> {
        let limit = query.limit;
        // Ask for more, because a caller that gets fewer runs than its limit assumes the end of the list.
        let query = Query { limit: limit.saturating_add(JOURNALS.len()), ..query };
        let mut rows = self.shared.store.runs(query).await?;
        rows.retain(is_run);
        rows.truncate(limit);
        Ok(rows)
    }

    /// Loads a run's plan and state.
    pub async fn load(&self, run: &RunId) -> Result<Loaded, Error> {
        run_loop::load(&self.shared, run).await
    }

    /// Whether a run is over, has nothing left to do, and has no message that could change that.
    pub async fn is_over(&self, run: &RunId) -> Result<bool, Error> {
        let state = match self.load(run).await {
            Err(error) if error.is_damage() => {
                return Ok(self.row(run).await?.is_some_and(|row| damaged::is_over(&row)));
            }
            loaded => loaded?.state,
        };
        let is_settled = state.is_finished() && state.on_failure.open_attempt().is_none();
        Ok(is_settled && self.shared.store.inbox(run).await?.is_empty())
    }

    /// Reads at most `limit` events of a run after the number `after`.
    pub async fn events(&self, run: &RunId, after: u64, limit: usize) -> Result<Vec<Envelope>, Error> {
        let rows = self.shared.store.read(run, after, limit).await?;
        let mut events = Vec::with_capacity(rows.len());
        for row in rows {
            events.push(codec::decode(row, self.shared.store.as_ref()).await?);
        }
        Ok(events)
    }

    /// The folder of an attempt's files: `stdout`, `stderr`, and for agents `prompt.md` and `transcript.jsonl`.
    pub fn attempt_dir(&self, run: &RunId, path: &StepPath, attempt: u32) -> PathBuf {
        self.shared.artifacts.attempt_dir(run, path, attempt)
    }

    /// Sends a message to a run. Rejects a message that does not fit, with the reason.
    pub async fn tell(&self, run: &RunId, message: Message, dedup: Option<String>) -> Result<Posted, Error> {
        self.shared.tell(run, message, dedup).await
    }

    /// Drives a run until it is over or `stop` is cancelled. In between it waits for timers and messages, while
    /// `patient` says that waiting makes sense.
    pub async fn drive(
        &self,
        run: &RunId,
        stop: CancellationToken,
        patient: impl Fn(&State) -> bool,
    ) -> Result<Idle, Error> {
        let news = self.shared.notifier.listen(run);
        let _renewing = self.keep_leases();
        let _driving = Driving::note(&self.shared, run);
        let mut has_waited = false;
        loop {
            let (idle, state) = match self.until_idle(run, &stop).await {
                // This caller waits anyway, so wait for the store as well.
                Err(error) if has_waited && run_loop::is_away(&error) && !stop.is_cancelled() => {
                    tokio::time::sleep(run_loop::LOOK_AT_OTHERS).await;
                    continue;
                }
                idle => idle?,
            };
            has_waited = true;
            let Idle::Waiting { next_due } = idle else {
                self.shared.notifier.forget(run);
                return Ok(idle);
            };
            if stop.is_cancelled() || self.is_draining() || state.is_stopped() || !patient(&state) {
                return Ok(idle);
            }
            let timer =
                next_due.map(|due| Duration::from_millis(u64::try_from(due - self.shared.clock.now_ms()).unwrap_or(0)));
            // A worker may die without a message.
            let others = state.open_attempts().chain(state.queued()).next().map(|_| run_loop::LOOK_AT_OTHERS);
            let pause = timer.into_iter().chain(others).chain([LOOK_ANYWAY]).min();
            tokio::select! {
                () = stop.cancelled() => return Ok(idle),
                () = self.shared.draining.cancelled() => return Ok(idle),
                () = news.notified() => {}
                () = self.moved_by_others(run, state.seq) => {}
                () = tokio::time::sleep(pause.unwrap_or(LOOK_ANYWAY)) => {}
            }
        }
    }

    /// Waits until another process records an event after `seq`. Commands record events beside the engine.
    async fn moved_by_others(&self, run: &RunId, seq: u64) {
        let mut changes = self.shared.store.watch();
        changes.mark_changed();
        while changes.changed().await.is_ok() {
            tokio::time::sleep(TOGETHER).await;
            changes.borrow_and_update();
            if self.row(run).await.is_ok_and(|row| row.is_some_and(|row| row.last_seq > seq)) {
                return;
            }
        }
        std::future::pending().await
    }

    /// Drives the run in a task of its own. The attempts of the run are tasks beside it, often on the same thread, so a
    /// step need not wait until another thread wakes up.
    async fn until_idle(&self, run: &RunId, stop: &CancellationToken) -> Result<(Idle, State), Error> {
        let (shared, run, stop) = (Arc::clone(&self.shared), run.clone(), stop.clone());
        let task = tokio::spawn(async move { run_loop::until_idle(&shared, &run, &stop).await });
        match AbortOnDropHandle::new(task).await.map_err(JoinError::try_into_panic) {
            Ok(idle) => idle,
            Err(Ok(panic)) => std::panic::resume_unwind(panic),
            Err(Err(_)) => Err(Error::Rejected(Rejection::unavailable("the process is about to end"))),
        }
    }

    /// Drives a run as far as it goes without waiting.
    pub async fn nudge(&self, run: &RunId, stop: &CancellationToken) -> Result<Idle, Error> {
        Ok(run_loop::until_idle(&self.shared, run, stop).await?.0)
    }

    /// Drives every run that has something to do, until `stop`.
    pub async fn work(&self, stop: CancellationToken) -> Result<(), Error> {
        self.begin_notifying().await;
        match self.login() {
            Some(_) => crate::fleet::scoped::work(self, stop).await,
            None => crate::fleet::worker::work(self, stop).await,
        }
    }

    /// The login that opened the store. With a login, an engine can only do [`Engine::work`].
    pub fn login(&self) -> Option<&str> {
        self.shared.store.scope().map(longhaul_store::LoginScope::login)
    }

    /// Leaves all runs to another engine: decides nothing more, and waits only for attempts that would not outlive this
    /// process. Agents under a shim continue; the process must end right after, and another engine attaches to them.
    pub fn drain(&self) {
        self.shared.draining.cancel();
    }

    /// Whether this engine leaves its runs to another one.
    pub fn is_draining(&self) -> bool {
        self.shared.draining.is_cancelled()
    }

    /// Renews the leases of this engine until the handle is dropped.
    pub(crate) fn keep_leases(&self) -> AbortOnDropHandle<()> {
        let waits = self.shared.store.wait_for_room();
        let (shared, same) = (Arc::clone(&self.shared), Arc::clone(&self.shared));
        AbortOnDropHandle::new(tokio::spawn(async move {
            tokio::join!(leases::keep(shared), shortage::say_what_the_store_waits_for(same, waits));
        }))
    }

    /// Starts a new run that shares the past of another one up to the first start of a step.
    pub async fn fork(&self, from: &RunId, request: ForkRequest) -> Result<RunId, Error> {
        crate::run::fork::fork(&self.shared, from, request).await
    }

    /// Asks the worker of this engine, if there is one, to check a run now.
    pub fn poke(&self, run: &RunId) {
        self.shared.notifier.tell(run);
    }

    /// The text that a run's plan was made from; `None` if an earlier version started the run.
    pub async fn source(&self, run: &RunId) -> Result<Option<SourceText>, Error> {
        let Some(started) = self.load(run).await?.state.started else { return Ok(None) };
        let Some(source) = started.source else { return Ok(None) };
        let hash: Hash = source.text.parse().map_err(|_| Error::Damaged(format!("`{}` is not a text", source.text)))?;
        let bytes = self.shared.store.blob(hash).await?;
        let bytes = bytes.ok_or_else(|| Error::Damaged("the text of the workflow is missing".to_owned()))?;
        let text = String::from_utf8(bytes).map_err(|error| Error::Damaged(error.to_string()))?;
        Ok(Some(SourceText { file: source.file, text, dialect: source.dialect, edited: source.edited }))
    }

    /// One run, as lists show it.
    pub async fn row(&self, run: &RunId) -> Result<Option<RunRow>, Error> {
        Ok(self.shared.store.run(run).await?.filter(is_run))
    }

    /// A number that changes with each write to the store: at once for writes of this process, soon for others.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.shared.store.watch()
    }

    /// Adds to a caller the roles from the settings and the runs that it comes from.
    pub async fn identified(&self, caller: Caller) -> Result<Caller, Error> {
        approvals::identified(&self.shared, caller).await
    }

    /// The folder of a run's files.
    pub fn run_dir(&self, run: &RunId) -> PathBuf {
        self.shared.artifacts.run(run)
    }
}

/// Journals of Longhaul itself, which are not runs.
const JOURNALS: [&str; 4] = [consent::LEDGER, registry::REGISTRY, upkeep::UPKEEP, notifications::NOTIFY];

fn is_run(row: &RunRow) -> bool {
    !row.run.is_reserved()
}

impl Shared {
    /// See [`Engine::tell`].
    pub(crate) async fn tell(&self, run: &RunId, message: Message, dedup: Option<String>) -> Result<Posted, Error> {
        let message = message.identified(self).await?;
        let mut loaded = match (run_loop::load(self, run).await, &message) {
            (Err(error), Message::Cancel { reason, .. }) if error.is_damage() => {
                let why = reason.clone().unwrap_or_else(|| format!("it could not be read: {error}"));
                return damaged::give_up(self, run, why).await.map(|_| Posted::New);
            }
            (loaded, _) => loaded?,
        };
        message.keepable()?;
        if let Some(paused) = self.told_to_pause(run, &message).await? {
            loaded.state.paused = paused;
        }
        if let Some(why) = message.rejection(&loaded) {
            return Err(why.into());
        }
        let body = serde_json::to_string(&message).map_err(Error::encoding)?;
        let dedup = dedup.unwrap_or_else(|| Uuid::now_v7().to_string());
        let (source, at_ms) = ("engine".to_owned(), self.clock.now_ms());
        let posted = self.store.post(NewMessage { run: run.clone(), source, dedup, body, at_ms }).await?;
        self.notifier.tell(run);
        Ok(posted)
    }

    /// For a pause or an unpause: what the newest such message in the inbox will set. The run has not recorded it yet.
    async fn told_to_pause(&self, run: &RunId, message: &Message) -> Result<Option<bool>, Error> {
        if !matches!(message, Message::Pause { .. } | Message::Unpause { .. }) {
            return Ok(None);
        }
        let inbox = self.store.inbox(run).await?;
        Ok(inbox.iter().rev().find_map(|letter| match serde_json::from_str(&letter.body).ok()? {
            Message::Pause { .. } => Some(true),
            Message::Unpause { .. } => Some(false),
            _ => None,
        }))
    }

    /// Starts the process that cleans up if this one is killed. The first command starts it.
    pub(crate) async fn guarded(&self) -> Result<(), process::Error> {
        let start = || async {
            let Some(program) = self.options.guard.as_deref() else { return Ok(None) };
            match Guard::start(program, self.worker.as_str()) {
                Err(error) if error.shortage().is_some() => Err(error),
                started => Ok(started.ok()),
            }
        };
        self.guard.get_or_try_init(start).await.map(drop)
    }

    /// The plan with this content hash, from a cache if possible.
    pub(crate) async fn plan(&self, hash: &str) -> Result<Arc<(Plan, Index)>, Error> {
        let mut plans = self.plans.lock().await;
        if let Some(plan) = plans.get(hash) {
            return Ok(Arc::clone(plan));
        }
        let parsed: Hash = hash.parse().map_err(|_| Error::Damaged(format!("`{hash}` is not a plan")))?;
        let bytes = self.store.blob(parsed).await?.ok_or_else(|| Error::Damaged("the plan is missing".to_owned()))?;
        let plan: Plan = serde_json::from_slice(&bytes).map_err(Error::decoding)?;
        let index = Index::of(&plan);
        let plan = Arc::new((plan, index));
        plans.insert(hash.to_owned(), Arc::clone(&plan));
        Ok(plan)
    }
}

/// Whether a plan can start with these inputs.
pub fn check_inputs(plan: &Plan, given: &IndexMap<String, Json>) -> Result<(), Error> {
    inputs(plan, given).map(drop)
}

/// The inputs with their defaults. Checks each one against its schema.
pub(crate) fn inputs(plan: &Plan, given: &IndexMap<String, Json>) -> Result<IndexMap<String, Json>, Error> {
    let unit = plan.main();
    let mut inputs = IndexMap::new();
    for (name, input) in &unit.inputs {
        let value = match (given.get(name.as_str()), &input.default) {
            (Some(value), _) => value.clone(),
            (None, Some(default)) => default.clone(),
            (None, None) if input.optional => Json::Null,
            (None, None) => {
                let missing = Rejection::invalid(format!("the input `{name}` is missing"));
                return Err(missing.with(Remedy::GiveInput(name.to_string())).into());
            }
        };
        if is_too_deep(&value) {
            return Err(invalid(format!("the input `{name}` cannot be used: {TOO_DEEP}")));
        }
        let optional = value.is_null() && input.optional;
        if let Some(why) = mismatch(&input.schema, &value).filter(|_| !optional) {
            return Err(invalid(format!("the input `{name}` does not fit: {why}")));
        }
        inputs.insert(name.as_str().to_owned(), value);
    }
    for (name, value) in given.iter().filter(|(name, _)| !inputs.contains_key(name.as_str())).collect::<Vec<_>>() {
        if !unit.compat.contains(&Compat::OpenInputs) {
            return Err(unknown_input(unit, name).into());
        }
        if is_too_deep(value) {
            return Err(invalid(format!("the input `{name}` cannot be used: {TOO_DEEP}")));
        }
        inputs.insert(name.clone(), value.clone());
    }
    Ok(inputs)
}

fn invalid(message: String) -> Error {
    Rejection::invalid(message).into()
}

fn unknown_input(unit: &Unit, name: &str) -> Rejection {
    let known: Vec<&str> = unit.inputs.keys().map(|name| name.as_str()).collect();
    Rejection::invalid(format!("there is no input `{name}`")).say(match known.as_slice() {
        [] => format!("`{}` has no inputs but its task", unit.name),
        known => format!("the inputs are: {}", known.join(", ")),
    })
}

/// A new run id: short, sortable by time, easy to type, without letters that look alike.
#[expect(clippy::expect_used, reason = "the text has only letters of the grammar")]
pub(crate) fn new_run_id(now_ms: i64) -> RunId {
    const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    // Six letters hold the seconds since 2025 until the 2050s. Four more letters separate the runs of one second.
    let seconds = u64::try_from(now_ms / 1000 - 1_735_689_600).unwrap_or(0);
    let random = u64::from(Uuid::new_v4().as_fields().0);
    let letters = |value: u64, count: u32| -> String {
        (0..count).rev().map(|at| char::from(LETTERS[(value >> (5 * at) & 31) as usize])).collect()
    };
    let text = format!("{}-{}", letters(seconds, 6), letters(random, 4));
    RunId::new(text).expect("the letters are those of the grammar")
}
