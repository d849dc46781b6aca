//! Notices writes of other processes, and tells them about writes of this one.
//!
//! A sequence moves with every write, and each process reads it now and then: that alone is enough. `glance` reads it
//! as well, so a worker needs one question for both. A notification is a hint that speeds this up. One background
//! task sends it for all recent writes. No transaction sends it, because then all transactions would wait for each
//! other. Possible work is announced soon, mere progress rarely: every hint wakes all processes.
//!
//! **Invariant:** the writer reports its own writes at once. A later look at the sequence does not report them again.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, sleep_until};
use tokio_postgres::AsyncMessage;
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

use super::address::Address;
use super::ask::Desk;
use super::session;
use crate::Error;

/// The average time between two looks at the sequence, while there are watchers.
const LOOK_EVERY: Duration = Duration::from_millis(1500);
/// After a glance the next look waits this long for another glance.
const GLANCED: Duration = Duration::from_secs(4);
/// The least time between two hints about work.
const HINT_EVERY: Duration = Duration::from_millis(50);
/// The least time between two hints about progress.
const PROGRESS_EVERY: Duration = Duration::from_secs(1);
/// The pause before the process tries to listen again.
const LISTEN_AGAIN: Duration = Duration::from_secs(2);
/// The end of a hint that is only about progress.
const PROGRESS: &str = " progress";

/// The kind of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    /// Possible work: a run, a message, a free task.
    Work,
    /// Progress of a running step.
    Progress,
}

/// The news of a store.
pub(super) struct News {
    told: Arc<Told>,
    /// Background tasks. They end with the store.
    _tasks: [AbortOnDropHandle<()>; 3],
}

struct Told {
    changes: watch::Sender<u64>,
    /// Counts the changes that may be work.
    work: watch::Sender<u64>,
    /// The number of writes of this process.
    own: AtomicI64,
    seen: Mutex<Seen>,
    /// Wakes the task that sends hints.
    progress_written: Notify,
    work_written: Notify,
    /// Whether there was ever a watcher.
    watched: watch::Sender<bool>,
    /// The name that marks hints of this process.
    name: String,
}

/// The last known state of the sequence.
struct Seen {
    /// The number of writes of other processes.
    others: i64,
    /// Whether the last change must be reported once more.
    owed: bool,
    /// The time of the next look.
    next: Instant,
}

impl News {
    /// Reports all writes from now on.
    pub(super) async fn start(address: &Address, desk: &Arc<Desk>) -> Result<Self, Error> {
        let seen = Seen { others: last(desk).await?, owed: false, next: Instant::now() };
        let told = Arc::new(Told {
            changes: watch::Sender::new(0),
            work: watch::Sender::new(0),
            own: AtomicI64::new(0),
            seen: Mutex::new(seen),
            progress_written: Notify::new(),
            work_written: Notify::new(),
            watched: watch::Sender::new(false),
            name: Uuid::new_v4().simple().to_string(),
        });
        let channel = format!("longhaul_{}", address.schema);
        let look = tokio::spawn(look(Arc::clone(&told), Arc::clone(desk)));
        let hint = tokio::spawn(hint(Arc::clone(&told), Arc::clone(desk), channel.clone()));
        let listen = tokio::spawn(listen(Arc::clone(&told), address.clone(), channel));
        Ok(Self { told, _tasks: [look, hint, listen].map(AbortOnDropHandle::new) })
    }

    /// Counts a write of this process that was acknowledged.
    pub(super) fn wrote(&self, what: Written) {
        self.told.own.fetch_add(1, Ordering::SeqCst);
        self.told.tell(what);
        match what {
            Written::Work => self.told.work_written.notify_one(),
            Written::Progress => self.told.progress_written.notify_one(),
        }
    }

    /// The number of writes of this process. Read it before the sequence.
    pub(super) fn own(&self) -> i64 {
        self.told.own.load(Ordering::SeqCst)
    }

    /// Takes over a value of the sequence that `glance` read. Returns whether it woke the watchers.
    pub(super) fn saw(&self, last: i64, own: i64) -> bool {
        self.told.saw(last, own, GLANCED)
    }

