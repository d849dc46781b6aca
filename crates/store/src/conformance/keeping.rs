//! Clauses about blobs, snapshots, and removing.

use super::*;
use crate::{BLOB_BYTES_MAX, Blob, Hash, Posted};

async fn keep(store: &Given, run: &RunId, blob: &Blob) {
    advance(store, run, |append| append.blobs = vec![blob.clone(), blob.clone()]).await.unwrap();
}

/// It is stored once, and goes with the last of its runs.
pub async fn a_blob_lives_while_a_run_refers_to_it(store: Given) {
    let (run, other) = (made(&store, "first").await, made(&store, "second").await);
    let (shared, own, empty) = (Blob::new(vec![0, 255, 10]), Blob::new("own"), Blob::new(""));
    keep(&store, &run, &shared).await;
    keep(&store, &run, &shared).await;
    keep(&store, &run, &own).await;
    keep(&store, &other, &shared).await;
    keep(&store, &other, &empty).await;
    assert_eq!(store.blob(shared.hash).await, Ok(Some(shared.bytes.clone())));
    store.remove(&run).await.unwrap();
    assert_eq!(store.blob(shared.hash).await, Ok(Some(shared.bytes.clone())));
    assert_eq!(store.blob(empty.hash).await, Ok(Some(vec![])));
    assert_eq!(store.blob(own.hash).await, Ok(None));
    store.remove(&other).await.unwrap();
    assert_eq!(store.blob(shared.hash).await, Ok(None));
}

/// Nobody else's, each once.
pub async fn the_blobs_of_a_run_are_listed(store: Given) {
    let (run, other) = (made(&store, "first").await, made(&store, "second").await);
    let [one, two, three] = ["one", "two", "three"].map(Blob::new);
    for (run, blob) in [(&run, &one), (&run, &two), (&run, &one), (&other, &three)] {
        keep(&store, run, blob).await;
    }
    let mut due = vec![one.hash, two.hash];
    due.sort();
    assert_eq!(store.blobs(&run).await, Ok(due));
    assert_eq!(store.blobs(&id("nobody")).await, Ok(vec![]));
}

/// A hash is a promise.
pub async fn a_blob_with_a_false_hash_is_refused(store: Given) {
    let run = made(&store, "false").await;
    let blob = Blob { hash: Hash::of(b"this"), bytes: b"that".to_vec() };
    let refused = advance(&store, &run, |append| append.blobs = vec![blob]).await;
    assert!(matches!(refused, Err(Error::Invalid(_))));
    assert_eq!(store.blob(Hash::of(b"this")).await, Ok(None));
}

/// A snapshot, too.
pub async fn a_blob_above_the_limit_is_refused(store: Given) {
    let run = made(&store, "heavy").await;
    let blob = Blob { hash: Hash::of(b""), bytes: vec![0; BLOB_BYTES_MAX + 1] };
    let refused = advance(&store, &run, |append| append.blobs = vec![blob]).await;
    assert!(matches!(refused, Err(Error::TooLarge { .. })));
    let refused = store.save_snapshot(&run, 1, vec![0; BLOB_BYTES_MAX + 1]).await;
    assert!(matches!(refused, Err(Error::TooLarge { .. })));
}

/// One that comes late is ignored.
pub async fn only_the_newest_snapshot_is_kept(store: Given) {
    let run = made(&store, "snapped").await;
    advance(&store, &run, |_| ()).await.unwrap();
    assert_eq!(store.snapshot(&run).await, Ok(None));
    store.save_snapshot(&run, 1, vec![1]).await.unwrap();
    assert_eq!(store.snapshot(&run).await, Ok(Some((1, vec![1]))));
    store.save_snapshot(&run, 2, vec![2]).await.unwrap();
    store.save_snapshot(&run, 1, vec![3]).await.unwrap();
    assert_eq!(store.snapshot(&run).await, Ok(Some((2, vec![2]))));
    store.save_snapshot(&run, 2, vec![4]).await.unwrap();
    assert_eq!(store.snapshot(&run).await, Ok(Some((2, vec![4]))));
}

