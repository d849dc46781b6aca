//! The reference store: plain maps behind one lock, nothing kept when the process ends.
//!
//! **Invariant:** a call checks first and writes after, so a refused call has written nothing. Here simple code
//! matters more than speed.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use longhaul_core::id::RunId;
use tokio::sync::watch;

use crate::append::validate_snapshot;
use crate::claim::{Free, Held, choose};
use crate::{
    Append, Claim, Error, EventId, FORGOTTEN_MS, Glance, Hash, Head, InboxMessage, Listed, MessageId, NewMessage,
    NewTask, Pending, Posted, Query, RunRow, Store, StoreProblem, StoredEvent, Task, TaskEnd, Timer, Worker, WorkerId,
};

/// A store in memory.
#[derive(Debug, Default)]
pub struct Memory {
    tables: Mutex<Tables>,
    changes: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Tables {
    runs: HashMap<RunId, Run>,
    event_ids: HashSet<EventId>,
    blobs: HashMap<Hash, Vec<u8>>,
    tasks: BTreeMap<u64, Task>,
    messages: BTreeMap<MessageId, InboxMessage>,
    posted: HashSet<(String, String)>,
    workers: HashMap<WorkerId, Worker>,
    /// The last number given to a run, a task or a message.
    numbers: u64,
}

#[derive(Debug)]
struct Run {
    number: u64,
    head: Head,
    events: Vec<StoredEvent>,
    timers: BTreeMap<String, i64>,
    blobs: BTreeSet<Hash>,
    snapshot: Option<(u64, Vec<u8>)>,
}

impl Memory {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn look<'a, T: Send + 'a>(&'a self, read: impl FnOnce(&Tables) -> Result<T, Error> + Send + 'a) -> Pending<'a, T> {
        Box::pin(async move { read(&self.tables.lock().unwrap_or_else(PoisonError::into_inner)) })
    }

    /// `write` returns whether it changed something, so that a worker that finds nothing does not wake itself.
    fn change<'a, T: Send + 'a>(
        &'a self,
        write: impl FnOnce(&mut Tables) -> Result<(T, bool), Error> + Send + 'a,
    ) -> Pending<'a, T> {
        Box::pin(async move {
            let (answer, changed) = write(&mut self.tables.lock().unwrap_or_else(PoisonError::into_inner))?;
            if changed {
                self.changes.send_modify(|number| *number += 1);
            }
            Ok(answer)
        })
    }
}

