//! What keeps writers of a database apart, with somebody who stands still in the middle of a write.
//!
//! `scripts/mutate-fences` takes one predicate after another out of the statements, and looks whether a test notices.
use std::sync::Arc;

use longhaul_core::id::RunId;
use longhaul_store::conformance::{Given, held, id, made, making, message, server, start, task, worker};
use longhaul_store::{Append, Blob, Caps, Claim, Error, EventId, NewEvent, NewTask, Postgres, PostgresOptions};
use tokio_postgres::Client;

/// A store, and a connection past it.
async fn store() -> (Given, Client) {
    let address = server::shared().address();
    let store = Postgres::open(&address.parse().unwrap(), PostgresOptions::default()).await.unwrap();
    let (place, schema) = address.split_once("?schema=").unwrap();
    let (client, connection) = tokio_postgres::connect(place, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute(&format!("SET search_path = {schema}")).await.unwrap();
    (Arc::new(store), client)
}

/// Somebody takes the oldest free task, and does not come to an end with it.
const TAKING: &str = "BEGIN; SELECT claim_2('first', '[]', NULL, 10, 1, '', NULL, '{}', '{}')";

async fn holders(store: &Given, run: &RunId) -> Vec<String> {
    let tasks = store.tasks(run).await.unwrap().into_iter();
    tasks
        .map(|task| format!("{} {}", task.key, task.worker.map_or("-".to_owned(), |worker| worker.to_string())))
        .collect()
}

fn asking(key: &str, label: &str) -> NewTask {
    NewTask { labels: vec![label.to_owned()], ..task(key, 1) }
}

/// What is left is given, but nothing of others and nothing that takes more than the worker has.
#[tokio::test(flavor = "multi_thread")]
async fn who_passes_over_a_task_still_gets_only_what_it_may() {
    let (store, first) = store().await;
    let run = made(&store, "wanted").await;
    for new in [task("a", 1), held("b", 1, "third"), asking("c", "gpu"), task("d", 1)] {
        start(&store, &run, new).await;
    }
    first.batch_execute(TAKING).await.unwrap();
    let claimed = store.claim(Claim::new(worker("second"), 0, 10, 9)).await.unwrap();
    assert_eq!(claimed.iter().map(|task| task.key.as_str()).collect::<Vec<_>>(), ["d"]);
    first.batch_execute("COMMIT").await.unwrap();
    assert_eq!(holders(&store, &run).await, ["a first", "b third", "c -", "d second"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_passes_over_a_task_of_a_run_gets_nothing_of_another() {
    let (store, first) = store().await;
    let (run, other) = (made(&store, "this").await, made(&store, "other").await);
    for (run, key) in [(&run, "a"), (&run, "b"), (&other, "c")] {
        start(&store, run, task(key, 1)).await;
    }
    first.batch_execute(TAKING).await.unwrap();
    let claim = Claim { run: Some(run.clone()), ..Claim::new(worker("second"), 0, 10, 9) };
    assert_eq!(store.claim(claim).await.unwrap().len(), 1);
    first.batch_execute("COMMIT").await.unwrap();
    assert_eq!(holders(&store, &run).await, ["a first", "b second"]);
    assert_eq!(holders(&store, &other).await, ["c -"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_passes_over_a_task_keeps_to_the_caps() {
    let (store, first) = store().await;
    let run = made(&store, "capped").await;
    for key in ["a", "b", "c"] {
        start(&store, &run, task(key, 1)).await;
    }
    first.batch_execute(TAKING).await.unwrap();
    let caps = Caps { all: Some(1), ..Caps::default() };
    let claim = Claim { caps, ..Claim::new(worker("second"), 0, 10, 9) };
    assert_eq!(store.claim(claim).await.unwrap().len(), 1);
    first.batch_execute("COMMIT").await.unwrap();
}

/// Something that is asked of the store and waits for somebody who stands still, until that one continues.
async fn waits<T: Send + 'static>(asked: impl Future<Output = T> + Send + 'static, first: &Client) -> T {
    let holder: i32 = first.query_one("SELECT pg_backend_pid()", &[]).await.unwrap().get(0);
    let asked = tokio::spawn(asked);
    let waiting = format!("SELECT count(*) FROM pg_stat_activity WHERE {holder} = ANY (pg_blocking_pids(pid))");
    while server::shared().sql(&waiting) == "0" {
        assert!(!asked.is_finished(), "it did not wait");
        tokio::task::yield_now().await;
    }
    first.batch_execute("COMMIT").await.unwrap();
    asked.await.unwrap()
}

/// An append by hand, whose event has the number of its run, and which does not come to an end.
fn appending((run, number): (&str, u128), expected: u64, blobs: &str) -> String {
    let event =
        format!("ARRAY[decode(lpad('{number}', 32, '0'), 'hex')], ARRAY[1], ARRAY['\\x'::bytea], ARRAY['\\x'::bytea]");
    format!("BEGIN; SELECT append_2('{run}', {expected}, {event}, NULL, NULL, {}{blobs})", "'{}', ".repeat(12))
}

/// What a run is given while it is removed goes with it, and leaves nothing that belongs to nobody.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_removed_is_not_written_to_meanwhile() {
    let (store, first) = store().await;
    let run = id("going");
    let append = Append { blobs: vec![Blob::new("old")], ..making(&run) };
    store.append(append).await.unwrap();
    let blob = "ARRAY[decode(repeat('ab', 32), 'hex')], ARRAY['new'::bytea]";
    first.batch_execute(&appending(("going", 1), 1, blob)).await.unwrap();
    let asked = Arc::clone(&store);
    assert_eq!(waits(async move { asked.remove(&run).await }, &first).await, Ok(()));
    assert_eq!(store.check().await, Ok(vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_posted_to_a_run_that_is_being_removed_is_refused() {
    let (store, first) = store().await;
    let run = made(&store, "leaving").await;
    first.batch_execute("BEGIN; SELECT remove_1('leaving')").await.unwrap();
    let (asked, letter) = (Arc::clone(&store), message(&run, "hook", "1"));
    assert_eq!(waits(async move { asked.post(letter).await }, &first).await, Err(Error::UnknownRun));
    assert_eq!(store.check().await, Ok(vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_of_a_run_that_is_being_removed_is_refused() {
    let (store, first) = store().await;
    let run = made(&store, "leaving").await;
    first.batch_execute("BEGIN; SELECT remove_1('leaving')").await.unwrap();
    let asked = Arc::clone(&store);
    let saved = waits(async move { asked.save_snapshot(&run, 1, vec![1]).await }, &first).await;
    assert_eq!(saved, Err(Error::UnknownRun));
    assert_eq!(store.check().await, Ok(vec![]));
}

/// The answer to the first try is lost while the server is still at it, and the second one is there before it has ended.
#[tokio::test(flavor = "multi_thread")]
async fn a_second_try_that_meets_the_first_is_recognised() {
    let (store, first) = store().await;
    is_recognised(&store, &first).await;
}

/// The same, as programs of version 2 do it.
#[tokio::test(flavor = "multi_thread")]
async fn a_second_try_of_an_older_program_that_meets_the_first_is_recognised() {
    let (store, first) = store().await;
    let lead = "DROP FUNCTION append_2; ALTER FUNCTION append_1 RENAME TO append_2";
    first.batch_execute(lead).await.unwrap();
    is_recognised(&store, &first).await;
}

async fn is_recognised(store: &Given, first: &Client) {
    for (expected, run, number) in [(0, "fresh", 1), (1, "known", 2)] {
        let again = |number: u128| Append {
            events: vec![NewEvent { id: EventId(number), at_ms: 1, body: String::new() }],
            ..Append { expected, ..making(&id(run)) }
        };
        if expected > 0 {
            made(store, run).await;
        }
        first.batch_execute(&appending((run, number), expected, "'{}', '{}'")).await.unwrap();
        let (asked, append) = (Arc::clone(store), again(number));
        let answer = waits(async move { asked.append(append).await }, first).await;
        assert_eq!(answer, Err(Error::AlreadyApplied), "{run}");
        let other = store.append(again(9)).await;
        assert!([Err(Error::Exists), Err(Error::Conflict { actual: 2 })].contains(&other), "{run}: {other:?}");
    }
}
