//! Decides what a run does next.
//!
//! A plain function of the plan and the state: asked twice it answers the same. An answer is a list of
//! events to be recorded, and for leaf work what is to be done once they are.
//!
//! [`advance`] takes news in and decides until nothing is left to decide, or as much as goes into one commit.

mod budget;
mod concurrency;
mod consent;
mod degrade;
mod finish;
mod gate;
mod hints;
mod hooks;
mod host_lost;
mod hosted;
mod inbound;
mod inside;
mod judge;
mod kept;
mod limits;
mod placement;
mod recovery;
mod seal;
mod share;
mod start;
mod turn;

use crate::event::{Envelope, Event, PlanReplaced, VERSION};
use crate::index::Index;
use crate::path::StepPath;
use crate::plan::{Plan, StepIx};
use crate::state::{self, Phase, State, StepInst};

pub use concurrency::group;
pub use consent::{actions, run_grant};
pub use hooks::on_failure;
pub(crate) use host_lost::WAIT;
pub use hosted::{claims, held_until, named};
pub use inbound::rejection;
pub(crate) use kept::{Redo, before, redo};
pub use placement::{
    Place, agent_label, agent_of_label, host_label, host_of_label, is_given, no_project_label, place, project_label,
    project_of_label,
};
pub use seal::seal;
pub use share::goes_first;
pub use start::{AgentTurn, Start, given_at, start_of};
pub use turn::thread_of;

/// How many attempts run at once where a workflow does not say.
pub(crate) const PARALLEL: u32 = 16;

/// The most events of one commit. Before the next commit the loop checks for messages, such as a request to stop.
const EVENTS_MAX: usize = 4000;

/// What is to be recorded, and then done.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Decision {
    /// To be recorded.
    pub events: Vec<Event>,
    /// To be begun, once recorded.
    pub start: Option<Start>,
}

impl Decision {
    fn of(events: impl IntoIterator<Item = Event>) -> Self {
        Self { events: events.into_iter().collect(), start: None }
    }
}

/// What came of some news.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Advance {
    /// To be recorded, in one commit.
    pub events: Vec<Envelope>,
    /// To be begun after that.
    pub starts: Vec<Start>,
    /// Attempts to be stopped after that.
    pub stops: Vec<(StepPath, u32)>,
    /// Whether more can be decided at once: a commit has so many events and no more.
    pub is_cut: bool,
}

/// The plan with its lookups.
#[derive(Debug, Clone, Copy)]
pub struct Planner<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Its lookups.
    pub index: &'a Index,
}

impl Planner<'_> {
    /// The step of the plan that an address names, whether it was reached or not.
    pub fn find(self, path: &StepPath) -> Option<StepIx> {
        let mut bodies = vec![self.plan.main().body];
        let mut found = None;
        for segment in path.segments() {
            let step = bodies.iter().find_map(|body| self.index.find(*body, segment.id.as_str()))?;
            let inner = self.index.inner(step);
            // A loop has one body for all its items; a choice has one for each branch.
            bodies = match segment.index {
                Some(index) if inner.len() > 1 => inner.get(index as usize).copied().into_iter().collect(),
                _ => inner.to_vec(),
            };
            found = Some(step);
        }
        found
    }
}

/// Takes news in and decides until nothing is left to decide, or the commit is full. What people and programs tell is held to what
/// was asked.
///
/// If an event does not fit, the state must be thrown away: some of the news may have been taken in.
pub fn advance(planner: Planner<'_>, state: &mut State, news: Vec<Event>, at: i64) -> Result<Advance, state::Error> {
    let mut advance = Advance::default();
    for event in news {
        let event = inbound::checked(planner, state, event);
        record(planner, state, event, at, &mut advance)?;
    }
    while let Some(decision) = decide(planner, state).filter(|decision| !decision.events.is_empty()) {
        for event in decision.events {
            record(planner, state, event, at, &mut advance)?;
        }
        advance.starts.extend(decision.start);
        if advance.events.len() >= EVENTS_MAX {
            advance.is_cut = true;
            break;
        }
    }
    // What was begun and ended in one breath (a prompt that cannot be rendered) needs no doing.
    let open = |path: &StepPath, attempt: u32| state.find(path).is_some_and(|step| step.is_making(attempt));
    advance.starts.retain(|start| !state.is_finished() && open(&start.path, start.attempt));
    Ok(advance)
}

