//! Checks what must hold after every event.
//!
//! A [`Witness`] reads the history as it was written: it keeps a second state that it builds from the JSON text only,
//! and compares it with the live one.

mod agents;
mod budget;
mod units;

use std::collections::{HashMap, HashSet};

use longhaul_core::decide::{Planner, Start, decide, rejection};
use longhaul_core::event::{Ended, Envelope, Event};
use longhaul_core::path::{Segment, StepPath};
use longhaul_core::plan::{Form, Outcome};
use longhaul_core::state::{Phase, State, StepInst};
use longhaul_core::task::{TaskKey, TimerId};

use crate::tree;
use agents::Agents;
use budget::Budget;

/// Watches a run from outside.
#[derive(Debug, Clone, Default)]
pub struct Witness {
    replayed: State,
    /// `path@attempt` of every started attempt.
    begun: HashSet<String>,
    open: HashMap<String, u32>,
    finished: bool,
    agents: Agents,
    budget: Budget,
}

impl Witness {
    /// Checks recorded events; returns the broken invariant, if there is one.
    pub fn watch(&mut self, planner: Planner<'_>, live: &State, events: &[Envelope]) -> Result<(), String> {
        for envelope in events {
            self.event(planner, envelope)?;
        }
        let fell = |envelope: &Envelope| matches!(envelope.event, Event::RunFinished { outcome: Outcome::Failure, .. });
        if planner.plan.main().on_failure.is_some() && events.iter().any(fell) && !live.on_failure.open {
            return Err("a run failed, and nobody has taken on its `on_failure`".to_owned());
        }
        let report = |what: &str| Err(format!("{what}\n{}", tree(planner.plan, live)));
        if self.replayed != *live {
            return report(&format!("replaying gives another state:\n{}", tree(planner.plan, &self.replayed)));
        }
        if decide(planner, live) != decide(planner, live) {
            return report("asked twice, the planner answers differently");
        }
        if decide(planner, live).is_some_and(|decision| !decision.events.is_empty()) {
            return report("there is more to decide");
        }
        if !live.is_finished() && is_stuck(live) {
            return report("the run stands still and nothing will move it");
        }
        if let Some(path) = orphan(live) {
            return report(&format!("`{path}` is under way, but what it is inside of is not"));
        }
        if let Some(path) = forgotten(planner, live) {
            return report(&format!("nothing will ever move `{path}`"));
        }
        self.caps(planner, live)
    }

    /// Checks work that is about to start.
    pub fn begins(&mut self, start: &Start) -> Result<(), String> {
        self.agents.begins(start)
    }

    /// Starts again from a snapshot, like a restarted engine.
    pub fn restart(&mut self) -> Result<(), String> {
        let text = serde_json::to_string(&self.replayed).map_err(|error| error.to_string())?;
        self.replayed = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        Ok(())
    }

    fn event(&mut self, planner: Planner<'_>, envelope: &Envelope) -> Result<(), String> {
        if envelope.seq != self.replayed.seq + 1 {
            return Err(format!("event {} follows event {}", envelope.seq, self.replayed.seq));
        }
        if self.finished && !follows_an_end(&envelope.event) {
            return Err(format!("something happened after the end: {:?}", envelope.event));
        }
        self.attempts(envelope)?;
        self.agents.event(planner, &self.replayed, &envelope.event)?;
        self.budget.event(planner, &envelope.event)?;
        let text = serde_json::to_string(envelope).map_err(|error| error.to_string())?;
        let read: Envelope = serde_json::from_str(&text).map_err(|error| format!("{error}: {text}"))?;
        if read != *envelope {
            return Err(format!("an event reads back differently: {text}"));
        }
        let told = matches!(
            read.event,
            Event::Answered { .. }
                | Event::HintGiven { .. }
                | Event::BudgetChanged { .. }
                | Event::Signalled { .. }
                | Event::HostedClaimed { .. }
                | Event::HeartbeatSeen { .. }
                | Event::AttemptSucceeded { .. }
                | Event::AttemptFailed { .. }
        );
        if let Some(why) = rejection(planner, &self.replayed, &read.event).filter(|_| told) {
            return Err(format!("what does not fit was recorded: {why}"));
        }
        let before = matches!(read.event, Event::Refused { .. }).then(|| self.replayed.clone());
        self.replayed
            .apply(planner.plan, planner.index, &read)
            .map_err(|error| format!("what was recorded is refused: {error}"))?;
        self.budget.after(&self.replayed)?;
        let same = |mut before: State| {
            (before.seq, before.now) = (self.replayed.seq, self.replayed.now);
            before == self.replayed
        };
        before.is_none_or(same).then_some(()).ok_or_else(|| "what was refused changed the state".to_owned())
    }

    fn attempts(&mut self, envelope: &Envelope) -> Result<(), String> {
        match &envelope.event {
            Event::AttemptStarted { path: at, attempt, .. } => {
                let path = at.to_string();
                if !self.begun.insert(TaskKey::new(at, *attempt).to_string()) {
                    return Err(format!("attempt {attempt} of `{path}` was begun twice"));
                }
                let known = self.replayed.find(at);
                if known.is_some_and(|step| step.phase == Phase::Done && step.outcome.ended == Some(Ended::Succeeded)) {
                    return Err(format!("`{path}` had succeeded and is begun again"));
                }
                self.open.insert(path.clone(), *attempt);
                if known
                    .is_some_and(|step| matches!(step.phase, Phase::Attempt(_) | Phase::Hosted(_) | Phase::Queued(_)))
                {
                    return Err(format!("`{path}` has two open attempts"));
                }
            }
            Event::AttemptSucceeded { path, attempt, .. }
            | Event::AttemptFailed { path, attempt, .. }
            | Event::AttemptStopped { path, attempt, .. }
                if self.open.remove(&path.to_string()) != Some(*attempt) =>
            {
                return Err(format!("a result of `{path}@{attempt}`, which is not open"));
            }
            Event::RunFinished { .. } => self.finished = true,
            Event::Reopened { .. } => self.finished = false,
            Event::PlanReplaced(_) => {
                self.finished = false;
                self.open.clear();
                self.agents.start_over();
            }
            _ => {}
        }
        Ok(())
    }