    /// See [`crate::Store::watch`].
    pub(super) fn watch(&self) -> watch::Receiver<u64> {
        let receiver = self.told.changes.subscribe();
        self.told.watched.send_replace(true);
        receiver
    }

    /// See [`crate::Store::watch_work`].
    pub(super) fn watch_work(&self) -> watch::Receiver<u64> {
        let receiver = self.told.work.subscribe();
        self.told.watched.send_replace(true);
        receiver
    }
}

impl Told {
    fn tell(&self, what: Written) {
        let next = |number: &mut u64| *number = number.wrapping_add(1);
        self.changes.send_modify(next);
        if what == Written::Work {
            self.work.send_modify(next);
        }
    }

    /// The sequence can move a little before the write is visible, so each move is reported twice.
    fn saw(&self, last: i64, own: i64, rest: Duration) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let moved = std::mem::replace(&mut seen.others, last - own) != last - own;
        let is_news = std::mem::replace(&mut seen.owed, moved) || moved;
        seen.next = Instant::now() + rest;
        drop(seen);
        if is_news {
            self.tell(Written::Work);
        }
        is_news
    }

    fn next_look(&self) -> Instant {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).next
    }

    async fn somebody_watches(&self) {
        // The sender lives as long as `self`, so this cannot fail.
        let _ = self.watched.subscribe().wait_for(|watched| *watched).await;
    }
}

/// The number of writes so far. It may be too high: failed writes count as well.
async fn last(desk: &Desk) -> Result<i64, Error> {
    let rows = desk.read("SELECT last_value FROM change", &[]).await?;
    Ok(rows.first().map_or(0, |row| row.get(0)))
}

/// Reads the sequence if no glance has read it for long enough.
async fn look(told: Arc<Told>, desk: Arc<Desk>) {
    loop {
        told.somebody_watches().await;
        let pause = LOOK_EVERY.mul_f64(0.75 + f64::from(Uuid::new_v4().as_fields().1) / 131_070.0);
        let until = told.next_look();
        if Instant::now() < until {
            sleep_until(until).await;
            desk.let_go();
            continue;
        }
        let own = told.own.load(Ordering::SeqCst);
        match last(&desk).await {
            Ok(last) => drop(told.saw(last, own, pause)),
            // The store does not answer now. Try again later.
            Err(_) => sleep(pause).await,
        }
    }
}

async fn hint(told: Arc<Told>, desk: Arc<Desk>, channel: String) {
    let mut rested = Instant::now();
    loop {
        let progress = async {
            told.progress_written.notified().await;
            sleep_until(rested).await;
        };
        let said = tokio::select! {
            () = told.work_written.notified() => told.name.clone(),
            () = progress => format!("{}{PROGRESS}", told.name),
        };
        // Only a hint: a process that misses it reads the sequence later.
        let _ = desk.read("SELECT pg_notify($1, $2)", &[&channel, &said]).await;
        rested = Instant::now() + PROGRESS_EVERY;
        sleep(HINT_EVERY).await;
    }
}

async fn listen(told: Arc<Told>, address: Address, channel: String) {
    loop {
        told.somebody_watches().await;
        listen_once(&told, &address, &channel).await;
        sleep(LISTEN_AGAIN).await;
    }
}

/// Listens until the connection ends.
async fn listen_once(told: &Told, address: &Address, channel: &str) {
    let Ok((client, mut connection)) = session::alone(address).await else { return };
    let command = format!("LISTEN {channel}");
    let asked = client.batch_execute(&command);
    let mut asked = std::pin::pin!(asked);
    let mut is_asked = false;
    loop {
        tokio::select! {
            said = &mut asked, if !is_asked => match said {
                Ok(()) => is_asked = true,
                Err(_) => return,
            },
            message = std::future::poll_fn(|context| connection.poll_message(context)) => match message {
                Some(Ok(AsyncMessage::Notification(hint))) => heard(told, hint.payload()),
                Some(Ok(_)) => {}
                _ => return,
            },
        }
    }
}

fn heard(told: &Told, hint: &str) {
    let (name, what) = match hint.strip_suffix(PROGRESS) {
        Some(name) => (name, Written::Progress),
        None => (hint, Written::Work),
    };
    if name != told.name {
        told.tell(what);
    }
}
