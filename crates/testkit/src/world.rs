//! Plays a run in virtual time: attempts and people take as long as the script says, and timers fire when they are due.

use longhaul_core::Json;
use longhaul_core::consent::Terms;
use longhaul_core::decide::{Advance, Place, Planner, Start, held_until, host_label, place, start_of};
use longhaul_core::eval::{Slot, fill};
use longhaul_core::event::{Driver, Envelope, Event, Failure, Result as Left, RunContext, RunStarted};
use longhaul_core::explain::explain;
use longhaul_core::index::Index;
use longhaul_core::path::StepPath;
use longhaul_core::plan::{ErrorClass, Plan, SEMANTICS};
use longhaul_core::state::State;
use longhaul_core::task::TaskKey;
use serde_json::Map;

use crate::invariants::Witness;
use crate::script::{Act, OutsideScript, Reply};
use crate::show;
use crate::whole::advance;

/// After this many happenings, a run counts as endless.
pub(crate) const HAPPENINGS_MAX: usize = 3_000;
/// The time at which every run starts: 2026-01-01.
const ZERO: i64 = 1_767_225_600_000;

/// A run, and the world around it.
#[derive(Debug)]
pub struct VirtualWorld {
    /// The plan of the run.
    pub plan: Plan,
    /// The state of the run.
    pub state: State,
    /// All recorded events.
    pub history: Vec<Envelope>,
    /// The history for people, with the refused events.
    pub lines: Vec<String>,
    pub(crate) index: Index,
    pub(crate) script: OutsideScript,
    pub(crate) witness: Witness,
    pub(crate) now: i64,
    /// Scheduled events: results and answers, in the order of their start.
    pub(crate) coming: Vec<(i64, Event)>,
    pub(crate) acts: usize,
    pub(crate) thens: usize,
    /// The machine of the worker that drives the run, if there are several machines.
    machine: Option<String>,
}

impl VirtualWorld {
    /// A run that has not started, or the errors in the texts.
    pub fn new(workflow: &str, script: &str) -> Result<Self, String> {
        let plan = crate::plan(workflow)?;
        let mut script = OutsideScript::parse(script)?;
        script.at.sort_by_key(|(at, _)| *at);
        Ok(Self {
            index: Index::of(&plan),
            plan,
            state: State::default(),
            history: Vec::new(),
            lines: Vec::new(),
            machine: script.machine.clone(),
            script,
            witness: Witness::default(),
            now: ZERO,
            coming: Vec::new(),
            acts: 0,
            thens: 0,
        })
    }

    /// The history as text, one line per event, and the final state.
    pub fn text(&self) -> String {
        let mut text = self.lines.join("\n");
        text.push_str(&format!("\n= {}\n", self.state.status()));
        for found in explain(&self.plan, &self.state) {
            text.push_str(&format!("= {}\n", found.text.replace(&ZERO.to_string(), "zero")));
        }
        text
    }

    /// Runs until nothing more happens, or returns the broken invariant.
    pub fn run(&mut self) -> Result<(), String> {
        let started = Event::RunStarted(self.started());
        self.news(started)?;
        for _ in 0..HAPPENINGS_MAX {
            if !self.next()? {
                return Ok(());
            }
        }
        Err("the run does not end".to_owned())
    }

    /// Runs for a while, or returns the broken invariant.
    pub fn run_for(&mut self, ms: i64) -> Result<(), String> {
        let started = Event::RunStarted(self.started());
        self.news(started)?;
        while self.soonest().is_some_and(|at| at <= ZERO + ms) && self.next()? {}
        self.now = ZERO + ms;
        Ok(())
    }

    /// The time of the next scheduled event.
    fn soonest(&self) -> Option<i64> {
        let timers = self.state.timers(&self.plan).into_iter().map(|(_, due)| due);
        let act = self.script.at.get(self.acts).map(|(at, _)| ZERO + at);
        self.coming.iter().map(|(at, _)| *at).chain(timers).chain(act).min()
    }

    /// The current virtual time.
    pub fn now(&self) -> i64 {
        self.now
    }

