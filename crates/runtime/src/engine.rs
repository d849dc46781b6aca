//! The one door for every face: start, tell, look, drive.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use longhaul_agents::contract::Entry;
use longhaul_agents::machine::Short;
use longhaul_agents::process::{self, Guard};
use longhaul_agents::scripted::Script;
use longhaul_core::Json;
use longhaul_core::approval::Approvals;
use longhaul_core::consent::Ledger;
use longhaul_core::decide::{Planner, group};
use longhaul_core::event::{Driver, Envelope, Event, RunStarted};
use longhaul_core::id::RunId;
use longhaul_core::index::Index;
use longhaul_core::origin::{Caller, Origin};
use longhaul_core::path::StepPath;
use longhaul_core::plan::{Compat, Plan, Unit};
use longhaul_core::policy::Policy;
use longhaul_core::schema::mismatch;
use longhaul_core::shelf::Shelf;
use longhaul_core::state::State;
use longhaul_core::value::{TOO_DEEP, is_too_deep};
use longhaul_store::{Blob, Hash, NewMessage, Posted, Query, RunRow, Store, WorkerId};
use tokio::sync::{Mutex, OnceCell, broadcast, watch};
use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

use crate::backends::Backends;
use crate::channels::Channel;
use crate::clock::Clock;
use crate::execute::agent_defaults;
use crate::execute::artifacts::Artifacts;
use crate::execute::permits::Slots;
use crate::execute::secrets::Secrets;
use crate::execute::shortage;
use crate::fleet::membership::{Membership, Taken};
use crate::run::approvals;
use crate::run::awake::Awake;
use crate::run::codec;
use crate::run::damaged;
use crate::run::exclusive::Turns;
use crate::run::fork::ForkRequest;
use crate::run::leases::{self, Leases};
use crate::run::message::Message;
use crate::run::notifier::{self, Mailroom};
use crate::run::run_loop::{self, Idle, Loaded};
use crate::services::consent;
use crate::services::registry;
use crate::services::upkeep;
use crate::tools::ToolServer;

/// How often a run that somebody waits for is looked at although nothing was heard of it: word of other processes can be lost.
const LOOK_ANYWAY: Duration = Duration::from_secs(2);

/// How an engine works.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where files about runs go.
    pub runs_dir: PathBuf,
    /// Where commands run that say nothing else.
    pub workspace: PathBuf,
    /// What the scripted agent says.
    pub script: Arc<Script>,
    /// Who does prompts that name nobody; `scripted` does all of them.
    pub agent: String,
    /// The agents that are configured.
    pub backends: Backends,
    /// Attempts at once, over all runs.
    pub attempts_max: usize,
    /// Prompts at once, by backend; the others have no limit of their own.
    pub backends_max: IndexMap<String, usize>,
    /// How long an attempt is held without being renewed.
    pub lease: Duration,
    /// Whether earlier results are done again instead of being used.
    pub refresh_cache: bool,
    /// Channels that the project has configured, by name.
    pub channels: IndexMap<String, Channel>,
    /// Tool servers that are configured, by name.
    pub tools: IndexMap<String, ToolServer>,
    /// What the settings say about answers; runs keep what held when they were started.
    pub approvals: Option<Approvals>,
    /// Who is what, by role.
    pub roles: IndexMap<String, Vec<String>>,
    /// What may be done without asking, what must be asked for, what is denied.
    pub policy: Policy,
    /// How long the consent of a run holds at the most, whoever started it.
    pub run_ceiling_ms: Option<i64>,
    /// Bounds of values.
    pub values: Values,
    /// What it is among several.
    pub member: Membership,
    /// The program whose `__guard` clears up after an engine that was killed.
    pub guard: Option<PathBuf>,
}

/// Bounds of values.
#[derive(Debug, Clone)]
pub struct Values {
    /// Variables that `env.X` may read in runs that were not started at the command line.
    pub env: Arc<[String]>,
    /// The most bytes of one output.
    pub bytes_max: usize,
}

impl Default for Values {
    fn default() -> Self {
        Self { env: Arc::new([]), bytes_max: 64 << 20 }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            runs_dir: PathBuf::from("runs"),
            workspace: PathBuf::from("."),
            script: Arc::new(Script::builtin()),
            agent: "scripted".to_owned(),
            backends: Backends::default(),
            attempts_max: 16,
            backends_max: IndexMap::new(),
            lease: Duration::from_secs(60),
            refresh_cache: false,
            channels: IndexMap::new(),
            tools: IndexMap::new(),
            approvals: None,
            roles: IndexMap::new(),
            policy: Policy::default(),
            run_ceiling_ms: None,
            values: Values::default(),
            member: Membership::default(),
            guard: None,
        }
    }
}