/// Takes news in for a run that must not begin yet: nothing is decided but its end.
pub fn absorb(planner: Planner<'_>, state: &mut State, news: Vec<Event>, at: i64) -> Result<Advance, state::Error> {
    let mut advance = Advance::default();
    for event in news {
        let event = inbound::checked(planner, state, event);
        record(planner, state, event, at, &mut advance)?;
    }
    while let Some(decision) = ending(planner, state).filter(|decision| !decision.events.is_empty()) {
        for event in decision.events {
            record(planner, state, event, at, &mut advance)?;
        }
    }
    Ok(advance)
}

/// Takes one thing in and decides nothing: an engine decides what follows.
pub fn note(planner: Planner<'_>, state: &mut State, event: Event, at: i64) -> Result<Advance, state::Error> {
    let mut advance = Advance::default();
    let event = inbound::checked(planner, state, event);
    record(planner, state, event, at, &mut advance)?;
    Ok(advance)
}

/// Gives a run another plan, and decides until the first attempt would start: an engine does that. `planner` has the new plan.
pub fn replace(planner: Planner<'_>, state: &mut State, event: PlanReplaced, at: i64) -> Result<Advance, state::Error> {
    let mut advance = Advance::default();
    record(planner, state, Event::PlanReplaced(Box::new(event)), at, &mut advance)?;
    keep_results(planner, state, at, &mut advance)?;
    Ok(advance)
}

/// Continues what [`replace`] began, where that was too much for one commit.
pub fn continued(planner: Planner<'_>, state: &mut State, at: i64) -> Result<Advance, state::Error> {
    let mut advance = Advance::default();
    keep_results(planner, state, at, &mut advance)?;
    Ok(advance)
}

fn keep_results(planner: Planner<'_>, state: &mut State, at: i64, advance: &mut Advance) -> Result<(), state::Error> {
    while let Some(decision) = decide(planner, state).filter(|decision| !decision.events.is_empty()) {
        let starts = |event: &Event| matches!(event, Event::AttemptStarted { .. } | Event::RunFinished { .. });
        if decision.events.iter().any(starts) {
            break;
        }
        for event in decision.events {
            record(planner, state, event, at, advance)?;
        }
        if advance.events.len() >= EVENTS_MAX {
            advance.is_cut = true;
            break;
        }
    }
    Ok(())
}

fn record(
    planner: Planner<'_>,
    state: &mut State,
    event: Event,
    at: i64,
    advance: &mut Advance,
) -> Result<(), state::Error> {
    let all = matches!(event, Event::CancelRequested { .. } | Event::RunFinished { .. });
    let ends_unit = matches!(&event, Event::StepEnded { end, .. } if end.verdict.is_some());
    let some =
        ends_unit || matches!(event, Event::Rewound { .. } | Event::RetryScheduled { .. } | Event::UnitStopped { .. });
    let replaces = matches!(event, Event::PlanReplaced(_));
    let reopens = replaces || matches!(event, Event::Reopened { .. });
    let named = |step: &StepInst| (step.path.clone(), step.attempts);
    // Of very many that are under way most events stop none, and should not look at each.
    let open: Vec<(StepPath, u32)> =
        if all || some || reopens { state.open_attempts().map(named).collect() } else { Vec::new() };
    let over = matches!(event, Event::RunFinished { .. });
    // What waits for a worker is nobody's: a run that is being cancelled need not wait for it, only its end takes it away. Whoever
    // reopens the run finds it gone.
    let reopens_live = reopens && !state.is_finished();
    let takes_away = over || some || reopens_live || matches!(event, Event::HostLeft { .. } | Event::RunStopped { .. });
    let queued: Vec<(StepPath, u32)> = if takes_away { state.queued().map(named).collect() } else { Vec::new() };
    let envelope = Envelope { v: VERSION, seq: state.seq + 1, at, event };
    state.apply(planner.plan, planner.index, &envelope)?;
    let given_up = |path: &StepPath| state.find(path).is_none_or(|step| !step.phase.is_attempt());
    advance.stops.extend(open.into_iter().filter(|(path, _)| all || given_up(path)));
    let taken_away = |path: &StepPath| state.find(path).is_none_or(|step| !step.phase.is_queued());
    advance.stops.extend(queued.into_iter().filter(|(path, _)| over || taken_away(path)));
    advance.events.push(envelope);
    // The process that records a failed run also starts its `on_failure`, in one commit, so that no crash comes between.
    match hooks::owes(planner, state).filter(|_| over) {
        Some(attempt) => record(planner, state, Event::OnFailureStarted { attempt }, at, advance),
        None => Ok(()),
    }
}

