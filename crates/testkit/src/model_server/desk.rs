//! Which step answers which request, and the book that is kept about it.
//!
//! **Invariant:** a step is taken by one request only, unless it says how often it may be.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::log::{Entry, Outcome};
use super::request::Request;
use super::script::{Act, Part, Script, Section, Setting, Step, Usage};
use super::tools;

/// Shared by all connections.
pub(super) struct Desk {
    state: Mutex<State>,
    changed: Condvar,
    keep_bodies: bool,
}

#[derive(Default)]
struct State {
    places: Vec<Place>,
    per_lane: HashMap<String, u64>,
    log: Vec<Entry>,
    /// Counts scripts, so that an answer to an old one is not booked under a new one.
    script: u64,
}

/// How far a section is.
struct Place {
    section: Section,
    next: usize,
    used: u32,
    delay: f64,
    usage: Usage,
}

/// What a request is answered by.
pub(super) struct Taken {
    /// Which entry of the log.
    pub(super) ticket: Ticket,
    /// Which request of its lane; zero if the agent asked on its own account.
    pub(super) number: u64,
    /// `None` if the section is used up.
    pub(super) act: Option<Act>,
    pub(super) section: String,
    /// Seconds before the answer.
    pub(super) delay: f64,
    pub(super) usage: Usage,
}

/// An entry of the log that is still open.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ticket {
    script: u64,
    index: usize,
}

impl Desk {
    /// With a script from its beginning.
    pub(super) fn new(script: Script, keep_bodies: bool) -> Self {
        let desk = Self { state: Mutex::default(), changed: Condvar::new(), keep_bodies };
        desk.restart(script);
        desk
    }

    /// Begins again, with an empty log.
    pub(super) fn restart(&self, script: Script) {
        let mut state = self.state();
        let places = script.sections.into_iter().map(Place::new).collect();
        *state = State { places, script: state.script + 1, ..State::default() };
    }

    /// Takes the step for a request and opens its entry in the log.
    pub(super) fn take(&self, request: &Request) -> Taken {
        let mut state = self.state();
        let taken = state.take(request, Entry::of(request, self.keep_bodies));
        self.changed.notify_all();
        taken
    }

    /// Notes a request that takes no step.
    pub(super) fn note(&self, entry: Entry) {
        self.state().open(entry);
        self.changed.notify_all();
    }

    /// Closes an entry.
    pub(super) fn close(&self, ticket: Ticket, status: u16, outcome: Outcome) {
        let mut state = self.state();
        if state.script == ticket.script {
            (state.log[ticket.index].status, state.log[ticket.index].outcome) = (status, Some(outcome));
        }
        self.changed.notify_all();
    }

    /// The log so far.
    pub(super) fn log(&self) -> Vec<Entry> {
        self.state().log.clone()
    }

    /// Waits until the log is as it should be; the log, and whether it is.
    pub(super) fn wait(&self, patience: Duration, fits: impl Fn(&[Entry]) -> bool) -> (Vec<Entry>, bool) {
        let waited = self.changed.wait_timeout_while(self.state(), patience, |state| !fits(&state.log));
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        (state.log.clone(), fits(&state.log))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn open(&mut self, mut entry: Entry) -> Ticket {
        entry.seq = self.log.len() as u64 + 1;
        self.log.push(entry);
        Ticket { script: self.script, index: self.log.len() - 1 }
    }

    fn take(&mut self, request: &Request, mut entry: Entry) -> Taken {
        let number = self.number(request);
        entry.n = (!request.side).then_some(number);
        let (section, step, delay, usage) = match self.places.iter_mut().find(|place| place.fits(request)) {
            Some(place) => {
                let step = place.step();
                (place.section.name.clone(), step, place.delay, place.usage)
            }
            None => ("side".to_owned(), Some(aside(request)), 0.0, Usage::default()),
        };
        entry.section.clone_from(&section);
        entry.step = step.as_ref().map(|step| step.shown.clone()).unwrap_or_default();
        Taken { ticket: self.open(entry), number, act: step.map(|step| step.act), section, delay, usage }
    }

    fn number(&mut self, request: &Request) -> u64 {
        if request.side {
            return 0;
        }
        let number = self.per_lane.entry(request.lane.clone()).or_default();
        *number += 1;
        *number
    }
}

impl Place {
    fn new(section: Section) -> Self {
        Self { section, next: 0, used: 0, delay: 0.0, usage: Usage::default() }
    }

    fn fits(&self, request: &Request) -> bool {
        let conditions = &self.section.conditions;
        let is_wanted = !request.side || conditions.iter().any(super::script::Condition::claims_side);
        is_wanted && conditions.iter().all(|condition| condition.holds(request))
    }

    fn step(&mut self) -> Option<Step> {
        loop {
            let step = self.section.steps.get(self.next)?;
            match step.act {
                Act::Set(Setting::Delay(seconds)) => self.delay = seconds,
                Act::Set(Setting::Usage(usage)) => self.usage = usage,
                _ if step.times.is_none_or(|times| self.used < times) => {
                    self.used += 1;
                    return Some(step.clone());
                }
                _ => {}
            }
            (self.next, self.used) = (self.next + 1, 0);
        }
    }
}

/// What agents get for questions of their own: the least that fits.
fn aside(request: &Request) -> Step {
    let text = match request.schema() {
        Some(schema) => serde_json::Value::Object(tools::complete(schema, serde_json::Map::new())).to_string(),
        None => "ok".to_owned(),
    };
    Step { shown: "side".to_owned(), times: Some(1), act: Act::Answer(vec![Part::Text(text)]) }
}
