//! The ledger: what was sent, over which channel, with what result.
//!
//! It is the fold of a journal of its own. A message is claimed before it is sent, and its result is recorded after
//! that. A claim ends by itself, so that another engine can send what a killed one left.

use std::collections::HashMap;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// Pauses between the tries of a channel that fails.
const PAUSES_MS: [i64; 4] = [30_000, 2 * 60_000, 10 * 60_000, 30 * 60_000];
/// How many messages the ledger remembers.
const MESSAGES_MAX: usize = 500;
/// How many keys it remembers, and for how long.
const KEYS_MAX: usize = 10_000;
const KEYS_MS: i64 = 8 * 24 * 3_600_000;
/// In this time at most so many messages are sent. The rest become one message.
const WINDOW_MS: i64 = 10 * 60_000;
const WINDOW_MAX: usize = 10;

/// An entry of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum NotifyEntry {
    /// Notifications of this time and later are sent. Earlier ones are not.
    Began {
        /// When the engine that wrote this started.
        since: i64,
    },
    /// An engine is about to send a message.
    Sending {
        /// The message.
        id: String,
        /// The notifications in it.
        keys: Vec<String>,
        /// Its title.
        title: String,
        /// The channels that have not got it yet.
        channels: Vec<String>,
        /// The engine.
        by: String,
        /// When another engine may send it.
        until: i64,
    },
    /// It was sent over some of its channels, or not.
    Sent {
        /// The message.
        id: String,
        /// The results of these channels.
        results: Vec<ChannelResult>,
    },
    /// It is not sent any more.
    Dropped {
        /// The message.
        id: String,
        /// The reason, for people.
        why: String,
    },
}

/// The result of one channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelResult {
    /// The channel.
    pub channel: String,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether another try may help.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
}

/// A message and how far it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MessageRecord {
    /// Names it. Webhooks get it as an idempotency key.
    pub id: String,
    /// When it was first sent.
    pub at: i64,
    /// Its title.
    pub title: String,
    /// The notifications in it.
    pub keys: Vec<String>,
    /// Its channels.
    pub channels: Vec<ChannelRecord>,
    /// When an engine tries it again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<i64>,
    /// Why it is not sent any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped: Option<String>,
}

/// A message in one channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChannelRecord {
    /// The channel.
    pub channel: String,
    /// When it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent_at: Option<i64>,
    /// Why the last try failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The number of tries.
    pub tries: u32,
    /// Whether it is not tried again.
    pub failed: bool,
    /// Whether the engine that claimed the message has not recorded a result yet.
    #[serde(skip)]
    is_busy: bool,
}

impl ChannelRecord {
    fn is_open(&self) -> bool {
        self.sent_at.is_none() && !self.failed
    }

    fn took(&mut self, result: &ChannelResult, at: i64) {
        self.tries += 1;
        self.is_busy = false;
        self.error.clone_from(&result.error);
        match &result.error {
            None => self.sent_at = Some(at),
            Some(_) => self.failed = !result.again || self.tries as usize > PAUSES_MS.len(),
        }
    }
}

impl MessageRecord {
    /// The channels that have not got it yet.
    pub fn open_channels(&self) -> Vec<String> {
        let open = self.channels.iter().filter(|channel| self.dropped.is_none() && channel.is_open());
        open.map(|channel| channel.channel.clone()).collect()
    }

    fn is_over(&self) -> bool {
        self.dropped.is_some() || !self.channels.iter().any(ChannelRecord::is_open)
    }
}

/// When and how often a notification was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) last: i64,
    pub(super) times: u32,
}

/// Everything that was sent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NotifyLedger {
    /// The last entry.
    pub seq: u64,
    /// From when on notifications are sent.
    pub began: Option<i64>,
    keys: HashMap<String, Told>,
    messages: IndexMap<String, MessageRecord>,
}