/// What went wrong, by what the caller can do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store refused.
    #[error(transparent)]
    Store(#[from] longhaul_store::Error),
    /// There is no such run.
    #[error("there is no run `{0}`")]
    UnknownRun(String),
    /// More than one run begins like this.
    #[error("`{0}` is not unique: {1}")]
    Ambiguous(String, String),
    /// What is asked does not fit the run.
    #[error("{0}")]
    Refused(String),
    /// What was submitted is not what the step promises; the step stays open.
    #[error("`{step}` stays open: {why}")]
    Misfit {
        /// Which step.
        step: String,
        /// Why it does not fit.
        why: String,
    },
    /// An input is missing, unknown, or of the wrong type.
    #[error("{0}")]
    Input(String),
    /// The history of a run makes no sense.
    #[error("the history is damaged: {0}; `longhaul export` prints what can be read, `longhaul cancel` ends the run")]
    Damaged(String),
    /// A newer version of this program wrote an event that this one does not know.
    #[error("a newer version of Longhaul wrote this run (it has the event `{0}`); update this program to read it")]
    Newer(String),
    /// A file could not be read or written.
    #[error("{0}")]
    Files(#[from] std::io::Error),
}

impl Error {
    /// Whether the history of one run is at fault: that must not keep anybody from the others.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged(_) | Self::Newer(_) | Self::Store(longhaul_store::Error::Corrupt(_)))
    }

    pub(crate) fn encoding(error: serde_json::Error) -> Self {
        Self::Damaged(format!("an event cannot be written: {error}"))
    }

    pub(crate) fn decoding(error: serde_json::Error) -> Self {
        Self::Damaged(format!("an event cannot be read: {error}"))
    }
}

/// Something that happened in a run this engine drives, for whoever shows it.
#[derive(Debug, Clone)]
pub enum Pulse {
    /// Events were recorded.
    Events(RunId, Arc<Vec<Envelope>>),
    /// An attempt printed something.
    Output(RunId, StepPath, Arc<str>),
    /// An agent said or did something.
    Entry(RunId, Arc<Said>),
    /// How an agent is doing that says nothing.
    Alive(RunId, StepPath, Arc<str>),
    /// Somebody is to be told something.
    Notice(RunId, StepPath, Arc<str>),
}

/// Something that an agent said or did.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// In which step.
    pub path: StepPath,
    /// In which attempt.
    pub attempt: u32,
    /// Its number in the transcript, from 0.
    pub number: u64,
    /// What.
    pub entry: Entry,
}

/// What a run is started with.
#[derive(Debug, Clone, Default)]
pub struct StartRequest {
    /// The text of the task.
    pub task: String,
    /// Inputs by name.
    pub inputs: IndexMap<String, Json>,
    /// The id, where the caller wants to choose it.
    pub run: Option<RunId>,
    /// What started it.
    pub trigger: Json,
    /// Who starts it.
    pub owner: Option<Origin>,
    /// Where the workflow's scripts are.
    pub workflow_dir: PathBuf,
    /// Who makes the turns of its agents.
    pub driver: Driver,
}

/// Drives runs of a store.
#[derive(Clone)]
pub struct Engine {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) options: Options,
    pub(crate) artifacts: Artifacts,
    pub(crate) worker: WorkerId,
    pub(crate) slots: Slots,
    /// Who makes prompts where nobody is named, once that is known.
    pub(crate) first_agent: OnceCell<&'static str>,
    pub(crate) pulse: broadcast::Sender<Pulse>,
    pub(crate) mailroom: Mailroom,
    pub(crate) leases: Leases,
    pub(crate) awake: Awake,
    pub(crate) turns: Turns,
    pub(crate) taken: Taken,
    pub(crate) secrets: Secrets,
    /// What is known of consent so far.
    pub(crate) ledger: Mutex<Ledger>,
    /// What is known of the shelf so far.
    pub(crate) shelf: Mutex<Shelf>,
    guard: OnceCell<Option<Guard>>,
    plans: Mutex<HashMap<String, Arc<(Plan, Index)>>>,
}

