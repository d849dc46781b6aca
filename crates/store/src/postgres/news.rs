//! Hears of what others write, and tells others of what is written here.
//!
//! A sequence moves with every write, and is looked at now and then: that alone is enough. Who glances at the store looks at it
//! as well, so a worker asks once for both. A notification is a hint that makes it sooner. It is sent by one task for all
//! writes of a moment, never by a transaction: there it would make all of them wait for each other. What may be work for
//! somebody is hinted at soon, mere progress rarely: every hint wakes everybody.
//!
//! **Invariant:** own writes are told at once by whoever made them, and are not told again when the sequence is looked at.

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

/// How often the sequence is looked at while somebody watches, on the average.
const LOOK_EVERY: Duration = Duration::from_millis(1500);
/// After a glance another one is waited for, so long.
const GLANCED: Duration = Duration::from_secs(4);
/// The least time between two hints of a process at work.
const HINT_EVERY: Duration = Duration::from_millis(50);
/// The least time between two hints of a process at progress.
const PROGRESS_EVERY: Duration = Duration::from_secs(1);
/// Between two tries to listen.
const LISTEN_AGAIN: Duration = Duration::from_secs(2);
/// What a hint ends with that is about progress alone.
const PROGRESS: &str = " progress";

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    /// Something that may be work for somebody: a run, a message, a task that nobody holds.
    Work,
    /// What whoever is running does.
    Progress,
}

/// The news of a store.
pub(super) struct News {
    told: Arc<Told>,
    /// Ended with the store.
    _tasks: [AbortOnDropHandle<()>; 3],
}

struct Told {
    changes: watch::Sender<u64>,
    /// Those of the changes that may be work.
    work: watch::Sender<u64>,
    /// How many writes were made here.
    own: AtomicI64,
    seen: Mutex<Seen>,
    /// Something was written here.
    progress_written: Notify,
    work_written: Notify,
    /// Whether somebody ever began to watch.
    watched: watch::Sender<bool>,
    /// How hints of this process are known.
    name: String,
}

/// What was last seen of the sequence.
struct Seen {
    /// How many writes of others.
    others: i64,
    /// Whether the last move is to be told once more.
    owed: bool,
    /// When it is to be looked at next.
    next: Instant,
}

impl News {
    /// What is written from now on is news.
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

    /// One write of ours was answered.
    pub(super) fn wrote(&self, what: Written) {
        self.told.own.fetch_add(1, Ordering::SeqCst);
        self.told.tell(what);
        match what {
            Written::Work => self.told.work_written.notify_one(),
            Written::Progress => self.told.progress_written.notify_one(),
        }
    }

    /// How many writes were made here; to be asked for before the sequence is.
    pub(super) fn own(&self) -> i64 {
        self.told.own.load(Ordering::SeqCst)
    }

    /// Somebody who glances now and then saw the sequence. Answers whether that was told to those who watch.
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

    /// The number of writes of others can move a little before they can be seen, so each move is told twice.
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
        // Never closed while it is asked.
        let _ = self.watched.subscribe().wait_for(|watched| *watched).await;
    }
}

/// How many writes there ever were, and some that were not.
async fn last(desk: &Desk) -> Result<i64, Error> {
    let rows = desk.read("SELECT last_value FROM change", &[]).await?;
    Ok(rows.first().map_or(0, |row| row.get(0)))
}

/// Looks at the sequence whenever nobody else has for long enough.
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
            // A store that does not answer now is asked again.
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
        // Only a hint: who does not get it looks by itself.
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

/// Until the connection ends.
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