impl Store for Memory {
    fn append(&self, append: Append) -> Pending<'_, u64> {
        self.change(move |tables| {
            append.validate()?;
            tables.may_append(&append)?;
            Ok((tables.append(append), true))
        })
    }

    fn read(&self, run: &RunId, after: u64, limit: usize) -> Pending<'_, Vec<StoredEvent>> {
        let run = run.clone();
        self.look(move |tables| {
            let events = &tables.known(&run)?.events;
            Ok(events.iter().filter(|event| event.seq > after).take(limit).cloned().collect())
        })
    }

    fn run(&self, run: &RunId) -> Pending<'_, Option<RunRow>> {
        let id = run.clone();
        self.look(move |tables| Ok(tables.runs.get(&id).map(|run| run.row(&id))))
    }

    fn runs(&self, query: Query) -> Pending<'_, Vec<RunRow>> {
        self.look(move |tables| tables.list(&query))
    }

    fn blob(&self, hash: Hash) -> Pending<'_, Option<Vec<u8>>> {
        self.look(move |tables| Ok(tables.blobs.get(&hash).cloned()))
    }

    fn post(&self, message: NewMessage) -> Pending<'_, Posted> {
        self.change(move |tables| {
            message.validate()?;
            let posted = tables.post(message)?;
            Ok((posted, posted == Posted::New))
        })
    }

    fn inbox(&self, run: &RunId) -> Pending<'_, Vec<InboxMessage>> {
        let run = run.clone();
        self.look(move |tables| Ok(tables.messages.values().filter(|message| message.run == run).cloned().collect()))
    }

    fn with_mail(&self, limit: usize) -> Pending<'_, Vec<RunId>> {
        self.look(move |tables| {
            let mut seen = HashSet::new();
            let runs = tables.messages.values().map(|message| &message.run);
            Ok(runs.filter(|run| seen.insert(*run)).take(limit).cloned().collect())
        })
    }

    fn due(&self, now_ms: i64, limit: usize) -> Pending<'_, Vec<Timer>> {
        self.look(move |tables| {
            let mut due: Vec<Timer> = tables.timers().filter(|timer| timer.due_ms <= now_ms).collect();
            due.sort_by(|a, b| (a.due_ms, &a.run, &a.id).cmp(&(b.due_ms, &b.run, &b.id)));
            due.truncate(limit);
            Ok(due)
        })
    }

    fn next_due(&self) -> Pending<'_, Option<i64>> {
        self.look(|tables| Ok(tables.timers().map(|timer| timer.due_ms).min()))
    }

    fn glance(&self) -> Pending<'_, Glance> {
        self.look(|tables| {
            let newest = tables.runs.iter().max_by_key(|(_, run)| run.number);
            Ok(Glance {
                mail: !tables.messages.is_empty(),
                next_due: tables.timers().map(|timer| timer.due_ms).min(),
                unheld: tables.tasks.values().any(|task| task.worker.is_none()),
                newest: newest.map(|(id, _)| id.clone()),
                moved: false,
            })
        })
    }

    fn claim(&self, claim: Claim) -> Pending<'_, Vec<Task>> {
        self.change(move |tables| {
            let claimed = tables.claim(&claim);
            let some = !claimed.is_empty();
            Ok((claimed, some))
        })
    }

    fn renew(&self, worker: &WorkerId, now_ms: i64, lease_ms: i64) -> Pending<'_, Vec<Task>> {
        let worker = worker.clone();
        self.change(move |tables| {
            let held = tables.tasks.values_mut().filter(|task| task.worker.as_ref() == Some(&worker));
            let renewed = held.map(|task| {
                task.lease_until_ms = now_ms.saturating_add(lease_ms);
                task.clone()
            });
            let renewed: Vec<Task> = renewed.collect();
            let some = !renewed.is_empty();
            Ok((renewed, some))
        })
    }

    fn expired(&self, now_ms: i64, limit: usize) -> Pending<'_, Vec<Task>> {
        self.look(move |tables| {
            let held = tables.tasks.values().filter(|task| task.worker.is_some());
            let mut expired: Vec<Task> = held.filter(|task| task.lease_until_ms <= now_ms).cloned().collect();
            expired.sort_by_key(|task| task.lease_until_ms);
            expired.truncate(limit);
            Ok(expired)
        })
    }

    fn tasks(&self, run: &RunId) -> Pending<'_, Vec<Task>> {
        let run = run.clone();
        self.look(move |tables| Ok(tables.tasks.values().filter(|task| task.run == run).cloned().collect()))
    }

    fn greet(&self, worker: Worker) -> Pending<'_, ()> {
        self.change(move |tables| {
            let silent = worker.seen_ms.saturating_sub(FORGOTTEN_MS);
            tables.workers.retain(|_, known| known.seen_ms > silent);
            tables.workers.insert(worker.id.clone(), worker);
            Ok(((), false))
        })
    }

    fn dismiss(&self, worker: &WorkerId) -> Pending<'_, ()> {
        let worker = worker.clone();
        self.change(move |tables| {
            tables.workers.remove(&worker);
            Ok(((), false))
        })
    }

    fn workers(&self) -> Pending<'_, Vec<Listed>> {
        self.look(|tables| {
            let busy = |id: &WorkerId| tables.tasks.values().filter(|task| task.worker.as_ref() == Some(id)).count();
            let listed = |worker: &Worker| Listed {
                busy: u32::try_from(busy(&worker.id)).unwrap_or(u32::MAX),
                worker: worker.clone(),
            };
            let mut workers: Vec<Listed> = tables.workers.values().map(listed).collect();
            workers.sort_by(|a, b| (&a.worker.name, &a.worker.id).cmp(&(&b.worker.name, &b.worker.id)));
            Ok(workers)
        })
    }

    fn unheld(&self, limit: usize) -> Pending<'_, Vec<Task>> {
        self.look(move |tables| {
            Ok(tables.tasks.values().filter(|task| task.worker.is_none()).take(limit).cloned().collect())
        })
    }

    fn save_snapshot(&self, run: &RunId, seq: u64, bytes: Vec<u8>) -> Pending<'_, ()> {
        let run = run.clone();
        self.change(move |tables| {
            validate_snapshot(&bytes)?;
            let run = tables.runs.get_mut(&run).ok_or(Error::UnknownRun)?;
            if seq > run.last_seq() {
                return Err(Error::Invalid("a snapshot is of a seq that the run has reached"));
            }
            let newer = run.snapshot.as_ref().is_none_or(|(kept, _)| *kept <= seq);
            if newer {
                run.snapshot = Some((seq, bytes));
            }
            Ok(((), newer))
        })
    }

    fn snapshot(&self, run: &RunId) -> Pending<'_, Option<(u64, Vec<u8>)>> {
        let run = run.clone();
        self.look(move |tables| Ok(tables.runs.get(&run).and_then(|run| run.snapshot.clone())))
    }

    fn blobs(&self, run: &RunId) -> Pending<'_, Vec<Hash>> {
        let run = run.clone();
        self.look(move |tables| {
            Ok(tables.runs.get(&run).map(|run| run.blobs.iter().copied().collect()).unwrap_or_default())
        })
    }

    fn timers(&self, run: &RunId) -> Pending<'_, Vec<Timer>> {
        let run = run.clone();
        self.look(move |tables| Ok(tables.timers().filter(|timer| timer.run == run).collect()))
    }

    fn posted(&self, after: Option<(String, String)>, limit: usize) -> Pending<'_, Vec<(String, String)>> {
        self.look(move |tables| {
            let later = tables.posted.iter().filter(|posted| after.as_ref().is_none_or(|after| *posted > after));
            let later: BTreeSet<&(String, String)> = later.collect();
            Ok(later.into_iter().take(limit).cloned().collect())
        })
    }

    fn remember(&self, posted: Vec<(String, String)>) -> Pending<'_, ()> {
        self.change(move |tables| {
            tables.posted.extend(posted);
            Ok(((), true))
        })
    }

    fn remove(&self, run: &RunId) -> Pending<'_, ()> {
        let run = run.clone();
        self.change(move |tables| Ok((tables.remove(&run)?, true)))
    }

    fn watch(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Always healthy: there is no disk, and only this file writes.
    fn check(&self) -> Pending<'_, Vec<StoreProblem>> {
        self.look(|_| Ok(Vec::new()))
    }
}

