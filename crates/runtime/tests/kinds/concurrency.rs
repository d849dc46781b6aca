//! Tests `concurrency`: runs of one group, with one engine and with two on one file.

use std::sync::Arc;
use std::time::Duration;

use longhaul_core::event::Event;
use longhaul_core::id::RunId;
use longhaul_core::plan::Outcome;
use longhaul_runtime::{Engine, Idle, Message};
use longhaul_store::{Sqlite, SqliteOptions as StoreOptions};
use tokio_util::sync::CancellationToken;

use crate::kinds::bench::{Bench, finish, plan, start};

/// A run that waits for a signal, so that the test decides when it ends.
fn waiting(max: u32, when_full: &str) -> longhaul_core::plan::Plan {
    plan(&format!(
        "inputs: {{g: {{type: string, default: x}}}}\nconcurrency: {{group: \"build-{{{{ g }}}}\", max: {max}, when_full: {when_full}}}\nsteps:\n  - id: a\n    wait: {{event: go}}\n"
    ))
}

async fn nudge(engine: &Engine, run: &RunId) -> Idle {
    engine.nudge(run, &CancellationToken::new()).await.unwrap()
}

async fn status(engine: &Engine, run: &RunId) -> String {
    let query = longhaul_store::Query { prefix: Some(run.to_string()), ..Default::default() };
    let row = engine.list(query).await.unwrap().remove(0);
    let loaded = engine.load(run).await.unwrap();
    assert_eq!(row.head.status, loaded.state.status_in(&loaded.plan.0).word());
    row.head.status
}

async fn go(engine: &Engine, run: &RunId) {
    let signal = Message::Signal { name: "go".to_owned(), data: serde_json::Value::Null, by: None };
    engine.tell(run, signal, None).await.unwrap();
}

async fn cancel(engine: &Engine, run: &RunId) {
    engine.tell(run, Message::Cancel { reason: None, by: None }, None).await.unwrap();
}

#[tokio::test]
async fn one_more_than_fits_waits_and_begins_when_an_earlier_one_ends() {
    let engine = Bench::new().engine();
    let plan = waiting(2, "queue");
    let runs = [start(&engine, &plan, &[]).await, start(&engine, &plan, &[]).await, start(&engine, &plan, &[]).await];
    // The last run asks first: it must not start only because the others have not started yet.
    for run in runs.iter().rev() {
        nudge(&engine, run).await;
    }
    assert_eq!(status(&engine, &runs[2]).await, "queued");
    assert_eq!(status(&engine, &runs[1]).await, "waiting");
    assert_eq!(engine.events(&runs[2], 0, 10).await.unwrap().len(), 1);
    go(&engine, &runs[0]).await;
    nudge(&engine, &runs[0]).await;
    nudge(&engine, &runs[2]).await;
    assert_eq!(status(&engine, &runs[2]).await, "waiting");
}

#[tokio::test]
async fn another_group_does_not_count() {
    let engine = Bench::new().engine();
    let plan = waiting(1, "queue");
    let first = start(&engine, &plan, &[]).await;
    let other = start(&engine, &plan, &[("g", "y")]).await;
    nudge(&engine, &first).await;
    nudge(&engine, &other).await;
    assert_eq!(status(&engine, &other).await, "waiting");
}

#[tokio::test]
async fn a_run_that_is_driven_is_woken_when_there_is_room() {
    let engine = Bench::new().engine();
    let plan = waiting(1, "queue");
    let (first, second) = (start(&engine, &plan, &[]).await, start(&engine, &plan, &[]).await);
    nudge(&engine, &first).await;
    let driving = tokio::spawn({
        let (engine, second) = (engine.clone(), second.clone());
        async move { finish(&engine, &second).await.0 }
    });
    go(&engine, &second).await;
    go(&engine, &first).await;
    nudge(&engine, &first).await;
    assert_eq!(driving.await.unwrap(), Outcome::Success);
}

