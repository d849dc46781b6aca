//! Runs whose history cannot be read to its end. Longhaul lists them, exports the readable part, ends them and removes
//! them.
//!
//! **Invariant:** a run that cannot be read does not disturb other runs, and can always be ended and removed.

use std::collections::BTreeSet;

use longhaul_core::event::{Envelope, Event, VERSION};
use longhaul_core::id::RunId;
use longhaul_core::plan::Outcome;
use longhaul_core::rejection::Rejection;
use longhaul_core::state::State;
use longhaul_core::status::RunStatus;
use longhaul_core::task::TaskKey;
use longhaul_store::{Append, Query, RunRow, StoreProblem, TaskEnd};

use crate::engine::{Engine, Error, Shared};
use crate::run::codec;
use crate::run::run_loop::{Loaded, load_from_start};

/// How many events or runs to read at once.
const PAGE: usize = 500;

/// The readable events of a run, and why there are no more.
#[derive(Debug)]
pub struct Readable {
    /// The events, from the first on.
    pub events: Vec<Envelope>,
    /// The problem with the next event.
    pub damage: Option<Error>,
}

impl Engine {
    /// The events of a run, up to the first that cannot be read.
    pub async fn readable(&self, run: &RunId) -> Result<Readable, Error> {
        let mut events: Vec<Envelope> = Vec::new();
        loop {
            let after = events.last().map_or(0, |envelope| envelope.seq);
            match self.next_events(run, after).await {
                Ok(more) if more.is_empty() => return Ok(Readable { events, damage: None }),
                Ok(more) => events.extend(more),
                Err((more, error)) if error.is_damage() => {
                    events.extend(more);
                    return Ok(Readable { events, damage: Some(error) });
                }
                Err((_, error)) => return Err(error),
            }
        }
    }

    /// The next events. An error comes with the events before it.
    async fn next_events(&self, run: &RunId, after: u64) -> Result<Vec<Envelope>, (Vec<Envelope>, Error)> {
        let store = self.shared.store.as_ref();
        let rows = match store.read(run, after, PAGE).await {
            // One of the events is corrupt: read the ones before it one by one.
            Err(longhaul_store::Error::Corrupt(_)) => store.read(run, after, 1).await,
            rows => rows,
        };
        let mut events = Vec::new();
        for row in rows.map_err(|error| (Vec::new(), error.into()))? {
            match codec::decode(row, store).await {
                Ok(envelope) => events.push(envelope),
                Err(error) => return Err((events, error)),
            }
        }
        Ok(events)
    }

    /// Checks the whole store: whether each run can be read, and whether its row, tasks and timers agree with its
    /// events.
    pub async fn check(&self) -> Result<Vec<StoreProblem>, Error> {
        let mut problems = self.shared.store.check().await?;
        let mut before = None;
        loop {
            let page = self.shared.store.runs(Query { before, limit: PAGE, ..Query::default() }).await?;
            for row in page.iter().filter(|row| !row.run.is_reserved()) {
                let text = self.look(row).await?;
                problems.extend(text.map(|text| StoreProblem { run: Some(row.run.clone()), text }));
            }
            if page.len() < PAGE {
                return Ok(problems);
            }
            before = page.last().map(|row| row.run.clone());
        }
    }

    /// The problem of a run, if it has one. A run that changes during the check counts as sound.
    async fn look(&self, row: &RunRow) -> Result<Option<String>, Error> {
        let run = &row.run;
        let wrong = match load_from_start(&self.shared, run).await {
            Ok(loaded) => self.differs(row, &loaded).await?,
            Err(Error::Store(longhaul_store::Error::Corrupt(_))) => None,
            Err(error) if error.is_damage() => Some(format!("run {run} cannot be read: {error}")),
            Err(Error::UnknownRun(_) | Error::Store(longhaul_store::Error::UnknownRun)) => None,
            Err(error) => return Err(error),
        };
        let now = self.shared.store.run(run).await?;
        Ok(wrong.filter(|_| now.is_some_and(|now| now.last_seq == row.last_seq)))
    }

    /// How the run's row, tasks and timers differ from its events.
    async fn differs(&self, row: &RunRow, loaded: &Loaded) -> Result<Option<String>, Error> {
        let (run, plan, state) = (&row.run, &loaded.plan.0, &loaded.state);
        let status = state.status_in(plan);
        if row.head.status != status.word() || row.head.workflow != plan.main().name {
            let said = format!("{} of `{}`", row.head.status, row.head.workflow);
            return Ok(Some(format!(
                "run {run}: lists show {said}; its events say {status} of `{}`",
                plan.main().name
            )));
        }
        if serde_json::from_str::<longhaul_core::Json>(&row.head.summary).is_err() {
            return Ok(Some(format!("run {run}: its row in lists cannot be read")));
        }
        let store = self.shared.store.as_ref();
        let tasks: BTreeSet<String> = store.tasks(run).await?.into_iter().map(|task| task.key).collect();
        if tasks != open_tasks(state) {
            return Ok(Some(format!("run {run}: its tasks do not match its events")));
        }
        let timers: BTreeSet<(String, i64)> =
            store.timers(run).await?.into_iter().map(|timer| (timer.id, timer.due_ms)).collect();
        let wanted: BTreeSet<(String, i64)> =
            state.timers(plan).into_iter().map(|(id, due)| (id.to_string(), due)).collect();
        Ok((timers != wanted).then(|| format!("run {run}: its timers do not match its events")))
    }
}

/// The tasks that a run must have in the store.
fn open_tasks(state: &State) -> BTreeSet<String> {
    let over = state.is_finished();
    let steps = state.open_attempts().chain(state.queued()).filter(|_| !over);
    let steps = steps.map(|step| step.task().to_string());
    steps.chain(state.on_failure.open_attempt().map(|attempt| TaskKey::OnFailure { attempt }.to_string())).collect()
}

/// Whether the run's row says that it is over. A run that cannot be read has nothing else.
pub(crate) fn is_over(row: &RunRow) -> bool {
    row.head.status.parse().is_ok_and(RunStatus::is_over)
}

/// Ends a run that cannot be read. No engine drives it again; its tasks, timers and messages are removed.
pub(crate) async fn give_up(shared: &Shared, run: &RunId, why: String) -> Result<Envelope, Error> {
    let row = shared.store.run(run).await?.ok_or_else(|| Error::UnknownRun(run.to_string()))?;
    if is_over(&row) {
        return Err(Rejection::untimely(format!("{run} is over: {}", row.head.status)).into());
    }
    let event = Event::RunFinished { outcome: Outcome::Cancelled, message: Some(why), outputs: Default::default() };
    let envelope = Envelope { v: VERSION, seq: row.last_seq + 1, at: shared.clock.now_ms(), event };
    let mut append =
        Append::new(run.clone(), row.last_seq, codec::encode_all(std::slice::from_ref(&envelope), &mut Vec::new())?);
    append.head = Some(longhaul_store::Head { status: RunStatus::Cancelled.to_string(), ..row.head });
    append.consumed = shared.store.inbox(run).await?.into_iter().map(|message| message.id).collect();
    append.timers_cleared = shared.store.timers(run).await?.into_iter().map(|timer| timer.id).collect();
    let tasks = shared.store.tasks(run).await?.into_iter();
    append.tasks_ended = tasks.map(|task| TaskEnd { key: task.key, attempt: task.attempt, worker: None }).collect();
    shared.store.append(append).await?;
    shared.notifier.tell(run);
    Ok(envelope)
}
