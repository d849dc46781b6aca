//! The simulator: makes a workflow, the results of its work and all failures from one number.
//!
//! After every event the [`Witness`] checks the invariants. A bug that a seed finds becomes a chapter of `tests/spec`;
//! the seed itself means nothing once the generator changes.

mod chance;
mod edits;
mod faults;
mod fleet;
mod generate;
mod hosts;
mod turns;

use std::collections::HashMap;
use std::ops::Range;

use longhaul_core::decide::{Planner, Start};
use longhaul_core::event::{Driver, Envelope, Event};
use longhaul_core::index::Index;
use longhaul_core::plan::Plan;
use longhaul_core::state::State;

use crate::whole::advance;
use crate::{Witness, line, tree};
pub use chance::Chance;
pub(crate) use faults::started;
pub(crate) use turns::doer;

/// The number of consecutive seeds that share a workflow.
const SEEDS_PER_WORKFLOW: u64 = 4;
/// After this many happenings, all outcomes are good and nothing interferes any more.
const PATIENCE: u32 = 60;
/// After this many happenings, a run counts as endless.
const HAPPENINGS_MAX: u32 = 1_500;

/// The result of a seed.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// The number of recorded events.
    pub events: usize,
    /// How the run ended.
    pub status: String,
    /// Every event as a line.
    pub lines: Vec<String>,
}

/// The text of the workflow of a seed. Several consecutive seeds share one, with different failures, because checking
/// it costs the most time.
pub fn workflow(seed: u64) -> String {
    generate::workflow(seed / SEEDS_PER_WORKFLOW)
}

/// Runs a seed. Returns its summary, or the broken invariant with everything that is needed to debug it.
pub fn simulate(seed: u64) -> Result<Summary, String> {
    run(seed, &checked(seed)?)
}

/// Runs seeds, one after the other.
pub fn simulate_all(seeds: Range<u64>) -> impl Iterator<Item = Result<Summary, String>> {
    let mut known: Option<(u64, Plan)> = None;
    seeds.map(move |seed| {
        let number = seed / SEEDS_PER_WORKFLOW;
        if known.as_ref().is_none_or(|(of, _)| *of != number) {
            known = Some((number, checked(seed)?));
        }
        known.as_ref().map_or_else(|| simulate(seed), |(_, plan)| run(seed, plan))
    })
}

/// Runs a seed in which a person changes the workflow in the middle of the run, again and again.
pub fn simulate_edits(seed: u64) -> Result<Summary, String> {
    let plan = checked(seed)?;
    // A client or several machines change nothing about plans.
    let mut sim = Sim::new(plan, seed);
    (sim.driver, sim.is_fleet) = (Driver::Engine, false);
    sim.edits = Some(edits::Edits::new(&workflow(seed), &sim.plan));
    match sim.run() {
        Ok(()) => Ok(sim.summary()),
        Err(why) => {
            let text = sim.edits.as_ref().map(|edits| edits.text()).unwrap_or_default();
            let lines = sim.lines().join("\n");
            Err(told(seed, &format!("{why}\n{}{lines}\nchanged to:\n{text}", tree(&sim.plan, &sim.state))))
        }
    }
}

fn told(seed: u64, why: &str) -> String {
    format!("seed {seed}: {why}\nlook at it with: longhaul-sim --seed {seed}\n{}", workflow(seed))
}

fn checked(seed: u64) -> Result<Plan, String> {
    crate::plan(&workflow(seed)).map_err(|why| told(seed, &format!("the checker refuses what was generated:\n{why}")))
}

fn run(seed: u64, plan: &Plan) -> Result<Summary, String> {
    let mut sim = Sim::new(plan.clone(), seed);
    match sim.run() {
        Ok(()) => Ok(sim.summary()),
        Err(why) => {
            let lines = sim.lines().join("\n");
            Err(told(seed, &format!("{why}\n{}{lines}", tree(&sim.plan, &sim.state))))
        }
    }
}

pub(crate) struct Sim {
    plan: Plan,
    index: Index,
    state: State,
    history: Vec<Envelope>,
    witness: Witness,
    chance: Chance,
    now: i64,
    open: Vec<Start>,
    /// Delivered results, which may be delivered again.
    delivered: Vec<Event>,
    /// The conversations of agents, by attempt.
    named: HashMap<String, String>,
    /// Who does the turns of agents.
    driver: Driver,
    /// Whether several workers share the work.
    is_fleet: bool,
    /// A valid submission that must be in the history once it was sent.
    owed: Option<(String, u32)>,
    happened: u32,
    reopened: u32,
    /// Changes of the workflow in the middle of the run, if there are any.
    edits: Option<edits::Edits>,
}