impl Tables {
    fn known(&self, run: &RunId) -> Result<&Run, Error> {
        self.runs.get(run).ok_or(Error::UnknownRun)
    }

    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    fn may_append(&self, append: &Append) -> Result<(), Error> {
        self.in_place(append)?;
        if append.events.iter().any(|event| self.event_ids.contains(&event.id)) {
            return Err(Error::Exists);
        }
        append.tasks_ended.iter().try_for_each(|end| self.may_end(&append.run, end))?;
        append.tasks_started.iter().try_for_each(|task| self.may_start(append, task))?;
        append.consumed.iter().try_for_each(|id| match self.messages.get(id) {
            Some(message) if message.run == append.run => Ok(()),
            _ => Err(Error::Conflict { actual: append.expected }),
        })
    }

    fn in_place(&self, append: &Append) -> Result<(), Error> {
        let Some(run) = self.runs.get(&append.run) else {
            return if append.expected == 0 { Ok(()) } else { Err(Error::UnknownRun) };
        };
        let there = run.events.iter().filter(|event| event.seq > append.expected).map(|event| event.id);
        if there.take(append.events.len()).eq(append.events.iter().map(|event| event.id)) {
            return Err(Error::AlreadyApplied);
        }
        match append.expected {
            0 => Err(Error::Exists),
            seq if seq == run.last_seq() => Ok(()),
            _ => Err(Error::Conflict { actual: run.last_seq() }),
        }
    }

