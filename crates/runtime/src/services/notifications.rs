//! Notifies people: compares the open notifications of the runs with what was sent, and sends the rest.
//!
//! The row of a run has its open notifications, written in the commit that opened them. So nothing is lost with an
//! engine: any engine of the store finds them.
//!
//! **Invariant:** a message is claimed in the journal before it is sent, and the result of each channel is recorded as
//! soon as that channel is done. A channel that hangs holds up nothing else. A notification that is no longer open when
//! its message is due is not sent.

mod journal;
mod link;
mod rows;
mod send;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use longhaul_core::digest::DigestFormat;
use longhaul_core::event::Envelope;
use longhaul_core::id::RunId;
use longhaul_core::notification::{
    self, Look, NextNotice, NotifyEntry, NotifyLedger, NotifyRules, OpenNotification, Outgoing, may_begin,
};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::engine::{Engine, EngineEvent, Error, Shared};

pub(crate) use journal::NOTIFY;

/// Collects changes of runs within this time and handles them together.
const TOGETHER: Duration = Duration::from_millis(300);
/// How often to look at all runs, if something was written. A machine that wakes up looks this late at most.
const ALL: Duration = Duration::from_secs(30);
/// A look at all runs takes at most this part of the time.
const PART: u32 = 20;
/// How long a process that ends waits for its messages. That is longer than a channel may take, so each result is
/// recorded.
const LAST: Duration = Duration::from_secs(35);
/// How long a worker that is asked to end waits for its messages. Another engine sends the rest again.
const GRACE: Duration = Duration::from_secs(3);
/// How many channels may be busy before no other message is begun.
const AT_ONCE: usize = 8;
/// A claim lasts longer than a channel may take.
const CLAIM_MS: i64 = 2 * 60_000;
/// An engine stays for a message that is due within this time.
const DUE_MS: i64 = 25 * 3_600_000;
/// The most messages of one look.
const MESSAGES_MAX: usize = 200;

impl Engine {
    /// Sends notifications until `stop`, and calls `told` with a line when a run of this process starts to wait or
    /// ends badly.
    pub async fn keep_notified(&self, stop: CancellationToken, told: &(dyn Fn(&str) + Sync)) {
        if self.login().is_some() {
            return;
        }
        let mut watch = Watch::of(self);
        tokio::select! {
            () = stop.cancelled() => {}
            () = watch.keep(&stop, told) => {}
        }
        let _late = tokio::time::timeout(GRACE, watch.ended()).await;
    }

    /// Sends notifications while a run is driven, and then the last ones about it, before a process ends. Another
    /// engine sends what this one cannot.
    pub async fn notify_while<T>(&self, run: &RunId, driven: impl Future<Output = T>) -> T {
        if self.login().is_some() {
            return driven.await;
        }
        self.begin_notifying().await;
        let mut watch = Watch::of(self);
        let over = CancellationToken::new();
        let driven = async {
            let idle = driven.await;
            over.cancel();
            idle
        };
        // A look is not abandoned here: it may have claimed a message.
        let (idle, ()) = tokio::join!(driven, watch.keep(&over, &|_| {}));
        if !self.shared.options.notify.is_off() {
            let runs = HashSet::from([run.clone()]);
            let _late = tokio::time::timeout(LAST, self.shared.send_all(Some(&runs), &mut watch.sending)).await;
        }
        idle
    }

    /// Sends everything that is due now. Returns when the next message is due, as far as that is known.
    pub async fn notify_due(&self) -> Result<Option<i64>, Error> {
        self.shared.send_all(None, &mut JoinSet::new()).await
    }

    /// Records from when on notifications are sent, before this engine drives a run. Otherwise the next engine would
    /// take what a killed one left for something old.
    pub(crate) async fn begin_notifying(&self) {
        if self.login().is_none() && !self.shared.options.notify.is_off() {
            let mut ledger = self.shared.notified.lock().await;
            // Without the store no run is driven, and the first message records it too.
            let _begun = self.shared.begin(&mut ledger).await;
        }
    }