    fn started(&self) -> RunStarted {
        let mut inputs: indexmap::IndexMap<String, longhaul_core::Json> = self.script.inputs.iter().cloned().collect();
        for (name, input) in &self.plan.main().inputs {
            inputs.entry(name.as_str().to_owned()).or_insert_with(|| input.default.clone().unwrap_or_default());
        }
        RunStarted {
            workflow: self.plan.main().name.clone(),
            plan: "test".to_owned(),
            semantics: SEMANTICS,
            task: self.script.task.clone(),
            inputs,
            context: Box::new(RunContext { id: Some("test-run".to_owned()), ..RunContext::default() }),
            trigger: None,
            owner: None,
            approvals: None,
            consent: Some(Terms { granted: true, ..Terms::default() }),
            forked: None,
            driver: if self.script.host.is_some() { Driver::Client } else { Driver::Engine },
            source: None,
        }
    }

    /// Plays the next event; returns false if there is none.
    pub(crate) fn next(&mut self) -> Result<bool, String> {
        let coming = self.coming.iter().enumerate().min_by_key(|(order, (at, _))| (*at, *order));
        let coming = coming.map(|(order, (at, _))| (*at, order));
        let timer = self.state.timers(&self.plan).into_iter().min_by_key(|(_, due)| *due);
        let act = self.script.at.get(self.acts).map(|(at, _)| ZERO + at);
        match self.soonest() {
            None => match self.script.then.get(self.thens).cloned() {
                None => return Ok(false),
                Some(act) => {
                    self.thens += 1;
                    self.now += 1_000;
                    self.act(act)?;
                }
            },
            Some(at) => {
                self.now = self.now.max(at);
                if act == Some(at) {
                    let (_, act) = self.script.at[self.acts].clone();
                    self.acts += 1;
                    self.act(act)?;
                } else if let Some((_, order)) = coming.filter(|(due, _)| *due == at) {
                    let (_, event) = self.coming.remove(order);
                    self.news(event)?;
                } else if let Some((timer, _)) = timer {
                    self.news(Event::TimerFired { timer })?;
                }
            }
        }
        Ok(true)
    }

    fn act(&mut self, act: Act) -> Result<(), String> {
        let event = match act {
            Act::Signal(name, data) => Event::Signalled { name, data, by: None },
            Act::Cancel => Event::CancelRequested { by: None, reason: None },
            Act::Pause => Event::Paused { by: None },
            Act::Stop => Event::RunStopped { by: Some("ana".to_owned()) },
            Act::Resume => Event::RunResumed { by: None },
            Act::Unpause => Event::Unpaused { by: None },
            Act::Submit(attempt, output) => {
                let (path, attempt) = numbered(&attempt)?;
                let by = self.script.host.clone();
                Event::AttemptSucceeded { path, attempt, result: Left { output, by, ..Left::default() } }
            }
            Act::Heartbeat(attempt, hint) => {
                let (path, attempt) = numbered(&attempt)?;
                Event::HeartbeatSeen { path, attempt, hint: Some(hint), until: held_until(self.now) }
            }
            Act::Take(attempt, by) => {
                let (path, attempt) = numbered(&attempt)?;
                Event::HostedClaimed { path, attempt, by, until: held_until(self.now) }
            }
            Act::Late(attempt) => {
                let (path, attempt) = numbered(&attempt)?;
                Event::AttemptSucceeded { path, attempt, result: Default::default() }
            }
            Act::Reopen(from) => {
                let from = from.map(|from| from.parse::<StepPath>()).transpose()?;
                Event::Reopened { from, by: None }
            }
            Act::Answer(step, answer, given) => match Event::answered(step.parse()?, answer) {
                Event::Answered { path, answer, by, caller, shown, key, .. } => {
                    Event::Answered { path, answer, by, caller, comment: given, shown, key }
                }
                other => other,
            },
            Act::Tell(step, text) => Event::HintGiven { path: step.parse()?, text, by: Some("ana".to_owned()) },
            Act::Budget(change) => Event::BudgetChanged { change, by: None },
            Act::Fork(before) => return self.fork(&before),
            Act::Machine(host) => {
                self.machine = Some(host);
                return Ok(());
            }
            Act::Missed(host, then) => Event::HostMissed { host, since: self.now, then },
            Act::Claim(attempt, host) => {
                let (path, attempt) = numbered(&attempt)?;
                Event::AttemptClaimed { path, attempt, worker: format!("a worker on {host}"), host: Some(host) }
            }
            Act::Leave(host) => Event::HostLeft { host, by: None, carried: None },
        };
        self.news(event)
    }

