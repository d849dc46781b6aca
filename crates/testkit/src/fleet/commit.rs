//! One commit of a worker: the decisions, the placement, and the tasks that go with it.

use longhaul_core::decide::{Advance, Place, Planner, place};
use longhaul_core::event::Event;
use longhaul_core::state::State;
use longhaul_core::status::RunStatus;
use longhaul_core::task::TaskKey;
use longhaul_store::{Append, EventId, Head, NewEvent, NewTask, TaskEnd, WorkerId};

use super::{ANSWER_MS, Fleet, Happening, LEASE_MS, Told, id, now};
use crate::whole::advance;

impl Fleet {
    /// Records news of a run; returns false if the store refused it, or if it is outdated.
    pub(super) fn commit(&mut self, at: usize, run: u64, news: Vec<Event>) -> Result<bool, String> {
        let Some(state) = self.runs.get(&run) else { return Ok(false) };
        let (mut state, expected) = (state.clone(), state.seq);
        let planner = Planner { plan: &self.plan, index: &self.index };
        // News about a closed attempt is rejected; the worker sees that when it loads the run.
        let Ok(mut taken) = advance(planner, &mut state, news, self.now) else { return Ok(false) };
        let worker = &self.workers[at];
        let is_counted = |labels: &[String]| self.caps.count(labels);
        let here = Place {
            host: Some(&worker.host),
            labels: &worker.labels,
            room: worker.room(),
            is_counted: &is_counted,
            counted_agent: &|_| None,
        };
        place(planner, &mut state, &mut taken, here);
        let append = self.append(&worker.id, (run, expected), &state, &taken)?;
        if now(self.store.append(append)).is_err() {
            return Ok(false);
        }
        self.report.commits += 1;
        self.report.events += taken.events.len() as u64;
        self.begins(at, run, &taken)?;
        self.keeps(run, state)?;
        Ok(true)
    }

    fn append(
        &self,
        worker: &WorkerId,
        (run, expected): (u64, u64),
        state: &State,
        taken: &Advance,
    ) -> Result<Append, String> {
        let event = |envelope: &longhaul_core::event::Envelope| NewEvent {
            id: EventId(u128::from(run) << 64 | u128::from(envelope.seq)),
            at_ms: envelope.at,
            body: "{}".to_owned(),
        };
        let mut append = Append::new(id(run)?, expected, taken.events.iter().map(event).collect());
        append.head = Some(Head { status: state.status().to_string(), ..Head::default() });
        for envelope in &taken.events {
            tasks(worker, state, &envelope.event, &mut append);
        }
        Ok(append)
    }

    /// Schedules the ends of the attempts that this commit starts.
    fn begins(&mut self, at: usize, run: u64, taken: &Advance) -> Result<(), String> {
        let starts = taken.starts.iter().map(|start| (start.path.to_string(), start.attempt));
        let claims = taken.events.iter().filter_map(|envelope| match &envelope.event {
            Event::AttemptClaimed { path, attempt, .. } => Some((path.to_string(), *attempt)),
            _ => None,
        });
        for (path, attempt) in starts.chain(claims).collect::<Vec<_>>() {
            let key = (run, path.clone(), attempt);
            let other = self.at_work.insert(key, at).filter(|other| self.workers[*other].is_awake());
            if let Some(other) = other {
                return Err(format!("workers {other} and {at} are both at `{path}@{attempt}` of run {run}"));
            }
            self.workers[at].busy += 1;
            let ms = 5_000 + self.below(90_000);
            self.after(ms, Happening::Ends(at, run, path, attempt));
        }
        for envelope in &taken.events {
            if let Event::AttemptSucceeded { path, attempt, .. } = &envelope.event {
                self.at_work.remove(&(run, path.to_string(), *attempt));
            }
        }
        Ok(())
    }

    /// Forgets a finished run; an open one must have a worker, or wait for something with a name.
    fn keeps(&mut self, run: u64, state: State) -> Result<(), String> {
        if state.is_finished() {
            self.runs.remove(&run);
            let status = state.status();
            return if status == RunStatus::Succeeded {
                now(self.store.remove(&id(run)?))
            } else {
                Err(format!("run {run} {status}"))
            };
        }
        let open = state.open_attempts().chain(state.queued()).count();
        let tasks = now(self.store.tasks(&id(run)?))?.len();
        let timers = state.timers(&self.plan);
        let asking: Vec<String> = state.questions().map(|(step, _)| step.path.to_string()).collect();
        if open != tasks || open + timers.len() + asking.len() == 0 {
            return Err(format!("run {run} has {open} attempts, {tasks} tasks and {} timers", timers.len()));
        }
        for (timer, due) in timers {
            self.after((due - self.now).max(0), Happening::Tells(run, Told::Timer(timer)));
        }
        for path in asking {
            self.after(ANSWER_MS, Happening::Tells(run, Told::Again(path)));
        }
        self.runs.insert(run, state);
        Ok(())
    }
}

/// The tasks of an event, as the engine makes them.
fn tasks(worker: &WorkerId, state: &State, event: &Event, append: &mut Append) {
    let labels = |path| state.find(path).map(|step| step.labels().to_vec()).unwrap_or_default();
    let start = |key: String, attempt: u32, worker: Option<WorkerId>, labels: Vec<String>| NewTask {
        key,
        attempt,
        worker,
        lease_ms: LEASE_MS,
        labels,
    };
    match event {
        Event::AttemptStarted { path, attempt, queued, .. } => {
            let holder = queued.is_none().then(|| worker.clone());
            let labels = queued.clone().unwrap_or_default();
            append.tasks_started.push(start(TaskKey::new(path, *attempt).to_string(), *attempt, holder, labels));
        }
        Event::AttemptClaimed { path, attempt, .. } => {
            let key = TaskKey::new(path, *attempt).to_string();
            append.tasks_ended.push(TaskEnd { key: key.clone(), attempt: *attempt, worker: Some(worker.clone()) });
            append.tasks_started.push(start(key, *attempt, Some(worker.clone()), labels(path)));
        }
        Event::AttemptReleased { path, attempt } => {
            let key = TaskKey::new(path, *attempt).to_string();
            append.tasks_ended.push(TaskEnd { key: key.clone(), attempt: *attempt, worker: None });
            append.tasks_started.push(start(key, *attempt, None, labels(path)));
        }
        Event::AttemptSucceeded { path, attempt, .. } => {
            let (key, worker) = (TaskKey::new(path, *attempt).to_string(), Some(worker.clone()));
            append.tasks_ended.push(TaskEnd { key, attempt: *attempt, worker });
        }
        Event::AttemptFailed { path, attempt, .. } => {
            append.tasks_ended.push(TaskEnd {
                key: TaskKey::new(path, *attempt).to_string(),
                attempt: *attempt,
                worker: None,
            });
        }
        _ => {}
    }
}