impl Engine {
    /// An engine on a store. Must be made inside a Tokio runtime.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, options: Options) -> Self {
        let (pulse, _) = broadcast::channel(4096);
        let shared = Shared {
            artifacts: Artifacts::new(options.runs_dir.clone()),
            slots: Slots::new(options.attempts_max, &options.backends_max),
            first_agent: OnceCell::new(),
            worker: crate::run::recover::this_worker(store.as_ref()),
            mailroom: Mailroom::default(),
            leases: Leases::default(),
            awake: Awake::new(clock.now_ms()),
            turns: Turns::default(),
            taken: Taken::default(),
            secrets: Secrets::of(&options),
            ledger: Mutex::default(),
            shelf: Mutex::default(),
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

    /// Follows what happens in runs that this engine drives.
    pub fn pulse(&self) -> broadcast::Receiver<Pulse> {
        self.shared.pulse.subscribe()
    }

    /// How many attempts it makes at once, over all runs.
    pub fn attempts_max(&self) -> usize {
        self.shared.options.attempts_max
    }

    /// What time it is for this engine.
    pub fn now_ms(&self) -> i64 {
        self.shared.clock.now_ms()
    }

    /// The mark of this engine in the environment of what it starts.
    pub fn mark(&self) -> &str {
        self.shared.worker.as_str()
    }

    /// Records the beginning of a run. Nothing is begun until it is driven.
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
        let started = RunStarted {
            workflow: plan.main().name.clone(),
            plan: blob.hash.to_string(),
            semantics: plan.semantics,
            task: request.task,
            inputs,
            about: self.about(&run, plan, &request.workflow_dir),
            trigger: request.trigger,
            owner,
            approvals: self.shared.options.approvals.clone(),
            consent: Some(terms),
            forked: None,
            driver: request.driver,
        };
        if let Some(Err(problem)) = group(plan, &started) {
            return Err(Error::Input(format!("`concurrency.group` cannot be rendered: {}", problem.0)));
        }
        let index = Index::of(plan);
        let mut state = State::default();
        let planner = Planner { plan, index: &index };
        // The first event alone: whoever drives the run decides what follows.
        let envelope = Envelope {
            v: longhaul_core::event::VERSION,
            seq: 1,
            at: self.shared.clock.now_ms(),
            event: Event::RunStarted(started),
        };
        state.apply(plan, &index, &envelope).map_err(|illegal| Error::Damaged(illegal.0))?;
        crate::run::record::record(
            &self.shared,
            &run,
            planner,
            &state,
            &[envelope],
            crate::run::record::Extras { blobs: vec![blob], ..Default::default() },
        )
        .await?;
        self.shared.artifacts.write_run(&run, &state);
        Ok(run)
    }

    fn about(&self, run: &RunId, plan: &Plan, workflow_dir: &std::path::Path) -> IndexMap<String, Json> {
        let text = |text: &dyn std::fmt::Display| Json::String(text.to_string());
        let mut about = IndexMap::from([
            ("id".to_owned(), text(run)),
            ("workflow".to_owned(), text(&plan.main().name)),
            ("started_at".to_owned(), text(&self.shared.clock.now_ms())),
            ("dir".to_owned(), text(&self.shared.artifacts.run(run).display())),
            ("workflow_dir".to_owned(), text(&workflow_dir.display())),
            ("agent".to_owned(), text(&self.shared.options.agent)),
        ]);
        // On another machine the same folder may lie elsewhere.
        if self.shared.options.member.host.is_some() {
            about.insert("workspace".to_owned(), text(&self.shared.options.workspace.display()));
        }
        let member = &self.shared.options.member;
        match (&member.project, &member.host) {
            (Some(project), _) => drop(about.insert("project".to_owned(), text(project))),
            (None, Some(host)) => drop(about.insert("home".to_owned(), text(host))),
            (None, None) => {}
        }
        if plan.main().compat.contains(&Compat::WorkhorseLadder) {
            about.insert("agent_settings".to_owned(), Json::Object(agent_defaults::workhorse_settings()));
        }
        about
    }

    /// The run that an id or the beginning of one stands for.
    pub async fn find(&self, id: &str) -> Result<RunId, Error> {
        // A whole id is itself, however many others begin with it.
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
        // Whoever gets fewer than they asked for takes that for the end.
        let query = Query { limit: limit.saturating_add(JOURNALS.len()), ..query };
        let mut rows = self.shared.store.runs(query).await?;
        rows.retain(is_run);
        rows.truncate(limit);
        Ok(rows)
    }

    /// A run's plan and state.
    pub async fn load(&self, run: &RunId) -> Result<Loaded, Error> {
        run_loop::load(&self.shared, run).await
    }

    /// Whether a run is over, nothing is left to do because of that, and it has been told nothing that could change it.
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

    /// Events of a run after a seq.
    pub async fn events(&self, run: &RunId, after: u64, limit: usize) -> Result<Vec<Envelope>, Error> {
        let rows = self.shared.store.read(run, after, limit).await?;
        let mut events = Vec::with_capacity(rows.len());
        for row in rows {
            events.push(codec::decode(row, self.shared.store.as_ref()).await?);
        }
        Ok(events)
    }