    fn caps(&self, planner: Planner<'_>, live: &State) -> Result<(), String> {
        let most = planner.plan.main().limits.parallel.unwrap_or(16) as usize;
        if live.open_attempts().chain(live.hosted()).chain(live.queued()).count() > most {
            return Err(format!("more than {most} attempts at once"));
        }
        live.steps().iter().try_for_each(|step| units::holds(planner, live, step))?;
        let mut inside: HashMap<String, HashSet<u32>> = HashMap::new();
        for step in live.open_attempts().chain(live.hosted()).chain(live.queued()) {
            let segments = step.path.segments();
            for end in 1..segments.len() {
                let Some(index) = segments[end - 1].index else { continue };
                let prefix: Vec<String> =
                    segments[..end].iter().map(|s| format!("{}#{}[{:?}]", s.id, s.visit, s.index)).collect();
                let container = format!("{}|{}", prefix[..end - 1].join("/"), segments[end - 1].id);
                inside.entry(container).or_default().insert(index);
            }
        }
        for step in live.steps().iter().filter(|step| step.phase == Phase::Inside) {
            let Form::ForEach { parallel, .. } = &planner.plan.step(step.step).form else { continue };
            let segments = step.path.segments();
            let prefix: Vec<String> =
                segments[..segments.len() - 1].iter().map(|s| format!("{}#{}[{:?}]", s.id, s.visit, s.index)).collect();
            let Some(last) = segments.last() else { continue };
            let at_once = inside.get(&format!("{}|{}", prefix.join("/"), last.id)).map_or(0, HashSet::len);
            if at_once > *parallel as usize {
                return Err(format!("`{}` works on {at_once} items at once, {parallel} are allowed", step.path));
            }
        }
        Ok(())
    }
}

/// Whether an event can happen in a finished run.
fn follows_an_end(event: &Event) -> bool {
    use Event::{BudgetChanged, OnFailureEnded, OnFailureStarted, PlanReplaced, Refused, Reopened};
    matches!(
        event,
        OnFailureStarted { .. }
            | OnFailureEnded { .. }
            | Refused { .. }
            | Reopened { .. }
            | BudgetChanged { .. }
            | PlanReplaced(_)
    )
}

/// A step that works or waits inside a container that does not.
fn orphan(state: &State) -> Option<StepPath> {
    let outside = |path: &StepPath| {
        let segments = path.segments();
        (1..segments.len()).any(|end| {
            let first = StepPath::root(segments[0].id.clone()).visited(segments[0].visit);
            let inward = |container: StepPath, at: usize| {
                container.child(segments[at - 1].index, segments[at].id.clone()).visited(segments[at].visit)
            };
            let container = (1..end).fold(first, inward);
            state.find(&container).is_none_or(|step| step.phase != Phase::Inside)
        })
    };
    let under_way = state.open_attempts().chain(state.waiting()).map(|step| &step.path);
    under_way.filter(|_| !state.is_finished()).find(|path| outside(path)).cloned()
}

/// Whether a run waits for nothing: it has no attempt, timer, question, signal or pause.
fn is_stuck(state: &State) -> bool {
    state.started.is_some()
        && !state.paused
        && state.stopped.is_none()
        && state.open_attempts().next().is_none()
        && state.waiting().next().is_none()
}

/// An open step that no worker has, and that waits for nothing with a name.
fn forgotten(planner: Planner<'_>, state: &State) -> Option<StepPath> {
    if state.is_finished() || state.paused || state.stopped.is_some() || state.cancelling {
        return None;
    }
    let timers = state.timers(planner.plan);
    let is_set = |wanted: TimerId| timers.iter().any(|(timer, _)| *timer == wanted);
    let inside = |path: &StepPath| {
        let (container, all) = (path.segments(), state.steps().iter());
        let mut within = all.filter(|step| step.phase != Phase::Done && step.path.segments().len() > container.len());
        within.any(|step| is_within(container, step.path.segments()))
    };
    let moves = |step: &&StepInst| match &step.phase {
        Phase::Ready => state.running() > 0 || state.hosted().chain(state.queued()).next().is_some(),
        Phase::Queued(_) => state.queued().any(|queued| queued.path == step.path),
        Phase::Hosted(_) => state.hosted().any(|hosted| hosted.path == step.path),
        Phase::Attempt(_) => state.open_attempts().any(|open| open.path == step.path),
        Phase::Retry { .. } => is_set(TimerId::Retry(step.path.clone())),
        Phase::Question(_) => step.asks().is_some(),
        Phase::Waiting { due, signal } => {
            signal.is_some() || (due.is_some() && is_set(TimerId::Wait(step.path.clone())))
        }
        Phase::Inside => inside(&step.path),
        Phase::Judge => false,
        Phase::Done => true,
    };
    state.steps().iter().find(|step| !moves(step)).map(|step| step.path.clone())
}

fn is_within(container: &[Segment], path: &[Segment]) -> bool {
    let own = container.len() - 1;
    let around = container[..own] == path[..own];
    around && container[own].id == path[own].id && container[own].visit == path[own].visit
}