    /// A new run with this run's history up to the first attempt of a step.
    fn fork(&mut self, before: &str) -> Result<(), String> {
        let begins = |envelope: &Envelope| matches!(&envelope.event, Event::AttemptStarted { path, .. } if path.to_string() == before);
        let prefix: Vec<Envelope> = self.history.iter().take_while(|envelope| !begins(envelope)).cloned().collect();
        self.lines.push(format!("--- forked before {before}, after event {}", prefix.len()));
        (self.state, self.witness) = (State::default(), Witness::default());
        let planner = Planner { plan: &self.plan, index: &self.index };
        for envelope in &prefix {
            self.state.apply(&self.plan, &self.index, envelope).map_err(|error| error.0)?;
        }
        self.history = prefix;
        let taken = advance(planner, &mut self.state, Vec::new(), self.now).map_err(|error| error.0)?;
        self.coming.clear();
        let all: Vec<Envelope> = self.history.iter().chain(&taken.events).cloned().collect();
        self.witness.watch(planner, &self.state, &all)?;
        self.took(taken);
        Ok(())
    }

    /// Sends an event to the planner, and starts the work that follows.
    fn news(&mut self, event: Event) -> Result<(), String> {
        let planner = Planner { plan: &self.plan, index: &self.index };
        let mut after = self.state.clone();
        match advance(planner, &mut after, vec![event], self.now) {
            Err(error) => {
                self.lines.push(format!("{} ! refused: {}", show::when(self.now, ZERO), error.0));
                Ok(())
            }
            Ok(mut taken) => {
                self.place(&mut after, &mut taken);
                self.state = after;
                self.witness
                    .watch(planner, &self.state, &taken.events)
                    .map_err(|why| format!("{why}\n{}", self.lines.join("\n")))?;
                self.took(taken);
                Ok(())
            }
        }
    }

    /// If there are several machines, an attempt that the driving machine cannot make waits for another one.
    fn place(&self, state: &mut State, taken: &mut Advance) {
        let Some(host) = self.machine.as_deref() else { return };
        let planner = Planner { plan: &self.plan, index: &self.index };
        let labels = [host_label(host)];
        let here =
            Place { host: Some(host), labels: &labels, room: 9, is_counted: &|_| false, counted_agent: &|_| None };
        place(planner, state, taken, here);
        let claimed = taken.events.iter().filter_map(|envelope| match &envelope.event {
            Event::AttemptClaimed { path, .. } => start_of(planner, state, path),
            _ => None,
        });
        taken.starts.extend(claimed.collect::<Vec<_>>());
    }

    pub(crate) fn took(&mut self, taken: Advance) {
        for envelope in &taken.events {
            let work = taken.starts.iter().find(|start| self.script.shows_work && begins(start, &envelope.event));
            let handed = self.handed_out(&envelope.event).filter(|_| self.script.shows_work);
            let work = work.or(handed.as_ref()).map_or_else(String::new, |start| format!(": {}", work_of(start)));
            self.lines.push(format!("{}{work}", show::line(envelope, ZERO)));
            if let Event::QuestionAsked { path, .. } = &envelope.event
                && let Some((ms, answer)) = self.script.answer(&path.to_string())
            {
                self.coming.push((self.now + ms, Event::answered(path.clone(), answer)));
            }
        }
        for envelope in &taken.events {
            if let Event::OnFailureStarted { attempt } = envelope.event {
                self.coming.push((self.now + 1_000, Event::OnFailureEnded { attempt, error: None }));
            }
        }
        let handed: Vec<Start> = taken.events.iter().filter_map(|one| self.handed_out(&one.event)).collect();
        self.history.extend(taken.events);
        handed.into_iter().for_each(|start| self.take(start));
        for (path, attempt) in taken.stops {
            self.coming.retain(|(_, event)| !is_result(event, &path, attempt));
            if !self.state.is_finished()
                && self.state.find(&path).is_some_and(|step| step.attempts == attempt && step.outcome.ended.is_none())
            {
                let error = Failure::new(ErrorClass::Failed, "stopped");
                let stopped = Event::AttemptFailed { path, attempt, error, result: Default::default() };
                self.coming.push((self.now + 1_000, stopped));
            }
        }
        for start in taken.starts {
            self.begin(start);
        }
    }