    /// Whether a message is due within a day: one that quiet hours hold back, a reminder, a report, or another try.
    pub fn has_message_due(&self) -> bool {
        self.shared.notify_at.load(Ordering::Relaxed).saturating_sub(self.now_ms()) < DUE_MS
    }

    /// What was sent.
    pub async fn notify_ledger(&self) -> Result<NotifyLedger, Error> {
        let mut ledger = self.shared.notified.lock().await;
        journal::refresh(self.shared.store.as_ref(), &mut ledger).await?;
        Ok(ledger.clone())
    }

    /// The settings of notifications.
    pub fn notify_rules(&self) -> &NotifyRules {
        &self.shared.options.notify
    }
}

/// The loop that looks for notifications.
struct Watch<'a> {
    engine: &'a Engine,
    pulse: Receiver<EngineEvent>,
    changes: tokio::sync::watch::Receiver<u64>,
    /// Runs of this process that may have something new.
    dirty: HashSet<RunId>,
    /// Notifications that were told by this process.
    told: HashSet<String>,
    /// The channels that are busy with a message.
    sending: Sending,
    /// Whether all runs must be looked at, although nothing is known to have changed.
    is_owed: bool,
    /// When a message is due.
    wake: Option<i64>,
    /// When to look at all runs again.
    all: Instant,
    /// When to look next.
    next: Instant,
}

impl<'a> Watch<'a> {
    fn of(engine: &'a Engine) -> Self {
        let now = Instant::now();
        Self {
            engine,
            pulse: engine.pulse(),
            changes: engine.changes(),
            dirty: HashSet::new(),
            told: HashSet::new(),
            sending: JoinSet::new(),
            is_owed: true,
            wake: None,
            all: now,
            next: now + TOGETHER,
        }
    }

    /// Looks until `stop`, which does not interrupt a look.
    async fn keep(&mut self, stop: &CancellationToken, told: &(dyn Fn(&str) + Sync)) {
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                news = self.pulse.recv() => match news {
                    Ok(EngineEvent::Events(run, events)) => self.note(run, &events),
                    Ok(_) => {}
                    Err(RecvError::Lagged(_)) => self.is_owed = true,
                    Err(RecvError::Closed) => return,
                },
                Some(_) = self.sending.join_next() => {
                    // When the next message is due may have changed.
                    self.is_owed = true;
                    self.next = self.next.min(self.all.max(Instant::now() + TOGETHER));
                }
                () = tokio::time::sleep_until(self.next) => self.look(told).await,
            }
        }
    }

    /// Waits for the messages that are being sent.
    async fn ended(&mut self) {
        while self.sending.join_next().await.is_some() {}
    }

    fn note(&mut self, run: RunId, events: &[Envelope]) {
        if events.iter().any(|envelope| may_begin(&envelope.event)) {
            self.dirty.insert(run);
            self.next = self.next.min(Instant::now() + TOGETHER);
        }
    }

    async fn look(&mut self, told: &(dyn Fn(&str) + Sync)) {
        let shared = &self.engine.shared;
        let dirty = std::mem::take(&mut self.dirty);
        if !dirty.is_empty() {
            self.tell(&dirty, told).await;
        }
        if !shared.options.notify.is_off() {
            let is_due = self.wake.is_some_and(|wake| wake <= shared.clock.now_ms());
            let is_moved = self.changes.has_changed().unwrap_or(true);
            let looked = if Instant::now() >= self.all && (is_due || is_moved || self.is_owed) {
                self.look_at_all().await
            } else if dirty.is_empty() {
                Ok(self.wake)
            } else {
                let wake = shared.send_due(Some(&dirty), &mut self.sending).await;
                wake.map(|wake| wake.into_iter().chain(self.wake).min())
            };
            match looked {
                Ok(wake) => {
                    self.wake = wake;
                    shared.notify_at.store(wake.unwrap_or(i64::MAX), Ordering::Relaxed);
                }
                // The store may come back. The next look at all runs finds the same.
                Err(_) => self.is_owed = true,
            }
        }
        self.next = self.next_look();
    }

    async fn look_at_all(&mut self) -> Result<Option<i64>, Error> {
        self.changes.borrow_and_update();
        self.is_owed = false;
        let begun = Instant::now();
        let wake = self.engine.shared.send_due(None, &mut self.sending).await;
        self.all = Instant::now() + (begun.elapsed() * PART).min(ALL * PART);
        wake
    }

    fn next_look(&self) -> Instant {
        let now = Instant::now();
        let due = self.wake.map(|wake| u64::try_from(wake - self.engine.now_ms()).unwrap_or(0));
        // A machine may sleep meanwhile, and its timers with it.
        let due = due.map_or(ALL, Duration::from_millis).clamp(TOGETHER, ALL);
        let soon = if self.dirty.is_empty() { due } else { TOGETHER };
        (now + soon).max(if self.dirty.is_empty() { self.all } else { now })
    }

    /// Says what is new about runs of this process.
    async fn tell(&mut self, runs: &HashSet<RunId>, told: &(dyn Fn(&str) + Sync)) {
        let shared = &self.engine.shared;
        let found = rows::of_runs(shared, runs).await.unwrap_or_default();
        for pending in found.iter().filter(|one| one.notification.kind != notification::NotificationKind::Success) {
            if self.told.insert(pending.key()) {
                told(&shared.secrets.redact(notification::line(pending)));
            }
        }
    }
}