/// It would hide events from its reader.
pub async fn a_snapshot_ahead_of_its_run_is_refused(store: Given) {
    let run = made(&store, "ahead").await;
    assert!(matches!(store.save_snapshot(&run, 2, vec![]).await, Err(Error::Invalid(_))));
    assert_eq!(store.save_snapshot(&id("nobody"), 0, vec![]).await, Err(Error::UnknownRun));
    assert_eq!(store.snapshot(&run).await, Ok(None));
}

/// In one call as in two.
pub async fn a_run_is_restored_from_its_snapshot_on(store: Given) {
    let run = made(&store, "restored").await;
    advance(&store, &run, |_| ()).await.unwrap();
    advance(&store, &run, |_| ()).await.unwrap();
    let events = store.read(&run, 0, 10).await.unwrap();
    let whole = store.restore(&run, 2).await.unwrap();
    assert_eq!((whole.snapshot, &whole.events[..]), (None, &events[..2]));
    store.save_snapshot(&run, 2, vec![7]).await.unwrap();
    let rest = store.restore(&run, 10).await.unwrap();
    assert_eq!((rest.snapshot, &rest.events[..]), (Some((2, vec![7])), &events[2..]));
    assert_eq!(store.restore(&id("nobody"), 10).await, Err(Error::UnknownRun));
}

async fn furnish(store: &Given, run: &RunId) {
    store.post(message(run, "hook", run.as_str())).await.unwrap();
    set(store, run, "t", 10).await;
    start(store, run, held("a@1", 1, "w")).await;
    store.save_snapshot(run, 1, vec![1]).await.unwrap();
}

/// The id can be used again, and the new run starts from nothing.
pub async fn a_removed_run_is_gone_with_everything(store: Given) {
    let run = made(&store, "removed").await;
    furnish(&store, &run).await;
    store.remove(&run).await.unwrap();
    assert_eq!(store.run(&run).await, Ok(None));
    assert_eq!(store.read(&run, 0, 10).await, Err(Error::UnknownRun));
    assert_eq!(store.with_mail(10).await, Ok(vec![]));
    assert_eq!(store.next_due().await, Ok(None));
    assert_eq!(store.renew(&worker("w"), 0, 1).await, Ok(vec![]));
    store.append(making(&run)).await.unwrap();
    let again = everything(&store, &run).await;
    assert_eq!((again.events.len(), again.tasks.len(), again.inbox.len(), again.timers.len()), (1, 0, 0, 0));
    assert_eq!(again.snapshot, None);
}

/// In all that they have.
pub async fn removing_a_run_leaves_the_others(store: Given) {
    let (run, other) = (made(&store, "goes").await, made(&store, "stays").await);
    furnish(&store, &run).await;
    furnish(&store, &other).await;
    let before = everything(&store, &other).await;
    store.remove(&run).await.unwrap();
    assert_eq!(everything(&store, &other).await, before);
    assert_eq!(store.runs(crate::Query::default()).await.unwrap().len(), 1);
}

/// Nor twice.
pub async fn an_unknown_run_is_not_removed(store: Given) {
    let run = made(&store, "gone").await;
    store.remove(&run).await.unwrap();
    assert_eq!(store.remove(&run).await, Err(Error::UnknownRun));
}

/// After all kinds of writes.
pub async fn a_healthy_store_has_no_problems(store: Given) {
    assert_eq!(store.check().await, Ok(vec![]));
    let (run, other) = (made(&store, "healthy").await, made(&store, "removed").await);
    furnish(&store, &run).await;
    furnish(&store, &other).await;
    keep(&store, &run, &Blob::new("kept")).await;
    keep(&store, &other, &Blob::new("kept")).await;
    keep(&store, &other, &Blob::new("lost")).await;
    store.remove(&other).await.unwrap();
    assert_eq!(store.post(message(&run, "hook", "late")).await, Ok(Posted::New));
    assert_eq!(store.check().await, Ok(vec![]));
}
