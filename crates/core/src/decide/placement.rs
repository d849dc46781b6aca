//! Decides which process runs a new attempt: this engine, or a worker.
//!
//! **Invariant:** a step that asks for labels, or for the machine on which the files of its run are, is begun only by somebody
//! who has them. A run of no known project is made where it was started, and after it has left that folder only in such whose project is not
//! known either. What the runtime knows comes as a [`Place`]; what follows from it is decided here.

use std::collections::{HashMap, HashSet};

use super::{Advance, Planner, Start};
use crate::event::Event;
use crate::path::StepPath;
use crate::plan::Step;
use crate::state::State;

/// Where somebody stands who is about to record what begins.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// The machine, where several share a store.
    pub host: Option<&'a str>,
    /// What it can do.
    pub labels: &'a [String],
    /// How many attempts it can begin now.
    pub room: usize,
    /// Whether steps that ask for such labels are counted over all machines, so that nobody just begins one.
    pub is_counted: &'a dyn Fn(&[String]) -> bool,
    /// The agent that makes a step, if its turns are counted over all machines.
    pub counted_agent: &'a dyn Fn(&Start) -> Option<String>,
}

const HOST: &str = "host:";
const AGENT: &str = "agent:";
const PROJECT: &str = "project:";

/// The label that workers of a machine have.
pub fn host_label(host: &str) -> String {
    format!("{HOST}{host}")
}

/// The label of steps that an agent makes whose turns are counted over all machines.
pub fn agent_label(agent: &str) -> String {
    format!("{AGENT}{agent}")
}

/// The label that workers in a checkout of a project have.
pub fn project_label(project: &str) -> String {
    format!("{PROJECT}{project}")
}

/// The label that workers have whose project is not known.
pub fn no_project_label() -> String {
    project_label("")
}

/// The project that a label asks for; an empty text for none that is known.
pub fn project_of_label(label: &str) -> Option<&str> {
    label.strip_prefix(PROJECT)
}

/// The machine that a label asks for.
pub fn host_of_label(label: &str) -> Option<&str> {
    label.strip_prefix(HOST)
}

/// The agent whose turns a label counts.
pub fn agent_of_label(label: &str) -> Option<&str> {
    label.strip_prefix(AGENT)
}

/// Whether people gave the label. The others only route work, or count it.
pub fn is_given(label: &str) -> bool {
    [HOST, AGENT, PROJECT].iter().all(|prefix| !label.starts_with(prefix))
}

/// Queues new attempts for a worker if this engine cannot run them.
pub fn place(planner: Planner<'_>, state: &mut State, advance: &mut Advance, place: Place<'_>) {
    let mut room = place.room;
    let mut placed: HashMap<StepPath, Option<Vec<String>>> = HashMap::new();
    for start in &advance.starts {
        let step = planner.plan.step(start.step);
        let agent = (place.counted_agent)(start);
        let needs = needs(state, step, place.host.is_some(), agent.as_deref());
        let can = needs.iter().all(|label| place.labels.contains(label)) && !(place.is_counted)(&needs);
        if can && room > 0 {
            room -= 1;
            if step.uses_files() {
                state.settle_on(place.host);
            }
            placed.insert(start.path.clone(), None);
        } else {
            state.queue_up(&start.path, needs.clone());
            placed.insert(start.path.clone(), Some(needs));
        }
    }
    for envelope in &mut advance.events {
        if let Event::AttemptStarted { path, host, queued, .. } = &mut envelope.event
            && let Some(labels) = placed.get(path)
        {
            queued.clone_from(labels);
            *host = place.host.filter(|_| labels.is_none()).map(str::to_owned);
        }
    }
    let waits: HashSet<&StepPath> =
        placed.iter().filter(|(_, labels)| labels.is_some()).map(|(path, _)| path).collect();
    advance.starts.retain(|start| !waits.contains(&start.path));
}

/// The labels that a worker must have, in one order, so that equal lists are equal texts.
fn needs(state: &State, step: &Step, is_shared: bool, agent: Option<&str>) -> Vec<String> {
    let is_at_home = state.home().is_some() && state.placement.host.as_deref() == state.home();
    let is_bound = step.uses_files() || (is_at_home && step.uses_checkout());
    let host = state.placement.host.as_deref().filter(|_| is_shared && is_bound).map(host_label);
    let project = match state.project() {
        None if state.home().is_some() && !is_at_home => Some(no_project_label()),
        project => project.map(project_label),
    };
    let project = project.filter(|_| is_shared && step.uses_checkout());
    let own = host.into_iter().chain(project).chain(agent.map(agent_label));
    let mut needs: Vec<String> = step.runs_on.iter().cloned().chain(own).collect();
    needs.sort();
    needs.dedup();
    needs
}