/// The channels that are busy with a message. Those that are busy when it is dropped are abandoned.
type Sending = JoinSet<Result<(), Error>>;

impl Shared {
    /// Sends what is due about some runs, or about all, and waits for the results. Returns when the next message is due.
    async fn send_all(
        self: &Arc<Self>,
        runs: Option<&HashSet<RunId>>,
        sending: &mut Sending,
    ) -> Result<Option<i64>, Error> {
        loop {
            let wake = self.send_due(runs, sending).await?;
            match sending.join_next().await {
                None => return Ok(wake),
                Some(ended) => ended.map_err(std::io::Error::from)??,
            }
        }
    }

    /// Begins to send what is due about some runs, or about all. Returns when the next message is due.
    async fn send_due(
        self: &Arc<Self>,
        runs: Option<&HashSet<RunId>>,
        sending: &mut Sending,
    ) -> Result<Option<i64>, Error> {
        if sending.len() >= AT_ONCE {
            return Ok(Some(self.clock.now_ms()));
        }
        let (mut pending, has_news) = match runs {
            Some(runs) => (rows::of_runs(self, runs).await?, false),
            None => rows::of_all(self).await?,
        };
        let mut is_looked_up = HashSet::new();
        let rules = self.rules_with_link();
        for _ in 0..MESSAGES_MAX {
            if sending.len() >= AT_ONCE {
                break;
            }
            let mut ledger = self.notified.lock().await;
            self.begin(&mut ledger).await?;
            self.add_unsent(&ledger, &mut pending, &mut is_looked_up).await?;
            let now = self.clock.now_ms();
            let is_full = runs.is_none();
            let look = Look { ledger: &ledger, rules: &rules, pending: &pending, is_full, has_news, now };
            match notification::next(look) {
                NextNotice::Wait { until } => return Ok(until),
                NextNotice::Drop { id } => {
                    let entry = NotifyEntry::Dropped { id, why: "it was answered or ended before".to_owned() };
                    journal::write(self, &mut ledger, &entry).await?;
                }
                NextNotice::Report { id, channels, since } => {
                    drop(ledger);
                    self.report(id, channels, since, sending).await?;
                }
                NextNotice::Send(outgoing) => {
                    if self.is_still_open(&outgoing, &mut pending).await? && self.claim(&mut ledger, &outgoing).await? {
                        drop(ledger);
                        send::begin(self, &outgoing, sending);
                    }
                }
            }
        }
        Ok(Some(self.clock.now_ms()))
    }

