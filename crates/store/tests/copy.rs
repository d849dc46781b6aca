//! Tests that a copy of a store shows the same as the store, for all kinds of stores.
use std::sync::Arc;

use longhaul_store::conformance::{
    Given, advance, event, everything, held, id, made, making, message, server, set, start, task,
};
use longhaul_store::{
    Append, Blob, Copied, Error, Memory, Posted, Postgres, PostgresOptions, Query, Sqlite, SqliteOptions, copy,
};

/// Runs with everything that runs can have; one of them with more events than one batch of the copy.
async fn fill(store: &Given) {
    let long = made(store, "long").await;
    for _ in 0..3 {
        advance(store, &long, |append| append.events = (0..400).map(|_| event("{}")).collect()).await.unwrap();
    }
    let rich = id("rich");
    store.append(Append { blobs: vec![Blob::new("plan"), Blob::new("")], ..making(&rich) }).await.unwrap();
    start(store, &rich, held("a@1", 1, "w")).await;
    start(store, &rich, task("b@1", 2)).await;
    set(store, &rich, "t", 7).await;
    store.post(message(&rich, "hook", "1")).await.unwrap();
    store.post(message(&rich, "hook", "2")).await.unwrap();
    let first = store.inbox(&rich).await.unwrap()[0].id;
    advance(store, &rich, |append| append.consumed = vec![first]).await.unwrap();
    store.save_snapshot(&rich, 2, vec![1, 2, 3]).await.unwrap();
    made(store, "aaaa").await;
}

/// Compares what both show, except the ids that a store gives to messages.
async fn same(here: &Given, there: &Given) {
    let rows = here.runs(Query::default()).await.unwrap();
    assert_eq!(there.runs(Query::default()).await.unwrap(), rows);
    for row in &rows {
        let (a, b) = (here.read(&row.run, 0, 10_000).await.unwrap(), there.read(&row.run, 0, 10_000).await.unwrap());
        assert!(a == b, "{}", row.run);
        assert_eq!(here.tasks(&row.run).await, there.tasks(&row.run).await);
        assert_eq!(here.timers(&row.run).await, there.timers(&row.run).await);
        assert_eq!(here.snapshot(&row.run).await, there.snapshot(&row.run).await);
        let hashes = here.blobs(&row.run).await.unwrap();
        assert_eq!(there.blobs(&row.run).await.unwrap(), hashes);
        for hash in hashes {
            assert_eq!(here.blob(hash).await, there.blob(hash).await);
        }
        let dedups = async |store: &Given| -> Vec<String> {
            store.inbox(&row.run).await.unwrap().into_iter().map(|message| message.dedup).collect()
        };
        assert_eq!(dedups(here).await, dedups(there).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_goes_from_memory_to_a_file_to_a_database_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let file =
        |name: &str| -> Given { Arc::new(Sqlite::open(folder.path().join(name), SqliteOptions::default()).unwrap()) };
    let address = server::shared().address().parse().unwrap();
    let database: Given = Arc::new(Postgres::open(&address, PostgresOptions::default()).await.unwrap());
    let stores: [Given; 4] = [Arc::new(Memory::new()), file("a.db"), database, file("b.db")];
    fill(&stores[0]).await;
    for pair in stores.windows(2) {
        assert_eq!(copy(pair[0].as_ref(), pair[1].as_ref()).await, Ok(Copied { runs: 3, events: 1_207 }));
        same(&pair[0], &pair[1]).await;
        assert_eq!(pair[1].check().await, Ok(vec![]));
        // A message that was consumed long ago is not accepted again.
        assert_eq!(pair[1].post(message(&id("rich"), "hook", "1")).await, Ok(Posted::Duplicate));
        advance(&pair[1], &id("aaaa"), |_| ()).await.unwrap();
        pair[1].remove(&id("aaaa")).await.unwrap();
        made(&pair[1], "aaaa").await;
    }
}

#[tokio::test]
async fn runs_that_are_there_already_are_refused_and_left_alone() {
    let (from, to): (Given, Given) = (Arc::new(Memory::new()), Arc::new(Memory::new()));
    fill(&from).await;
    let there = made(&to, "rich").await;
    let before = everything(&to, &there).await;
    assert_eq!(copy(from.as_ref(), to.as_ref()).await, Err(Error::Exists));
    assert_eq!(everything(&to, &there).await, before);
    assert_eq!(to.run(&id("long")).await, Ok(None));
}

#[tokio::test]
async fn a_backup_is_the_store_of_that_moment() {
    let folder = tempfile::tempdir().unwrap();
    let given: Given = Arc::new(Sqlite::open(folder.path().join("a.db"), SqliteOptions::default()).unwrap());
    fill(&given).await;
    Sqlite::back_up(&folder.path().join("a.db"), &folder.path().join("b.db")).unwrap();
    let copied: Given = Arc::new(Sqlite::open(folder.path().join("b.db"), SqliteOptions::default()).unwrap());
    same(&given, &copied).await;
    advance(&given, &id("aaaa"), |_| ()).await.unwrap();
    assert_eq!(copied.run(&id("aaaa")).await.unwrap().unwrap().last_seq, 1);
    assert_eq!(copied.check().await, Ok(vec![]));
}
