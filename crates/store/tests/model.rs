//! Tests that the stores in a file and in a database answer like the reference, for any calls in any order.
use std::sync::Arc;

use longhaul_core::id::RunId;
use longhaul_store::conformance::{Given, end, held, id, message, server, task, timer, worker};
use longhaul_store::{
    Append, Blob, Claim, Error, EventId, Head, Memory, MessageId, NewEvent, Postgres, PostgresOptions, Query, Sqlite,
    SqliteOptions, Synchronous,
};
use proptest::option::weighted;
use proptest::prelude::*;

/// A small world, so that calls collide: three runs, two keys, two workers, few event ids.
#[derive(Debug, Clone)]
enum Call {
    Append { run: usize, behind: u64, event: u128, extras: Extras },
    Post { run: usize, dedup: u8 },
    Claim { worker: usize, limit: usize },
    Renew { worker: usize, now_ms: i64 },
    Snapshot { run: usize, seq: u64 },
    Remove { run: usize },
}

#[derive(Debug, Clone)]
struct Extras {
    started: Option<(usize, u32, Option<usize>)>,
    ended: Option<(usize, u32, Option<usize>)>,
    timer: Option<(usize, i64)>,
    cleared: Option<usize>,
    blob: Option<u8>,
    consumed: Option<usize>,
    status: Option<bool>,
}

const RUNS: [&str; 3] = ["run-a", "run-b", "run-c"];
const KEYS: [&str; 2] = ["x", "y"];
const WORKERS: [&str; 2] = ["v", "w"];

fn extras() -> impl Strategy<Value = Extras> {
    let one = || (0..2usize, 1..3u32, proptest::option::of(0..2usize));
    let tasks = (weighted(0.4, one()), weighted(0.4, one()));
    let timers = (weighted(0.3, (0..2usize, 0..50i64)), weighted(0.2, 0..2usize));
    let rest = (weighted(0.2, 0..3u8), weighted(0.3, 0..2usize), weighted(0.3, any::<bool>()));
    (tasks, timers, rest).prop_map(|((started, ended), (timer, cleared), (blob, consumed, status))| Extras {
        started,
        ended,
        timer,
        cleared,
        blob,
        consumed,
        status,
    })
}

fn call() -> impl Strategy<Value = Call> {
    let behind = prop_oneof![6 => Just(0), 1 => 1..3u64];
    prop_oneof![
        10 => (0..3usize, behind, 0..60u128, extras())
            .prop_map(|(run, behind, event, extras)| Call::Append { run, behind, event, extras }),
        2 => (0..3usize, 0..6u8).prop_map(|(run, dedup)| Call::Post { run, dedup }),
        2 => (0..2usize, 0..3usize).prop_map(|(worker, limit)| Call::Claim { worker, limit }),
        1 => (0..2usize, 0..50i64).prop_map(|(worker, now_ms)| Call::Renew { worker, now_ms }),
        1 => (0..3usize, 0..5u64).prop_map(|(run, seq)| Call::Snapshot { run, seq }),
        1 => (0..3usize).prop_map(|run| Call::Remove { run }),
    ]
}

/// The result of the call, as text.
async fn make(store: &Given, call: &Call) -> String {
    match call.clone() {
        Call::Append { run, behind, event, extras } => {
            let append = appended(store, (&id(RUNS[run]), behind, event), extras).await;
            format!("{:?}", store.append(append).await)
        }
        Call::Post { run, dedup } => {
            format!("{:?}", store.post(message(&id(RUNS[run]), "hook", &dedup.to_string())).await)
        }
        Call::Claim { worker: who, limit } => {
            format!("{:?}", store.claim(Claim::new(worker(WORKERS[who]), 10, 10, limit)).await)
        }
        Call::Renew { worker: who, now_ms } => format!("{:?}", store.renew(&worker(WORKERS[who]), now_ms, 5).await),
        Call::Snapshot { run, seq } => {
            format!("{:?}", store.save_snapshot(&id(RUNS[run]), seq, vec![seq as u8]).await)
        }
        Call::Remove { run } => format!("{:?}", store.remove(&id(RUNS[run])).await),
    }
}

