//! Clauses about messages.

use super::*;
use crate::{BODY_BYTES_MAX, MessageId, Posted};

async fn consume(store: &Given, run: &RunId, messages: &[MessageId]) -> Result<u64, Error> {
    advance(store, run, |append| append.consumed = messages.to_vec()).await
}

/// Even if the first one was consumed, and even if the second one is for another run.
pub async fn a_message_is_accepted_once_for_ever(store: Given) {
    let (run, other) = (made(&store, "mail").await, made(&store, "other").await);
    assert_eq!(store.post(message(&run, "hook", "1")).await, Ok(Posted::New));
    assert_eq!(store.post(message(&run, "hook", "1")).await, Ok(Posted::Duplicate));
    assert_eq!(store.post(message(&other, "hook", "1")).await, Ok(Posted::Duplicate));
    assert_eq!(store.post(message(&run, "hook", "2")).await, Ok(Posted::New));
    assert_eq!(store.post(message(&run, "person", "1")).await, Ok(Posted::New));
    let inbox = store.inbox(&run).await.unwrap();
    consume(&store, &run, &[inbox[0].id]).await.unwrap();
    assert_eq!(store.post(message(&run, "hook", "1")).await, Ok(Posted::Duplicate));
    store.remove(&run).await.unwrap();
    assert_eq!(store.post(message(&other, "hook", "1")).await, Ok(Posted::Duplicate));
    assert_eq!(store.inbox(&other).await, Ok(vec![]));
}

/// Sixteen concurrent senders.
pub async fn one_of_many_senders_is_accepted(store: Given) {
    let run = made(&store, "flood").await;
    let post = |store: Given, message| tokio::spawn(async move { store.post(message).await.unwrap() });
    let senders: Vec<_> = (0..16).map(|_| post(store.clone(), message(&run, "hook", "1"))).collect();
    let mut accepted = 0;
    for sender in senders {
        accepted += usize::from(sender.await.unwrap() == Posted::New);
    }
    assert_eq!((accepted, store.inbox(&run).await.unwrap().len()), (1, 1));
}

/// Oldest first, as they were sent.
pub async fn an_inbox_is_in_order_and_of_one_run(store: Given) {
    let (run, other) = (made(&store, "inbox").await, made(&store, "other").await);
    for (run, dedup) in [(&run, "z"), (&other, "b"), (&run, "a")] {
        store.post(message(run, "hook", dedup)).await.unwrap();
    }
    let inbox = store.inbox(&run).await.unwrap();
    assert!(inbox[0].id < inbox[1].id);
    let told: Vec<_> = inbox.iter().map(|m| (m.source.as_str(), m.dedup.as_str(), m.body.as_str(), m.at_ms)).collect();
    assert_eq!(told, [("hook", "z", "hook z", 5), ("hook", "a", "hook a", 5)]);
    assert!(inbox.iter().all(|message| message.run == run));
}

/// A second time is a conflict, and the id does not come back for another message.
pub async fn a_message_is_consumed_exactly_once(store: Given) {
    let run = made(&store, "consumed").await;
    store.post(message(&run, "hook", "1")).await.unwrap();
    let old = store.inbox(&run).await.unwrap()[0].id;
    consume(&store, &run, &[old]).await.unwrap();
    assert_eq!(store.inbox(&run).await, Ok(vec![]));
    assert_eq!(consume(&store, &run, &[old]).await, Err(Error::Conflict { actual: 2 }));
    store.post(message(&run, "hook", "2")).await.unwrap();
    assert_eq!(consume(&store, &run, &[old]).await, Err(Error::Conflict { actual: 2 }));
    assert_eq!(store.inbox(&run).await.unwrap().len(), 1);
}