#[tokio::test]
async fn a_queued_run_can_be_cancelled_and_started_again() {
    let engine = Bench::new().engine();
    let plan = waiting(1, "queue");
    let (first, second) = (start(&engine, &plan, &[]).await, start(&engine, &plan, &[]).await);
    nudge(&engine, &first).await;
    cancel(&engine, &second).await;
    assert_eq!(nudge(&engine, &second).await, Idle::Finished(Outcome::Cancelled));
    engine.tell(&second, Message::Retry { from: None, by: None }, None).await.unwrap();
    nudge(&engine, &second).await;
    assert_eq!(status(&engine, &second).await, "queued");
    assert_eq!(engine.load(&second).await.unwrap().state.waiting().count(), 0);
}

#[tokio::test]
async fn a_full_group_can_mean_to_be_skipped() {
    let engine = Bench::new().engine();
    let plan = waiting(1, "skip");
    let (first, second) = (start(&engine, &plan, &[]).await, start(&engine, &plan, &[]).await);
    assert_eq!(nudge(&engine, &second).await, Idle::Finished(Outcome::Cancelled));
    let state = engine.load(&second).await.unwrap().state;
    assert_eq!(state.finished.unwrap().message.unwrap(), "skipped: the group `build-x` is full");
    assert_eq!(nudge(&engine, &second).await, Idle::Finished(Outcome::Cancelled));
    assert_eq!(engine.events(&second, 0, 10).await.unwrap().len(), 2);
    nudge(&engine, &first).await;
    assert_eq!(status(&engine, &first).await, "waiting");
}

#[tokio::test]
async fn a_full_group_can_mean_that_the_oldest_goes() {
    let engine = Bench::new().engine();
    let plan = waiting(2, "cancel_oldest");
    let runs = [start(&engine, &plan, &[]).await, start(&engine, &plan, &[]).await, start(&engine, &plan, &[]).await];
    for run in &runs {
        nudge(&engine, run).await;
        nudge(&engine, run).await;
    }
    assert_eq!(status(&engine, &runs[2]).await, "queued");
    assert_eq!(nudge(&engine, &runs[0]).await, Idle::Finished(Outcome::Cancelled));
    let events = engine.events(&runs[0], 0, 100).await.unwrap();
    assert_eq!(events.iter().filter(|envelope| matches!(envelope.event, Event::CancelRequested { .. })).count(), 1);
    nudge(&engine, &runs[2]).await;
    assert_eq!(status(&engine, &runs[2]).await, "waiting");
    assert_eq!(status(&engine, &runs[1]).await, "waiting");
}

#[tokio::test]
async fn a_group_that_can_not_be_rendered_starts_nothing() {
    let bench = Bench::new();
    let mut plan = waiting(1, "queue");
    plan.units[0].concurrency.as_mut().unwrap().group.0 = "{{ missing }}".to_owned();
    let error = bench.engine().start(&plan, Default::default()).await.unwrap_err().to_string();
    assert!(error.contains("`concurrency.group`"), "{error}");
    assert!(bench.engine().list(Default::default()).await.unwrap().is_empty());
}

/// Two engines share a file; each drives half of the runs, all at once. Every run takes part in a count of running
/// ones.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_engines_on_one_file_never_let_in_more_than_fit() {
    let mut bench = Bench::new();
    let file = bench.dir.path().join("store.db");
    let mut engines = Vec::new();
    for _ in 0..2 {
        bench.store = Arc::new(Sqlite::open(&file, StoreOptions::default()).unwrap());
        engines.push(bench.engine());
    }
    // Each writes a file while it is running; more than two at once leave a trace.
    let plan = plan(
        "concurrency: {group: all, max: 2}\nsteps:\n  - id: a\n    run: |\n      touch \"inside.$$\"\n      test \"$(ls inside.* | wc -l)\" -le 2 || touch exceeded\n      sleep 0.05\n      test \"$(ls inside.* | wc -l)\" -le 2 || touch exceeded\n      rm \"inside.$$\"\n      echo x >> done\n",
    );
    let mut driving = Vec::new();
    for at in 0..8 {
        let engine = engines[at % 2].clone();
        let run = start(&engine, &plan, &[]).await;
        driving.push(tokio::spawn(async move { finish(&engine, &run).await.0 }));
    }
    for run in driving {
        let outcome = tokio::time::timeout(Duration::from_secs(60), run).await.unwrap().unwrap();
        assert_eq!(outcome, Outcome::Success);
    }
    assert!(!bench.file("exceeded").exists());
    assert_eq!(std::fs::read_to_string(bench.file("done")).unwrap().lines().count(), 8);
}