impl Sim {
    fn new(plan: Plan, seed: u64) -> Self {
        Self {
            index: Index::of(&plan),
            plan,
            state: State::default(),
            history: Vec::new(),
            witness: Witness::default(),
            chance: Chance::new(seed ^ 0x5eed),
            now: 1_767_225_600_000,
            open: Vec::new(),
            delivered: Vec::new(),
            named: HashMap::new(),
            // Of the seeds that share a workflow, one has a client.
            driver: if seed % SEEDS_PER_WORKFLOW == 3 { Driver::Client } else { Driver::Engine },
            // And one has several machines.
            is_fleet: seed % SEEDS_PER_WORKFLOW == 2,
            owed: None,
            happened: 0,
            reopened: 0,
            edits: None,
        }
    }

    fn summary(&self) -> Summary {
        let status = self.state.status().to_string();
        Summary { events: self.history.len(), status, lines: self.lines() }
    }

    fn lines(&self) -> Vec<String> {
        let zero = self.history.first().map_or(0, |envelope| envelope.at);
        self.history.iter().map(|envelope| line(envelope, zero)).collect()
    }

    fn run(&mut self) -> Result<(), String> {
        self.tell(faults::started(&self.plan, self.driver))?;
        while self.happened < HAPPENINGS_MAX {
            self.happened += 1;
            if self.chance.one_in(6) {
                self.crash()?;
            }
            if self.chance.one_in(4) {
                self.disturb()?;
            }
            if self.is_patient() && self.edits.is_some() && self.chance.one_in(5) {
                self.edit()?;
            }
            match self.next_event() {
                Some(event) => self.tell(event)?,
                None => return Ok(()),
            }
        }
        Err("the run does not end although everything turned out well".to_owned())
    }

    fn remember_all(&mut self, events: &[Envelope]) -> Result<(), String> {
        if self.edits.is_none() {
            return Ok(());
        }
        let (plan, index) = (self.plan.clone(), self.index.clone());
        self.remember(events, Planner { plan: &plan, index: &index })
    }

    fn is_patient(&self) -> bool {
        self.happened < PATIENCE
    }

    /// Sends an event that the planner must accept.
    fn tell(&mut self, event: Event) -> Result<(), String> {
        self.now += i64::try_from(self.chance.below(2_000)).unwrap_or_default();
        let planner = Planner { plan: &self.plan, index: &self.index };
        let told = format!("{event:?}");
        let mut taken = advance(planner, &mut self.state, vec![event], self.now)
            .map_err(|error| format!("refused: {error}\n{told}"))?;
        self.place(&mut taken);
        let planner = Planner { plan: &self.plan, index: &self.index };
        self.history.extend(taken.events.iter().cloned());
        self.witness.watch(planner, &self.state, &taken.events)?;
        let events = taken.events.clone();
        hosts::is_kept(self.owed.take(), &taken.events)?;
        let state = &self.state;
        self.open.retain(|start| {
            state.open_attempts().any(|step| step.path == start.path && step.attempts == start.attempt)
        });
        taken.starts.iter().try_for_each(|start| self.witness.begins(start))?;
        self.open.extend(taken.starts);
        if self.state.is_finished() {
            self.open.clear();
        }
        self.remember_all(&events)?;
        let under_way = self.state.open_attempts().count();
        if !self.state.is_finished() && under_way != self.open.len() {
            return Err(format!("{under_way} attempts are open, but {} were begun", self.open.len()));
        }
        Ok(())
    }

    /// The state that the recorded events lead to. The first plans of a run are those that were replaced.
    fn replayed(&self) -> Result<State, String> {
        let mut state = State::default();
        let mut plan = self.edits.as_ref().map_or((&self.plan, &self.index), |edits| edits.first());
        for envelope in &self.history {
            if let (Event::PlanReplaced(replaced), Some(edits)) = (&envelope.event, &self.edits) {
                plan = edits.named(&replaced.plan).unwrap_or((&self.plan, &self.index));
            }
            state.apply(plan.0, plan.1, envelope).map_err(|error| error.0)?;
        }
        Ok(state)
    }

    /// The engine dies and starts again: only the recorded events are left.
    fn crash(&mut self) -> Result<(), String> {
        let state = self.replayed()?;
        if state != self.state {
            return Err("the history does not lead to the state".to_owned());
        }
        self.state = state;
        self.witness.restart()?;
        self.come_back()
    }
}
