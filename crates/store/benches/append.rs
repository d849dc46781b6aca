//! What an append costs, next to what one row costs in bare SQLite with the same promise about power.
#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::sync::Arc;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use longhaul_store::conformance::{Given, advance, event, id, made};
use longhaul_store::{Append, Blob, Sqlite, SqliteOptions};
use rusqlite::Connection;
use tempfile::TempDir;
use tokio::runtime::Runtime;

const CROWD: u64 = 64;

fn bare(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let db = Connection::open(folder.path().join("bare.db")).unwrap();
    db.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE row (id INTEGER PRIMARY KEY, body TEXT)",
    )
    .unwrap();
    // Both files start with a log that has its size, so that neither is measured while it grows.
    let filler = "INSERT INTO row (body) VALUES (hex(zeroblob(4000000))); PRAGMA wal_checkpoint(RESTART)";
    db.execute_batch(filler).unwrap();
    criterion.bench_function("bare sqlite, one row a commit", |bencher| {
        bencher.iter(|| db.prepare_cached("INSERT INTO row (body) VALUES ('{}')").unwrap().execute([]).unwrap());
    });
}

fn store(runtime: &Runtime, runs: u64) -> (Given, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let store: Given = Arc::new(Sqlite::open(folder.path().join("store.db"), SqliteOptions::default()).unwrap());
    for number in 0..runs {
        runtime.block_on(made(&store, &format!("run-{number}")));
    }
    // As for the bare file: so big that the log is put back, and has its size from then on.
    let filler = vec![1; 8_000_000];
    runtime.block_on(async {
        let run = made(&store, "filler").await;
        advance(&store, &run, |append| append.blobs = vec![Blob::new(filler)]).await.unwrap();
    });
    (store, folder)
}

async fn append(store: Given, number: u64, expected: u64) {
    let append = Append::new(id(&format!("run-{number}")), expected, vec![event("{}")]);
    store.append(append).await.unwrap();
}

fn appends(criterion: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    let mut group = criterion.benchmark_group("append");
    for crowd in [1, CROWD] {
        let (store, _folder) = store(&runtime, crowd);
        let mut last = 0;
        group.throughput(Throughput::Elements(crowd));
        group.bench_function(format!("{crowd} at once"), |bencher| {
            let next = || {
                last += 1;
                last
            };
            bencher.to_async(&runtime).iter_batched(
                next,
                |expected| all(store.clone(), crowd, expected),
                BatchSize::PerIteration,
            );
        });
    }
}

async fn all(store: Given, crowd: u64, expected: u64) {
    let calls: Vec<_> = (0..crowd).map(|number| tokio::spawn(append(store.clone(), number, expected))).collect();
    for call in calls {
        call.await.unwrap();
    }
}

criterion_group!(benches, bare, appends);
criterion_main!(benches);
