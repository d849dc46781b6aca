//! Several workers on two machines: who records is not always who makes, takers die before they begin, machines fall silent.

use longhaul_core::decide::{Advance, Place, Planner, host_label, host_of_label, place, start_of};
use longhaul_core::event::{Answer, Carried, Event, Gone};
use longhaul_core::path::StepPath;

use super::Sim;

const MACHINES: [&str; 2] = ["alpha", "beta"];

impl Sim {
    /// Some worker records what was decided: what it cannot make, it leaves to others.
    pub(super) fn place(&mut self, taken: &mut Advance) {
        if !self.is_fleet {
            return;
        }
        let host = *self.chance.pick(&MACHINES);
        let labels = [host_label(host)];
        let room = self.chance.index(3);
        let counted = self.chance.one_in(4);
        let planner = Planner { plan: &self.plan, index: &self.index };
        let at = Place { host: Some(host), labels: &labels, room, is_counted: &|_| counted, counted_agent: &|_| None };
        place(planner, &mut self.state, taken, at);
        let claimed = taken.events.iter().filter_map(|envelope| match &envelope.event {
            Event::AttemptClaimed { path, .. } => start_of(planner, &self.state, path),
            _ => None,
        });
        taken.starts.extend(claimed.collect::<Vec<_>>());
    }

    fn missed(&mut self, host: String) -> Event {
        let then = *self.chance.pick(&[Gone::Pause, Gone::Ask, Gone::Rebuild]);
        Event::HostMissed { host, since: self.now, then }
    }

    /// What a person says about a machine, whether anybody asked or not: what does not fit must be refused.
    fn decided(&mut self, path: StepPath) -> Event {
        let word = *self.chance.pick(&["wait", "leave", "rebuild", "cancel", "perhaps"]);
        Event::answered(path, Answer::Value { value: word.into() })
    }

    /// The files of some attempts are recorded where other machines find them.
    pub(super) fn carried(&mut self) -> Option<Carried> {
        let number = self.state.seq;
        let is_sent = self.is_fleet && self.chance.one_in(3);
        is_sent.then(|| Carried { commit: format!("c{number}"), name: "refs".to_owned(), number })
    }

    /// The next thing that happens to an attempt that waits for a worker.
    pub(super) fn waits_for_worker(&mut self, path: StepPath) -> Event {
        let step = self.state.find(&path).map(|step| (step.attempts, step.labels.clone()));
        let (attempt, labels) = step.unwrap_or_default();
        let needed = labels.iter().find_map(|label| host_of_label(label)).map(str::to_owned);
        match (needed, self.chance.below(if self.is_patient() { 8 } else { 1 })) {
            (_, 7) => Event::AttemptReleased { path, attempt },
            (Some(host), 6) => self.missed(host),
            (Some(host), 5) => Event::HostLeft { host, by: None, carried: None },
            (Some(_), 4) => self.decided(path),
            (needed, _) => {
                let host = needed.unwrap_or_else(|| (*self.chance.pick(&MACHINES)).to_owned());
                Event::AttemptClaimed { path, attempt, worker: format!("worker on {host}"), host: Some(host) }
            }
        }
    }
}