impl NotifyLedger {
    /// Applies an entry.
    pub fn apply(&mut self, seq: u64, at: i64, entry: &NotifyEntry) {
        self.seq = seq;
        match entry {
            NotifyEntry::Began { since } => drop(self.began.get_or_insert(*since)),
            NotifyEntry::Sending { id, keys, title, channels, until, .. } => {
                if !self.messages.contains_key(id) {
                    self.first(id, at, keys, title, channels);
                }
                self.change(id, |message| claimed(message, channels, *until));
            }
            NotifyEntry::Sent { id, results } => self.change(id, |message| sent(message, results, at)),
            NotifyEntry::Dropped { id, why } => {
                if !self.messages.contains_key(id) {
                    self.first(id, at, &[], "", &[]);
                }
                self.change(id, |message| (message.dropped, message.next) = (Some(why.clone()), None));
            }
        }
        self.forget(at);
    }

    fn first(&mut self, id: &str, at: i64, keys: &[String], title: &str, channels: &[String]) {
        for key in keys {
            let told = self.keys.entry(key.clone()).or_insert(Told { last: at, times: 0 });
            *told = Told { last: at, times: told.times.saturating_add(1) };
        }
        let channel = |channel: &String| ChannelRecord {
            channel: channel.clone(),
            sent_at: None,
            error: None,
            tries: 0,
            failed: false,
            is_busy: false,
        };
        let message = MessageRecord {
            id: id.to_owned(),
            at,
            title: title.to_owned(),
            keys: keys.to_vec(),
            channels: channels.iter().map(channel).collect(),
            next: None,
            dropped: None,
        };
        self.messages.insert(id.to_owned(), message);
    }

    fn change(&mut self, id: &str, change: impl FnOnce(&mut MessageRecord)) {
        if let Some(message) = self.messages.get_mut(id) {
            change(message);
        }
    }

    /// Forgets what is old. Nothing that old is sent for the first time.
    fn forget(&mut self, now: i64) {
        if self.messages.len() > MESSAGES_MAX * 2 {
            let too_many = self.messages.len() - MESSAGES_MAX;
            self.messages = self.messages.drain(..).skip(too_many).collect();
        }
        if self.keys.len() > KEYS_MAX {
            self.keys.retain(|_, told| told.last > now - KEYS_MS);
        }
    }

    pub(super) fn told(&self, key: &str) -> Option<Told> {
        self.keys.get(key).copied()
    }

    /// The messages that were sent or tried, oldest first.
    pub fn messages(&self) -> impl DoubleEndedIterator<Item = &MessageRecord> {
        self.messages.values()
    }

    /// A message by its id.
    pub fn message(&self, id: &str) -> Option<&MessageRecord> {
        self.messages.get(id)
    }

    /// Messages that some channel has not got yet.
    pub fn unsent(&self) -> impl Iterator<Item = &MessageRecord> {
        self.messages.values().filter(|message| !message.is_over())
    }

    /// When the next message may be sent, if too many were sent just now.
    pub(super) fn crowded_until(&self, now: i64) -> Option<i64> {
        let recent = self.messages.values().filter(|message| message.dropped.is_none() && message.at > now - WINDOW_MS);
        let recent: Vec<i64> = recent.map(|message| message.at).collect();
        let first = recent.len().checked_sub(WINDOW_MAX)?;
        Some(recent.get(first)?.saturating_add(WINDOW_MS))
    }
}

fn claimed(message: &mut MessageRecord, channels: &[String], until: i64) {
    message.next = Some(until);
    for channel in &mut message.channels {
        channel.is_busy = channels.contains(&channel.channel);
    }
}

