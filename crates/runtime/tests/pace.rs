//! What was made cheap still does what it did: snapshots, the worker's looks, mail for runs that are parked.
use std::sync::Arc;
use std::time::Duration;

use longhaul_agents::scripted::Script;
use longhaul_core::event::Answer;
use longhaul_core::id::RunId;
use longhaul_core::index::Index;
use longhaul_core::origin::Caller;
use longhaul_core::plan::{Outcome, Plan};
use longhaul_core::state::State;
use longhaul_runtime::{Engine, Idle, Message, Options, StartRequest, System};
use longhaul_store::{Memory, Query, Store};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

fn engine(store: &Arc<dyn Store>, folder: &tempfile::TempDir) -> Engine {
    let options = Options {
        runs_dir: folder.path().join("runs"),
        workspace: folder.path().to_owned(),
        script: Arc::new(Script::builtin()),
        agent: "scripted".to_owned(),
        attempts_max: 4,
        lease: Duration::from_secs(60),
        guard: None,
        ..Options::default()
    };
    Engine::new(Arc::clone(store), Arc::new(System), options)
}

fn plan(forms: &[Value]) -> Plan {
    let step = |(at, form): (usize, &Value)| {
        let deps: Vec<usize> = at.checked_sub(1).into_iter().collect();
        json!({"id": format!("s{at}"), "body": 0, "form": form, "deps": deps})
    };
    let steps: Vec<Value> = forms.iter().enumerate().map(step).collect();
    let order: Vec<usize> = (0..forms.len()).collect();
    let plan = json!({
        "semantics": 1,
        "units": [{"name": "pace", "body": 0}],
        "bodies": [{"unit": 0, "order": "graph", "steps": order}],
        "steps": steps,
    });
    serde_json::from_value(plan).unwrap()
}

fn noop() -> Value {
    json!({"work": {"kind": "noop", "params": {"output": {"json": "x"}}}})
}

fn question() -> Value {
    json!({"approve": {"question": "Continue?", "on_timeout": "fail", "on_deny": "fail"}})
}

async fn drive(engine: &Engine, run: &RunId) -> Idle {
    engine.drive(run, CancellationToken::new(), |_| true).await.unwrap()
}

/// Waits until a run is listed under a status.
async fn reached(engine: &Engine, status: &str) {
    let query = Query { statuses: vec![status.to_owned()], ..Query::default() };
    while engine.list(query.clone()).await.unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn a_long_run_loads_from_its_snapshot_as_from_its_beginning() {
    let (store, folder): (Arc<dyn Store>, _) = (Arc::new(Memory::default()), tempfile::tempdir().unwrap());
    let engine = engine(&store, &folder);
    let plan = plan(&vec![noop(); 400]);
    let run = engine.start(&plan, StartRequest::default()).await.unwrap();
    assert_eq!(drive(&engine, &run).await, Idle::Finished(Outcome::Success));
    while store.snapshot(&run).await.unwrap().is_none() {
        tokio::task::yield_now().await;
    }
    let (index, mut state) = (Index::of(&plan), State::default());
    for envelope in engine.events(&run, 0, usize::MAX >> 1).await.unwrap() {
        state.apply(&plan, &index, &envelope).unwrap();
    }
    assert_eq!(state.succeeded, 400);
    assert_eq!(engine.load(&run).await.unwrap().state, state);
}

#[tokio::test]
async fn a_worker_takes_up_runs_that_are_made_while_it_works() {
    let (store, folder): (Arc<dyn Store>, _) = (Arc::new(Memory::default()), tempfile::tempdir().unwrap());
    let (working, other) = (engine(&store, &folder), engine(&store, &folder));
    let stop = CancellationToken::new();
    let worker = tokio::spawn({
        let (engine, stop) = (working.clone(), stop.clone());
        async move { engine.work(stop).await }
    });
    for _ in 0..3 {
        let run = other.start(&plan(&[noop(), noop()]), StartRequest::default()).await.unwrap();
        while !other.load(&run).await.unwrap().state.is_finished() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    stop.cancel();
    worker.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_parked_run_goes_on_when_it_is_answered_here_or_elsewhere() {
    let (store, folder): (Arc<dyn Store>, _) = (Arc::new(Memory::default()), tempfile::tempdir().unwrap());
    let (working, other) = (engine(&store, &folder), engine(&store, &folder));
    let stop = CancellationToken::new();
    let worker = tokio::spawn({
        let (engine, stop) = (working.clone(), stop.clone());
        async move { engine.work(stop).await }
    });
    for teller in [&working, &other] {
        let run = other.start(&plan(&[question(), noop()]), StartRequest::default()).await.unwrap();
        reached(&other, "waiting").await;
        let message = Message::answer("s0".parse().unwrap(), Answer::Approve, Caller::default());
        teller.tell(&run, message, None).await.unwrap();
        while !other.load(&run).await.unwrap().state.is_finished() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    stop.cancel();
    worker.await.unwrap().unwrap();
}