/// It stays in its own inbox.
pub async fn a_message_of_another_run_is_not_consumed(store: Given) {
    let (run, other) = (made(&store, "mine").await, made(&store, "yours").await);
    store.post(message(&other, "hook", "1")).await.unwrap();
    let foreign = store.inbox(&other).await.unwrap()[0].id;
    assert_eq!(consume(&store, &run, &[foreign]).await, Err(Error::Conflict { actual: 1 }));
    assert_eq!(store.inbox(&other).await.unwrap().len(), 1);
}

/// The sender may try again once the run exists.
pub async fn a_message_for_an_unknown_run_is_refused_and_not_remembered(store: Given) {
    let early = message(&id("early"), "hook", "1");
    assert_eq!(store.post(early.clone()).await, Err(Error::UnknownRun));
    made(&store, "early").await;
    assert_eq!(store.post(early).await, Ok(Posted::New));
}

/// The store does not remember it either.
pub async fn a_message_above_the_limit_is_refused(store: Given) {
    let run = made(&store, "heavy").await;
    let of = |bytes: usize| NewMessage { body: "x".repeat(bytes), ..message(&run, "hook", "1") };
    assert!(matches!(store.post(of(BODY_BYTES_MAX + 1)).await, Err(Error::TooLarge { .. })));
    assert_eq!(store.post(of(BODY_BYTES_MAX)).await, Ok(Posted::New));
}

/// Each once, up to a limit.
pub async fn runs_with_mail_come_oldest_message_first(store: Given) {
    let (first, second, third) = (made(&store, "zzzz").await, made(&store, "mmmm").await, made(&store, "aaaa").await);
    for (run, dedup) in [(&second, "1"), (&first, "2"), (&second, "3"), (&third, "4")] {
        store.post(message(run, "hook", dedup)).await.unwrap();
    }
    assert_eq!(store.with_mail(10).await, Ok(vec![second.clone(), first.clone(), third.clone()]));
    assert_eq!(store.with_mail(2).await, Ok(vec![second.clone(), first.clone()]));
    let read: Vec<MessageId> = store.inbox(&second).await.unwrap().iter().map(|message| message.id).collect();
    consume(&store, &second, &read).await.unwrap();
    assert_eq!(store.with_mail(10).await, Ok(vec![first, third]));
}

/// Also when it was consumed, and when its run is gone.
pub async fn what_was_ever_posted_is_listed_in_pages(store: Given) {
    let (run, gone) = (made(&store, "kept").await, made(&store, "gone").await);
    for (run, source, dedup) in [(&run, "b", "1"), (&gone, "a", "2"), (&run, "a", "1"), (&run, "a", "é")] {
        store.post(message(run, source, dedup)).await.unwrap();
    }
    store.remove(&gone).await.unwrap();
    let pair = |source: &str, dedup: &str| (source.to_owned(), dedup.to_owned());
    let all = [pair("a", "1"), pair("a", "2"), pair("a", "é"), pair("b", "1")];
    assert_eq!(store.posted(None, 10).await.unwrap(), all);
    assert_eq!(store.posted(None, 2).await.unwrap(), all[..2]);
    assert_eq!(store.posted(Some(all[1].clone()), 10).await.unwrap(), all[2..]);
    assert_eq!(store.posted(Some(all[3].clone()), 10).await, Ok(vec![]));
}

/// Messages that are known already stay known.
pub async fn what_is_remembered_counts_as_posted(store: Given) {
    let run = made(&store, "remembered").await;
    assert_eq!(store.post(message(&run, "hook", "1")).await, Ok(Posted::New));
    let pairs = ["1", "2"].map(|dedup| ("hook".to_owned(), dedup.to_owned()));
    store.remember(pairs.to_vec()).await.unwrap();
    assert_eq!(store.post(message(&run, "hook", "1")).await, Ok(Posted::Duplicate));
    assert_eq!(store.post(message(&run, "hook", "2")).await, Ok(Posted::Duplicate));
    assert_eq!(store.post(message(&run, "hook", "3")).await, Ok(Posted::New));
    assert_eq!(store.inbox(&run).await.unwrap().len(), 2);
}
