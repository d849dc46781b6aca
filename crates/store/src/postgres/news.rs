//! Hears of what others write, and tells others of what is written here.
//!
//! A sequence moves with every write, and is looked at now and then: that alone is enough. A notification is a hint
//! that makes it sooner. It is sent by one task for all writes of a moment, never by a transaction: there it would
//! make all of them wait for each other.
//!
//! **Invariant:** own writes are told at once by whoever made them, and are not told again when the sequence is looked at.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio_postgres::AsyncMessage;
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

use super::address::Address;
use super::ask::Desk;
use super::session;
use crate::Error;

/// How often the sequence is looked at while somebody watches.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// The least time between two hints of a process.
const HINT_EVERY: Duration = Duration::from_millis(50);
/// Between two tries to listen.
const LISTEN_AGAIN: Duration = Duration::from_secs(2);

/// The news of a store.
pub(super) struct News {
    told: Arc<Told>,
    /// Ended with the store.
    _tasks: [AbortOnDropHandle<()>; 3],
}

struct Told {
    changes: watch::Sender<u64>,
    /// How many writes were made here.
    own: AtomicI64,
    /// Something was written here.
    written: Notify,
    /// Whether somebody ever began to watch.
    watched: watch::Sender<bool>,
    /// How hints of this process are known.
    name: String,
}

impl News {
    /// What is written from now on is news.
    pub(super) async fn start(address: &Address, desk: &Arc<Desk>) -> Result<Self, Error> {
        let seen = last(desk).await?;
        let told = Arc::new(Told {
            changes: watch::Sender::new(0),
            own: AtomicI64::new(0),
            written: Notify::new(),
            watched: watch::Sender::new(false),
            name: Uuid::new_v4().simple().to_string(),
        });
        let channel = format!("longhaul_{}", address.schema);
        let look = tokio::spawn(look(Arc::clone(&told), Arc::clone(desk), seen));
        let hint = tokio::spawn(hint(Arc::clone(&told), Arc::clone(desk), channel.clone()));
        let listen = tokio::spawn(listen(Arc::clone(&told), address.clone(), channel));
        Ok(Self { told, _tasks: [look, hint, listen].map(AbortOnDropHandle::new) })
    }

    /// One write of ours was answered.
    pub(super) fn wrote(&self) {
        self.told.own.fetch_add(1, Ordering::SeqCst);
        self.told.tell();
        self.told.written.notify_one();
    }

    /// See [`crate::Store::watch`].
    pub(super) fn watch(&self) -> watch::Receiver<u64> {
        let receiver = self.told.changes.subscribe();
        self.told.watched.send_replace(true);
        receiver
    }
}

impl Told {
    fn tell(&self) {
        self.changes.send_modify(|number| *number = number.wrapping_add(1));
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

/// The number of writes of others can move a little before they can be seen, so each move is told twice.
async fn look(told: Arc<Told>, desk: Arc<Desk>, mut seen: i64) {
    let mut owed = false;
    loop {
        told.somebody_watches().await;
        let own = told.own.load(Ordering::SeqCst);
        // A store that does not answer now is asked again.
        if let Ok(last) = last(&desk).await {
            let moved = std::mem::replace(&mut seen, last - own) != last - own;
            if moved || owed {
                told.tell();
            }
            owed = moved;
        }
        tokio::time::sleep(LOOK_EVERY.mul_f64(0.75 + f64::from(Uuid::new_v4().as_fields().1) / 131_070.0)).await;
    }
}

async fn hint(told: Arc<Told>, desk: Arc<Desk>, channel: String) {
    loop {
        told.written.notified().await;
        // Only a hint: who does not get it looks by itself.
        let _ = desk.read("SELECT pg_notify($1, $2)", &[&channel, &told.name]).await;
        tokio::time::sleep(HINT_EVERY).await;
    }
}

async fn listen(told: Arc<Told>, address: Address, channel: String) {
    loop {
        told.somebody_watches().await;
        listen_once(&told, &address, &channel).await;
        tokio::time::sleep(LISTEN_AGAIN).await;
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
                Some(Ok(AsyncMessage::Notification(hint))) if hint.payload() != told.name => told.tell(),
                Some(Ok(_)) => {}
                _ => return,
            },
        }
    }
}