/// How many attempts may run at once.
pub(crate) fn permits(plan: &Plan) -> u32 {
    plan.main().limits.parallel.unwrap_or(PARALLEL)
}

/// The next thing to record and do; `None` if the run waits for news.
pub fn decide(planner: Planner<'_>, state: &State) -> Option<Decision> {
    if state.is_finished() || state.started.is_none() {
        return None;
    }
    if let Some(decision) = ending(planner, state) {
        return Some(decision);
    }
    if state.cancelling || state.stopped.is_some() {
        return None;
    }
    if state.paused {
        return settled(planner, state);
    }
    if let Some(decision) = host_lost::decide(state) {
        return Some(decision);
    }
    if let Some(at) = state.agenda.undecided.front() {
        return Some(match state.step(*at).phase {
            Phase::Ready => start::start(planner, state, *at),
            Phase::Inside => inside::inside(planner, state, *at),
            Phase::Judge => judge::judge(planner, state, *at),
            // Nobody else is on the agenda; were it so, the run would stand still and say so.
            Phase::Attempt(_)
            | Phase::Queued(_)
            | Phase::Hosted(_)
            | Phase::Retry { .. }
            | Phase::Question(_)
            | Phase::Waiting { .. }
            | Phase::Done => {
                return None;
            }
        });
    }
    if state.root_ended {
        return Some(finish::finished(planner, state));
    }
    if let Some(kept) = state.earlier.as_ref().and_then(|_| keepable(planner, state)) {
        return Some(kept);
    }
    let mut queue = state.agenda.ready.iter().filter(|_| state.at_once() < permits(planner.plan) as usize);
    let next = *queue.find(|at| state.has_room(planner.plan, **at))?;
    let decision = start::start(planner, state, next);
    match decision.events.first() {
        Some(Event::AttemptStarted { attempt, .. }) => match finish::over_budget(planner, state, next, *attempt) {
            Some(over) => Some(over),
            // What is under way may use up the rest: nobody begins before that is known.
            None => Some(decision).filter(|_| !budget::is_all_set_aside(planner, state, next)),
        },
        _ => Some(decision),
    }
}

/// What the end of an attempt means for its step. That starts nothing, so it is also decided while a run is paused.
fn settled(planner: Planner<'_>, state: &State) -> Option<Decision> {
    let judged = state.agenda.undecided.iter().find(|at| state.step(**at).phase == Phase::Judge)?;
    Some(judge::judge(planner, state, *judged))
}

/// What is kept needs no permit.
fn keepable(planner: Planner<'_>, state: &State) -> Option<Decision> {
    let candidates = state.agenda.ready.iter().filter(|at| kept::is_candidate(state, **at));
    candidates
        .filter(|at| kept::redo(planner, state, **at).is_none())
        .map(|at| start::start(planner, state, *at))
        .find(|decision| decision.start.is_none())
}

/// The end of a run whatever its steps do: by a person, or by a limit.
fn ending(planner: Planner<'_>, state: &State) -> Option<Decision> {
    if state.is_finished() || state.started.is_none() {
        return None;
    }
    if state.cancelling {
        return finish::cancelled(state);
    }
    if state.stopped.is_some() {
        return None;
    }
    finish::spinning(state).or_else(|| finish::over_limit(planner, state))
}