    /// The attempt that an event offers to the client.
    fn handed_out(&self, event: &Event) -> Option<Start> {
        let Event::AttemptStarted { path, attempt, hosted: true, .. } = event else { return None };
        let planner = Planner { plan: &self.plan, index: &self.index };
        self.state.hosted().find(|step| step.path == *path && step.attempts == *attempt)?;
        start_of(planner, &self.state, path)
    }

    /// The client takes the offered attempt, and submits what the script says.
    fn take(&mut self, start: Start) {
        let Some(by) = self.script.host.clone().filter(|host| !host.is_empty()) else { return };
        let (path, attempt) = (start.path.clone(), start.attempt);
        let until = held_until(self.now);
        self.coming.push((self.now, Event::HostedClaimed { path, attempt, by: by.clone(), until }));
        let before = self.coming.len();
        self.begin(start);
        for (_, event) in &mut self.coming[before..] {
            if let Event::AttemptSucceeded { result, .. } | Event::AttemptFailed { result, .. } = event {
                result.by = Some(by.clone());
            }
        }
    }

    fn begin(&mut self, start: Start) {
        let (ms, reply) = self.script.reply(&start.path.to_string(), start.attempt);
        let (path, attempt, keep) = (start.path, start.attempt, start.turn.keep);
        if keep {
            let name = TaskKey::new(&path, attempt).to_string();
            self.coming.push((self.now, Event::FilesKept { path: path.clone(), attempt, name }));
        }
        if let Some((session, thread)) = self.script.session(&path.to_string(), attempt) {
            self.coming.push((self.now, Event::SessionSeen { path: path.clone(), attempt, session, thread }));
        }
        let event = match reply {
            Reply::Ok(result) => Event::AttemptSucceeded { path, attempt, result },
            Reply::Fail(error, result) => Event::AttemptFailed { path, attempt, error, result },
            Reply::Stopped => Event::AttemptStopped { path, attempt, usage: None },
            Reply::Hang => return,
        };
        self.coming.push((self.now + ms, event));
    }
}

fn begins(start: &Start, event: &Event) -> bool {
    matches!(event, Event::AttemptStarted { path, attempt, .. } if *path == start.path && *attempt == start.attempt)
}

fn is_result(event: &Event, of: &StepPath, number: u32) -> bool {
    event.ended_attempt() == Some((of, number))
}

/// The path and the number of an attempt.
fn numbered(text: &str) -> Result<(StepPath, u32), String> {
    let path: StepPath = text.parse()?;
    Ok((strip(&path)?, path.attempt().unwrap_or(1)))
}

/// The path without its attempt.
fn strip(path: &StepPath) -> Result<StepPath, String> {
    let text = path.to_string();
    text.split_once('@').map_or(text.as_str(), |(steps, _)| steps).parse()
}

/// The work, with names in place of values that only a machine knows.
fn named(map: &Map<String, Json>, slots: &[Slot]) -> Map<String, Json> {
    let mut whole = Json::Object(map.clone());
    let named = fill(&mut whole, slots, |source| Ok(format!("|{source}|")));
    match (named, whole) {
        (Ok(()), Json::Object(map)) => map,
        (why, _) => Map::from_iter([("broken".to_owned(), Json::String(format!("{why:?}")))]),
    }
}

fn work_of(start: &Start) -> String {
    let mut work = named(&start.params, &start.outside.params);
    if !start.env.is_empty() {
        work.insert("env".to_owned(), named(&start.env, &start.outside.env).into());
    }
    if let Some(cwd) = &start.cwd {
        work.insert("cwd".to_owned(), cwd.clone().into());
    }
    if let Some(agent) = &start.turn.agent {
        work.insert("by".to_owned(), agent.clone().into());
    }
    if let Some(session) = &start.turn.session {
        work.insert(if start.turn.compact { "compacts" } else { "resumes" }.to_owned(), session.id.clone().into());
    }
    if let Some(before) = start.turn.restore {
        work.insert("restores".to_owned(), before.into());
    }
    format!("{} {}", start.kind, Json::from(work))
}