fn sent(message: &mut MessageRecord, results: &[ChannelResult], at: i64) {
    for channel in message.channels.iter_mut().filter(|channel| channel.is_open()) {
        if let Some(result) = results.iter().find(|result| result.channel == channel.channel) {
            channel.took(result, at);
        }
    }
    let open = message.channels.iter().filter(|channel| channel.is_open());
    // The claim lasts until each channel has a result.
    if open.clone().any(|channel| channel.is_busy) {
        return;
    }
    let tries = open.map(|channel| channel.tries as usize).max();
    message.next = tries.map(|tries| at.saturating_add(PAUSES_MS[tries.saturating_sub(1).min(PAUSES_MS.len() - 1)]));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sending(id: &str) -> NotifyEntry {
        NotifyEntry::Sending {
            id: id.to_owned(),
            keys: vec![format!("run-1/{id}")],
            title: "t".to_owned(),
            channels: vec!["a".to_owned(), "b".to_owned()],
            by: "w".to_owned(),
            until: 120_000,
        }
    }

    fn result(channel: &str, error: Option<&str>, again: bool) -> ChannelResult {
        ChannelResult { channel: channel.to_owned(), error: error.map(str::to_owned), again }
    }

    #[test]
    fn a_channel_that_fails_is_tried_again_alone_and_then_given_up() {
        let mut ledger = NotifyLedger::default();
        ledger.apply(1, 0, &sending("m"));
        assert_eq!(ledger.message("m").unwrap().next, Some(120_000), "claimed until then");
        let results = vec![result("a", None, false), result("b", Some("503"), true)];
        ledger.apply(2, 5, &NotifyEntry::Sent { id: "m".to_owned(), results });
        let message = ledger.message("m").unwrap();
        assert_eq!((message.open_channels(), message.next), (vec!["b".to_owned()], Some(30_005)));
        for seq in 3..7 {
            let results = vec![result("b", Some("503"), true)];
            ledger.apply(seq, 10, &NotifyEntry::Sent { id: "m".to_owned(), results });
        }
        let message = ledger.message("m").unwrap();
        assert_eq!((message.open_channels(), message.next, ledger.unsent().count()), (vec![], None, 0));
        assert_eq!((message.channels[1].tries, message.channels[1].failed), (5, true));
        assert_eq!(ledger.told("run-1/m").unwrap().times, 1, "tries are no reminders");
    }

    #[test]
    fn a_claim_lasts_until_each_channel_has_a_result() {
        let mut ledger = NotifyLedger::default();
        ledger.apply(1, 0, &sending("m"));
        ledger.apply(2, 5, &NotifyEntry::Sent { id: "m".to_owned(), results: vec![result("a", None, false)] });
        let message = ledger.message("m").unwrap();
        assert_eq!((message.open_channels(), message.next), (vec!["b".to_owned()], Some(120_000)));
        let results = vec![result("b", Some("it took too long"), true)];
        ledger.apply(3, 30_000, &NotifyEntry::Sent { id: "m".to_owned(), results });
        assert_eq!(ledger.message("m").unwrap().next, Some(60_000));
    }

    #[test]
    fn a_channel_without_hope_is_not_tried_again() {
        let mut ledger = NotifyLedger::default();
        ledger.apply(1, 0, &sending("m"));
        let results = vec![result("a", Some("not configured"), false), result("b", None, false)];
        ledger.apply(2, 5, &NotifyEntry::Sent { id: "m".to_owned(), results });
        assert_eq!(ledger.unsent().count(), 0);
    }

    #[test]
    fn old_messages_and_keys_are_forgotten() {
        let mut ledger = NotifyLedger::default();
        for seq in 0..12_000_u64 {
            ledger.apply(seq + 1, i64::try_from(seq).unwrap() * 3_600_000, &sending(&format!("m{seq}")));
        }
        assert!(ledger.messages.len() <= 1000 && ledger.keys.len() <= KEYS_MAX, "{}", ledger.messages.len());
        assert!(ledger.message("m11999").is_some() && ledger.told("run-1/m11999").is_some());
    }

    #[test]
    fn entries_are_read_as_they_are_written() {
        let entry = sending("m");
        let written = serde_json::to_string(&entry).unwrap();
        assert!(written.starts_with(r#"{"entry":"sending","id":"m""#), "{written}");
        assert_eq!(serde_json::from_str::<NotifyEntry>(&written).unwrap(), entry);
    }
}