    /// Where the files of an attempt are: `stdout`, `stderr`, and for agents `prompt.md` and `transcript.jsonl`.
    pub fn attempt_dir(&self, run: &RunId, path: &StepPath, attempt: u32) -> PathBuf {
        self.shared.artifacts.attempt_dir(run, path, attempt)
    }

    /// Tells a run something. What does not fit is refused here, with the reason.
    pub async fn tell(&self, run: &RunId, message: Message, dedup: Option<String>) -> Result<Posted, Error> {
        self.shared.tell(run, message, dedup).await
    }

    /// Drives a run until it is over or `stop` says so; waits for timers and messages in between, as long as
    /// `patient` says that waiting makes sense.
    pub async fn drive(
        &self,
        run: &RunId,
        stop: CancellationToken,
        patient: impl Fn(&State) -> bool,
    ) -> Result<Idle, Error> {
        let news = self.shared.mailroom.listen(run);
        let _renewing = self.keep_leases();
        let mut has_waited = false;
        loop {
            let (idle, state) = match self.until_idle(run, &stop).await {
                // Whoever waits anyway waits for the store, too.
                Err(error) if has_waited && run_loop::is_away(&error) && !stop.is_cancelled() => {
                    tokio::time::sleep(run_loop::LOOK_AT_OTHERS).await;
                    continue;
                }
                idle => idle?,
            };
            has_waited = true;
            let Idle::Waiting { next_due } = idle else {
                self.shared.mailroom.forget(run);
                return Ok(idle);
            };
            if stop.is_cancelled() || !patient(&state) {
                return Ok(idle);
            }
            let timer =
                next_due.map(|due| Duration::from_millis(u64::try_from(due - self.shared.clock.now_ms()).unwrap_or(0)));
            // Who does the work may die without a word.
            let others = state.open_attempts().chain(state.queued()).next().map(|_| run_loop::LOOK_AT_OTHERS);
            let pause = timer.into_iter().chain(others).chain([LOOK_ANYWAY]).min();
            tokio::select! {
                () = stop.cancelled() => return Ok(idle),
                () = news.notified() => {}
                () = tokio::time::sleep(pause.unwrap_or(LOOK_ANYWAY)) => {}
            }
        }
    }

    /// As a task of its own: there its attempts are beside it, on the same thread as often as not, and a step need not
    /// wait for another thread to wake up.
    async fn until_idle(&self, run: &RunId, stop: &CancellationToken) -> Result<(Idle, State), Error> {
        let (shared, run, stop) = (Arc::clone(&self.shared), run.clone(), stop.clone());
        let task = tokio::spawn(async move { run_loop::until_idle(&shared, &run, &stop).await });
        match AbortOnDropHandle::new(task).await.map_err(JoinError::try_into_panic) {
            Ok(idle) => idle,
            Err(Ok(panic)) => std::panic::resume_unwind(panic),
            Err(Err(_)) => Err(Error::Refused("the process is about to end".to_owned())),
        }
    }

    /// Drives a run as far as it goes without waiting.
    pub async fn nudge(&self, run: &RunId, stop: &CancellationToken) -> Result<Idle, Error> {
        Ok(run_loop::until_idle(&self.shared, run, stop).await?.0)
    }

    /// Drives every run that has something to do, until `stop`.
    pub async fn work(&self, stop: CancellationToken) -> Result<(), Error> {
        match self.login() {
            Some(_) => crate::fleet::scoped::work(self, stop).await,
            None => crate::fleet::worker::work(self, stop).await,
        }
    }

    /// The login with which the store was opened: with one, an engine can do nothing but [`Engine::work`].
    pub fn login(&self) -> Option<&str> {
        self.shared.store.scope().map(longhaul_store::Scope::login)
    }

    /// Keeps the leases of this engine alive until the answer is dropped.
    pub(crate) fn keep_leases(&self) -> AbortOnDropHandle<()> {
        let waits = self.shared.store.wait_for_room();
        let (shared, same) = (Arc::clone(&self.shared), Arc::clone(&self.shared));
        AbortOnDropHandle::new(tokio::spawn(async move {
            tokio::join!(leases::keep(shared), shortage::say_what_the_store_waits_for(same, waits));
        }))
    }

    /// A new run that shares the past of another one up to the first start of a step.
    pub async fn fork(&self, from: &RunId, request: ForkRequest) -> Result<RunId, Error> {
        crate::run::fork::fork(&self.shared, from, request).await
    }

    /// Lets the worker of this engine, if it has one, look at a run now.
    pub fn poke(&self, run: &RunId) {
        self.shared.mailroom.tell(run);
    }