    fn open(&self, run: &RunId, key: &str) -> Option<(u64, &Task)> {
        let mut tasks = self.tasks.iter().map(|(number, task)| (*number, task));
        tasks.find(|(_, task)| task.run == *run && task.key == key)
    }

    fn may_end(&self, run: &RunId, end: &TaskEnd) -> Result<(), Error> {
        match self.open(run, &end.key) {
            Some((_, task)) if task.attempt == end.attempt && (end.worker.is_none() || end.worker == task.worker) => {
                Ok(())
            }
            _ => Err(Error::Fenced { key: end.key.clone() }),
        }
    }

    fn may_start(&self, append: &Append, task: &NewTask) -> Result<(), Error> {
        let ended = append.tasks_ended.iter().any(|end| end.key == task.key);
        if !ended && self.open(&append.run, &task.key).is_some() { Err(Error::Exists) } else { Ok(()) }
    }

    fn append(&mut self, append: Append) -> u64 {
        self.event_ids.extend(append.events.iter().map(|event| event.id));
        for end in &append.tasks_ended {
            if let Some((number, _)) = self.open(&append.run, &end.key) {
                self.tasks.remove(&number);
            }
        }
        for task in &append.tasks_started {
            let number = self.number();
            self.tasks.insert(number, started(&append, task));
        }
        for id in &append.consumed {
            self.messages.remove(id);
        }
        let number = self.number();
        let run = self.runs.entry(append.run).or_insert_with(|| Run::new(number));
        run.head = append.head.unwrap_or_else(|| run.head.clone());
        for (seq, event) in (append.expected + 1..).zip(append.events) {
            run.events.push(StoredEvent { seq, id: event.id, at_ms: event.at_ms, body: event.body });
        }
        run.timers.retain(|id, _| !append.timers_cleared.contains(id));
        run.timers.extend(append.timers_set.into_iter().map(|timer| (timer.id, timer.due_ms)));
        for blob in append.blobs {
            run.blobs.insert(blob.hash);
            self.blobs.insert(blob.hash, blob.bytes);
        }
        run.last_seq()
    }

    fn claim(&mut self, claim: &Claim) -> Vec<Task> {
        let mut held = Held::new();
        for task in self.tasks.values().filter(|task| task.worker.is_some()) {
            held.add(task.run.clone(), &task.labels, 1);
        }
        let is_wanted = |task: &Task| task.worker.is_none() && claim.run.as_ref().is_none_or(|run| *run == task.run);
        let free = self.tasks.iter().filter(|(_, task)| is_wanted(task)).map(|(number, task)| Free {
            number: *number,
            run: task.run.clone(),
            labels: task.labels.clone(),
        });
        let chosen = choose(claim, free.collect(), held);
        let taken = chosen.iter().filter_map(|number| {
            let task = self.tasks.get_mut(number)?;
            task.worker = Some(claim.worker.clone());
            task.lease_until_ms = claim.until_ms();
            Some(task.clone())
        });
        taken.collect()
    }

    fn list(&self, query: &Query) -> Result<Vec<RunRow>, Error> {
        let bound = |run: &Option<RunId>| run.as_ref().map(|run| self.known(run).map(|run| run.number)).transpose();
        let (before, after) = (bound(&query.before)?, bound(&query.after)?);
        let between = |run: &Run| before.is_none_or(|end| run.number < end) && after.is_none_or(|end| run.number > end);
        let attended: HashSet<&RunId> = match query.unattended_at_ms {
            Some(now) => self.attended(now).collect(),
            None => HashSet::new(),
        };
        let is_asked = |id: &RunId, run: &Run| between(run) && asked(query, id, run) && !attended.contains(id);
        let mut runs: Vec<_> = self.runs.iter().filter(|(id, run)| is_asked(id, run)).collect();
        runs.sort_by_key(|(_, run)| std::cmp::Reverse(run.number));
        Ok(runs.into_iter().take(query.limit).map(|(id, run)| run.row(id)).collect())
    }

