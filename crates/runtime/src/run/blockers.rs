//! What holds a run up that its history does not tell: nobody who could do a step, a cap that is reached, a worker that is silent.
//!
//! **Invariant:** looking changes nothing.

use longhaul_agents::machine;
use longhaul_core::decide::agent_of_label;
use longhaul_core::explain::{Explanation, moment, waits_for};
use longhaul_core::id::RunId;
use longhaul_core::state::{State, StepInst};
use longhaul_store::{Caps, Listed, Task};

use crate::engine::{Engine, Error};
use crate::fleet::membership::attempt_of;
use crate::fleet::roster;

impl Engine {
    /// Adds what the store knows to why a run waits.
    pub async fn say_what_holds_up(&self, run: &RunId, state: &State, why: &mut Vec<Explanation>) -> Result<(), Error> {
        why.extend(self.no_room(state));
        let is_made_elsewhere = self.host().is_some() && state.open_attempts().next().is_some();
        if state.queued().next().is_none() && !is_made_elsewhere {
            return Ok(());
        }
        let store = &self.shared.store;
        let (workers, now) = (store.workers().await?, self.now_ms());
        // Whatever is held has run out by the end of time.
        let held = store.expired(i64::MAX, usize::MAX >> 1).await?;
        for step in state.queued() {
            let said = why.iter_mut().find(|said| said.path.as_ref() == Some(&step.path));
            let Some(said) = said else { continue };
            // What asks for a decision has said it all.
            if said.text != plain(step) {
                continue;
            }
            if let Some(missing) = roster::missing(&workers, &step.labels, now) {
                said.text.push_str(&missing);
            } else if let Some(cap) = self.reached(&held, step) {
                said.text = waits_for_cap(&step.path.to_string(), &cap);
            }
        }
        why.extend(held.iter().filter(|task| task.run == *run).filter_map(|task| silent(task, &workers, now)));
        Ok(())
    }

    /// That nothing can be written about the run, which cannot be recorded.
    fn no_room(&self, state: &State) -> Option<Explanation> {
        let folder = &self.shared.options.runs_dir;
        let is_stuck = !state.is_finished() && machine::is_full(folder);
        let text = || {
            format!("no space is left on the disk of {}; make room, the run then continues by itself", folder.display())
        };
        is_stuck.then(|| Explanation { path: None, text: text() })
    }

    /// The cap that keeps a step from being taken.
    fn reached(&self, held: &[Task], step: &StepInst) -> Option<String> {
        reached(&self.shared.options.member.caps, held, &step.labels)
    }
}

fn plain(step: &StepInst) -> String {
    waits_for(&step.path, &step.labels)
}

/// That a step could be taken, but for a cap.
pub(crate) fn waits_for_cap(path: &str, cap: &str) -> String {
    format!("`{path}` waits until another step ends: {cap} is reached")
}

/// The cap that keeps a step with these labels from being taken, as the settings write it.
pub(crate) fn reached(caps: &Caps, held: &[Task], labels: &[String]) -> Option<String> {
    let is_full = |count: usize, max: u32| count >= usize::try_from(max).unwrap_or(usize::MAX);
    let of_all = caps.all.filter(|max| is_full(held.len(), *max)).map(|max| format!("fleet.max = {max}"));
    let of_label = |label: &String| {
        let max = *caps.labels.get(label)?;
        let count = held.iter().filter(|task| task.labels.contains(label)).count();
        is_full(count, max).then(|| match agent_of_label(label) {
            Some(agent) => format!("fleet.backends.{agent}.max = {max}"),
            None => format!("fleet.labels.{label}.max = {max}"),
        })
    };
    labels.iter().find_map(of_label).or(of_all)
}

/// Who holds a step and has not been heard of for too long.
fn silent(task: &Task, workers: &[Listed], now: i64) -> Option<Explanation> {
    let holder = workers.iter().map(|listed| &listed.worker).find(|worker| task.worker.as_ref() == Some(&worker.id));
    let worker = holder.filter(|worker| roster::is_silent(worker.seen_ms, now))?;
    let (path, _) = attempt_of(&task.key)?;
    let place = if worker.host.is_empty() { String::new() } else { format!(" on `{}`", worker.host) };
    let text = format!(
        "`{path}` is held by {}{place}, of which nothing was heard since {}; it is made again after {}, when its lease ends",
        worker.name,
        moment(worker.seen_ms / 1000 * 1000),
        moment(task.lease_until_ms / 1000 * 1000)
    );
    Some(Explanation { path: Some(path), text })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(labels: &[&str]) -> Task {
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        Task {
            run: RunId::new("run-1").unwrap(),
            key: "one@1".to_owned(),
            attempt: 1,
            worker: Some(longhaul_store::WorkerId("w".to_owned())),
            lease_until_ms: 90_000,
            labels,
        }
    }

    #[test]
    fn the_cap_that_is_reached_is_named() {
        let caps = Caps { all: Some(2), labels: [("gpu".to_owned(), 1)].into() };
        let gpu = ["gpu".to_owned()];
        assert_eq!(reached(&caps, &[task(&[])], &gpu), None);
        assert_eq!(reached(&caps, &[task(&["gpu"])], &gpu).as_deref(), Some("fleet.labels.gpu.max = 1"));
        assert_eq!(reached(&caps, &[task(&["gpu"])], &[]), None);
        assert_eq!(reached(&caps, &[task(&[]), task(&[])], &gpu).as_deref(), Some("fleet.max = 2"));
    }
}