    /// Reads what is new in the journal, and begins it if it is empty.
    async fn begin(&self, ledger: &mut NotifyLedger) -> Result<(), Error> {
        journal::refresh(self.store.as_ref(), ledger).await?;
        let began = NotifyEntry::Began { since: self.since_ms };
        while ledger.began.is_none() && !journal::write(self, ledger, &began).await? {
            journal::refresh(self.store.as_ref(), ledger).await?;
        }
        Ok(())
    }

    /// The settings, with the address of a running server if they name none.
    fn rules_with_link(&self) -> NotifyRules {
        let rules = self.options.notify.clone();
        let link = rules.link.clone().or_else(|| link::of_server(&self.options.runs_dir));
        NotifyRules { link, ..rules }
    }

    /// Adds the notifications of messages that are not sent yet, so that a look at some runs does not drop them.
    async fn add_unsent(
        &self,
        ledger: &NotifyLedger,
        pending: &mut Vec<OpenNotification>,
        known: &mut HashSet<RunId>,
    ) -> Result<(), Error> {
        let runs = ledger.unsent().flat_map(|message| &message.keys).filter_map(|key| notification::run_of(key));
        let missing: HashSet<RunId> = runs.filter(|run| !known.contains(run)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        pending.retain(|one| !missing.contains(&one.run));
        pending.extend(rows::of_runs(self, &missing).await?);
        known.extend(missing);
        Ok(())
    }

    /// Reads the runs of a message again. False if something in it is no longer open.
    async fn is_still_open(&self, outgoing: &Outgoing, pending: &mut Vec<OpenNotification>) -> Result<bool, Error> {
        let runs: HashSet<RunId> = outgoing.keys.iter().filter_map(|key| notification::run_of(key)).collect();
        pending.retain(|one| !runs.contains(&one.run));
        pending.extend(rows::of_runs(self, &runs).await?);
        let open: HashSet<String> = pending.iter().map(OpenNotification::key).collect();
        Ok(outgoing.keys.iter().all(|key| open.contains(key)))
    }

    /// Records that this engine is about to send a message. False if another process wrote first.
    async fn claim(&self, ledger: &mut NotifyLedger, outgoing: &Outgoing) -> Result<bool, Error> {
        let entry = NotifyEntry::Sending {
            id: outgoing.id.clone(),
            keys: outgoing.keys.clone(),
            title: self.secrets.redact(outgoing.title.clone()),
            channels: outgoing.channels.clone(),
            by: self.worker.as_str().to_owned(),
            until: self.clock.now_ms() + CLAIM_MS,
        };
        journal::write(self, ledger, &entry).await
    }

    /// Begins to send the report of a time. A report without content is recorded, but not sent.
    async fn report(
        self: &Arc<Self>,
        id: String,
        channels: Vec<String>,
        since: i64,
        sending: &mut Sending,
    ) -> Result<(), Error> {
        let digest = Engine { shared: Arc::clone(self) }.digest(since).await?;
        if digest.is_empty() {
            let entry = NotifyEntry::Dropped { id, why: "nothing happened".to_owned() };
            return journal::record(self, &entry).await;
        }
        let outgoing = Outgoing {
            id,
            keys: Vec::new(),
            channels,
            title: format!("Longhaul: {}", digest.headline()),
            text: digest.render(DigestFormat::Text, &self.options.notify.zone),
            kind: None,
            run: None,
            step: None,
            command: Some("longhaul digest".to_owned()),
            link: self.rules_with_link().link,
        };
        let mut ledger = self.notified.lock().await;
        journal::refresh(self.store.as_ref(), &mut ledger).await?;
        // Another engine may have sent it meanwhile, or is sending it.
        let now = self.clock.now_ms();
        let is_free = |message: &notification::MessageRecord| {
            !message.open_channels().is_empty() && message.next.is_none_or(|next| next <= now)
        };
        if !ledger.message(&outgoing.id).is_none_or(is_free) || !self.claim(&mut ledger, &outgoing).await? {
            return Ok(());
        }
        drop(ledger);
        send::begin(self, &outgoing, sending);
        Ok(())
    }
}