    /// The runs that have a task that waits for a worker, or that a worker holds.
    fn attended(&self, now_ms: i64) -> impl Iterator<Item = &RunId> {
        let tasks = self.tasks.values().filter(move |task| task.worker.is_none() || task.lease_until_ms > now_ms);
        tasks.map(|task| &task.run)
    }

    fn timers(&self) -> impl Iterator<Item = Timer> {
        self.runs.iter().flat_map(|(run, kept)| {
            kept.timers.iter().map(|(id, due_ms)| Timer { run: run.clone(), id: id.clone(), due_ms: *due_ms })
        })
    }

    fn post(&mut self, message: NewMessage) -> Result<Posted, Error> {
        let NewMessage { run, source, dedup, body, at_ms } = message;
        if self.posted.contains(&(source.clone(), dedup.clone())) {
            return Ok(Posted::Duplicate);
        }
        self.known(&run)?;
        self.posted.insert((source.clone(), dedup.clone()));
        let id = MessageId(self.number().cast_signed());
        self.messages.insert(id, InboxMessage { id, run, source, dedup, body, at_ms });
        Ok(Posted::New)
    }

    fn remove(&mut self, id: &RunId) -> Result<(), Error> {
        let gone = self.runs.remove(id).ok_or(Error::UnknownRun)?;
        for event in &gone.events {
            self.event_ids.remove(&event.id);
        }
        self.tasks.retain(|_, task| task.run != *id);
        self.messages.retain(|_, message| message.run != *id);
        let runs = &self.runs;
        self.blobs.retain(|hash, _| runs.values().any(|run| run.blobs.contains(hash)));
        Ok(())
    }
}

impl Run {
    fn new(number: u64) -> Self {
        Self {
            number,
            head: Head::default(),
            events: Vec::new(),
            timers: BTreeMap::new(),
            blobs: BTreeSet::new(),
            snapshot: None,
        }
    }

    fn last_seq(&self) -> u64 {
        self.events.last().map_or(0, |event| event.seq)
    }

    fn row(&self, id: &RunId) -> RunRow {
        RunRow {
            run: id.clone(),
            head: self.head.clone(),
            last_seq: self.last_seq(),
            created_ms: self.events.first().map_or(0, |event| event.at_ms),
            updated_ms: self.events.last().map_or(0, |event| event.at_ms),
        }
    }
}

fn started(append: &Append, task: &NewTask) -> Task {
    Task {
        run: append.run.clone(),
        key: task.key.clone(),
        attempt: task.attempt,
        worker: task.worker.clone(),
        lease_until_ms: append.lease_until_ms(task),
        labels: task.labels.clone(),
    }
}

fn asked(query: &Query, id: &RunId, run: &Run) -> bool {
    let head = &run.head;
    let at = |event: Option<&StoredEvent>| event.map_or(0, |event| event.at_ms);
    let (created, updated) = (at(run.events.first()), at(run.events.last()));
    (query.statuses.is_empty() || query.statuses.contains(&head.status))
        && query.workflow.as_ref().is_none_or(|workflow| *workflow == head.workflow)
        && query.group.as_ref().is_none_or(|group| head.group.as_ref() == Some(group))
        && query.parent.as_ref().is_none_or(|parent| head.parent.as_ref() == Some(parent))
        && query.prefix.as_ref().is_none_or(|prefix| id.as_str().starts_with(prefix.as_str()))
        && query.created_from_ms.is_none_or(|time| created >= time)
        && query.created_before_ms.is_none_or(|time| created < time)
        && query.updated_from_ms.is_none_or(|time| updated >= time)
}