async fn appended(store: &Given, (run, behind, event): (&RunId, u64, u128), extras: Extras) -> Append {
    let last = store.run(run).await.unwrap().map_or(0, |row| row.last_seq);
    let event = NewEvent { id: EventId(event), at_ms: 10, body: event.to_string() };
    let inbox = store.inbox(run).await.unwrap();
    let status = extras.status.map(|done| Head { status: done.to_string(), ..Head::default() });
    Append {
        head: if last == 0 { Some(status.unwrap_or_default()) } else { status },
        blobs: extras.blob.map(|byte| Blob::new([byte])).into_iter().collect(),
        timers_set: extras.timer.map(|(key, due_ms)| timer(run, KEYS[key], due_ms)).into_iter().collect(),
        timers_cleared: extras.cleared.map(|key| KEYS[key].to_owned()).into_iter().collect(),
        tasks_started: Vec::from_iter(extras.started.map(|(key, attempt, who)| match who {
            Some(who) => held(KEYS[key], attempt, WORKERS[who]),
            None => task(KEYS[key], attempt),
        })),
        tasks_ended: Vec::from_iter(
            extras.ended.map(|(key, attempt, who)| end(KEYS[key], attempt, who.map(|who| WORKERS[who]))),
        ),
        consumed: Vec::from_iter(extras.consumed.map(|at| inbox.get(at).map_or(MessageId(-1), |message| message.id))),
        ..Append::new(run.clone(), last.saturating_sub(behind), vec![event])
    }
}

/// Everything that a store shows, without the ids that it chose itself.
async fn shown(store: &Given) -> Result<String, Error> {
    let mut text = format!("{:?}\n", store.runs(Query::default()).await?);
    for name in RUNS {
        let run = id(name);
        let mail: Vec<_> = store.inbox(&run).await?.into_iter().map(|m| (m.source, m.dedup, m.body, m.at_ms)).collect();
        text += &format!("{:?} {mail:?}\n", store.read(&run, 0, 100).await);
        text += &format!("{:?} {:?}\n", store.tasks(&run).await?, store.snapshot(&run).await?);
    }
    for byte in 0..3 {
        text += &format!("{:?}", store.blob(Blob::new([byte]).hash).await?);
    }
    text += &format!("{:?} {:?}\n", store.due(25, 10).await?, store.next_due().await?);
    text += &format!("{:?} {:?}\n", store.expired(1_010, 10).await?, store.with_mail(10).await?);
    Ok(text)
}

async fn compare(store: Given, calls: Vec<Call>) {
    let reference: Given = Arc::new(Memory::new());
    for call in &calls {
        assert_eq!(make(&store, call).await, make(&reference, call).await, "{call:?}");
        assert_eq!(shown(&store).await, shown(&reference).await, "after {call:?}");
    }
    assert_eq!(store.check().await, Ok(vec![]));
}

async fn compare_file(calls: Vec<Call>) {
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteOptions { synchronous: Synchronous::Normal, ..SqliteOptions::default() };
    compare(Arc::new(Sqlite::open(folder.path().join("store.db"), options).unwrap()), calls).await;
}

async fn compare_database(calls: Vec<Call>) {
    let address = server::shared().address().parse().unwrap();
    compare(Arc::new(Postgres::open(&address, PostgresOptions::default()).await.unwrap()), calls).await;
}

fn block_on(future: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn the_file_answers_like_the_reference(calls in proptest::collection::vec(call(), 1..40)) {
        block_on(compare_file(calls));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, ..ProptestConfig::default() })]

    #[test]
    fn the_database_answers_like_the_reference(calls in proptest::collection::vec(call(), 1..40)) {
        block_on(compare_database(calls));
    }
}