    /// One run, as lists show it.
    pub async fn row(&self, run: &RunId) -> Result<Option<RunRow>, Error> {
        Ok(self.shared.store.run(run).await?.filter(is_run))
    }

    /// A number that changes whenever something was written to the store: by this process at once, by others soon.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.shared.store.watch()
    }

    /// Somebody with everything that the settings and the runs they come from say about them.
    pub async fn identified(&self, caller: Caller) -> Result<Caller, Error> {
        approvals::identified(&self.shared, caller).await
    }

    /// Where the files of a run are.
    pub fn run_dir(&self, run: &RunId) -> PathBuf {
        self.shared.artifacts.run(run)
    }
}

/// Journals that are none of the runs.
const JOURNALS: [&str; 3] = [consent::LEDGER, registry::SHELF, upkeep::UPKEEP];

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
                return damaged::give_up(self, run, why).await;
            }
            (loaded, _) => loaded?,
        };
        message.keepable()?;
        if let Some(paused) = self.told_to_pause(run, &message).await? {
            loaded.state.paused = paused;
        }
        if let Some(why) = message.misfit(&loaded) {
            return Err(Error::Refused(why));
        }
        let body = serde_json::to_string(&message).map_err(Error::encoding)?;
        let dedup = dedup.unwrap_or_else(|| Uuid::now_v7().to_string());
        let (source, at_ms) = ("engine".to_owned(), self.clock.now_ms());
        let posted = self.store.post(NewMessage { run: run.clone(), source, dedup, body, at_ms }).await?;
        self.mailroom.tell(run);
        Ok(posted)
    }

    /// Whether a run that nobody drives has been told to pause or to continue, and has not heard it yet.
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

    /// Makes sure that somebody clears up if this process is killed; begun with the first command.
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

    /// The plan with a content hash, remembered.
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

/// Inputs with their defaults, each held to its schema.
fn inputs(plan: &Plan, given: &IndexMap<String, Json>) -> Result<IndexMap<String, Json>, Error> {
    let unit = plan.main();
    let mut inputs = IndexMap::new();
    for (name, input) in &unit.inputs {
        let value = match (given.get(name.as_str()), &input.default) {
            (Some(value), _) => value.clone(),
            (None, Some(default)) => default.clone(),
            (None, None) if input.optional => Json::Null,
            (None, None) => {
                return Err(Error::Input(format!("the input `{name}` is missing; give it with --input {name}=…")));
            }
        };
        if is_too_deep(&value) {
            return Err(Error::Input(format!("the input `{name}` cannot be used: {TOO_DEEP}")));
        }
        let optional = value.is_null() && input.optional;
        if let Some(why) = mismatch(&input.schema, &value).filter(|_| !optional) {
            return Err(Error::Input(format!("the input `{name}` does not fit: {why}")));
        }
        inputs.insert(name.as_str().to_owned(), value);
    }
    for (name, value) in given.iter().filter(|(name, _)| !inputs.contains_key(name.as_str())).collect::<Vec<_>>() {
        if !unit.compat.contains(&Compat::OpenInputs) {
            return Err(Error::Input(unknown_input(unit, name)));
        }
        if is_too_deep(value) {
            return Err(Error::Input(format!("the input `{name}` cannot be used: {TOO_DEEP}")));
        }
        inputs.insert(name.clone(), value.clone());
    }
    Ok(inputs)
}

fn unknown_input(unit: &Unit, name: &str) -> String {
    let known: Vec<&str> = unit.inputs.keys().map(|name| name.as_str()).collect();
    match known.as_slice() {
        [] => format!("there is no input `{name}`; `{}` has no inputs but its task", unit.name),
        known => format!("there is no input `{name}`; the inputs are: {}", known.join(", ")),
    }
}

/// Short, sortable by time, easy to type: no letters that look like others.
#[expect(clippy::expect_used, reason = "only letters of the grammar are put together here")]
pub(crate) fn new_run_id(now_ms: i64) -> RunId {
    const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    // Seconds since 2025 in six letters last until the 2050s; four more tell runs of one second apart.
    let seconds = u64::try_from(now_ms / 1000 - 1_735_689_600).unwrap_or(0);
    let random = u64::from(Uuid::new_v4().as_fields().0);
    let letters = |value: u64, count: u32| -> String {
        (0..count).rev().map(|at| char::from(LETTERS[(value >> (5 * at) & 31) as usize])).collect()
    };
    let text = format!("{}-{}", letters(seconds, 6), letters(random, 4));
    RunId::new(text).expect("the letters are those of the grammar")
}
