//! Tests schedules in virtual time, on a store in a file that several engines share: each time fires once, missed times
//! fire later, and no trigger is blocked for good.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use longhaul_core::registry::schedule::at;
use longhaul_core::registry::trigger::{Schedule, Target, Trigger, TriggerDefinition};
use longhaul_core::registry::{Arming, Change};
use longhaul_lang::world::Bare;
use longhaul_lang::{CheckRequest, check, hash};
use longhaul_runtime::{Clock, Engine, EngineOptions, Message, Startable, Wanted};
use longhaul_store::{Query, Sqlite, SqliteOptions as StoreOptions};
use tempfile::TempDir;

const WAITS: &str = "name: waits\ndo:\n  - {id: gate, approve: Continue?}\n";

/// A clock that the test sets.
#[derive(Debug, Default)]
struct Set(AtomicI64);

impl Clock for Set {
    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }
}

struct Bench {
    dir: TempDir,
    clock: Arc<Set>,
}

impl Bench {
    /// A schedule every five minutes that last fired at 10:00.
    async fn kept_at_ten() -> Self {
        let bench = Self { dir: tempfile::tempdir().unwrap(), clock: Arc::default() };
        bench.set("2026-11-15T09:58:00Z");
        let engine = bench.engine();
        let change = Change { text: hash::known("waits.yaml", WAITS), ..Change::default() };
        engine.change_registry(|shelf, _| Ok(((), shelf.save("waits", &change)?))).await.unwrap();
        let arming = Arming { id: None, trigger: trigger(true), by: Some("jane".to_owned()) };
        engine.change_registry(|shelf, _| Ok(((), shelf.arm(&arming)?.1.into_iter().collect()))).await.unwrap();
        assert_eq!(bench.tick(&engine, "2026-11-15T10:00:02Z").await, ["t2-202611151000"]);
        bench
    }

    fn set(&self, moment: &str) {
        self.clock.0.store(at(moment).unwrap(), Ordering::SeqCst);
    }

    fn engine(&self) -> Engine {
        let store = Sqlite::open(self.dir.path().join("store.db"), StoreOptions::default()).unwrap();
        let options = EngineOptions { runs_dir: self.dir.path().join("runs"), ..EngineOptions::default() };
        Engine::new(Arc::new(store), Arc::clone(&self.clock) as Arc<dyn Clock>, options)
    }

    /// The runs that start at a time.
    async fn tick(&self, engine: &Engine, moment: &str) -> Vec<String> {
        self.set(moment);
        engine.tick(&startable).await.unwrap().iter().map(ToString::to_string).collect()
    }

    /// Ends every run, so that others may start.
    async fn end_all(&self, engine: &Engine) {
        for row in engine.list(Query { limit: 100, ..Query::default() }).await.unwrap() {
            let _ = engine.tell(&row.run, Message::Cancel { reason: None, by: None }, None).await;
            engine.nudge(&row.run, &tokio_util::sync::CancellationToken::new()).await.unwrap();
        }
    }

    /// The deliveries, without the day.
    async fn deliveries(&self, engine: &Engine) -> Vec<String> {
        let shelf = engine.registry().await.unwrap();
        let (_, armed) = shelf.trigger("five").unwrap();
        let told = |delivery: &longhaul_core::registry::Delivery| {
            let reason = delivery.reason.as_ref().map_or_else(String::new, |reason| format!(" {reason}"));
            format!("{} {}{reason}", &delivery.key[delivery.key.len() - 5..], delivery.outcome.word())
        };
        armed.deliveries.iter().map(|(_, delivery)| told(delivery)).collect()
    }
}

fn trigger(enabled: bool) -> Trigger {
    Trigger {
        name: "five".to_owned(),
        enabled,
        workflow: Some("waits".to_owned()),
        task: None,
        kind: TriggerDefinition::Schedule(Schedule {
            cron: "*/5 * * * *".to_owned(),
            timezone: "America/Denver".to_owned(),
            both_days: false,
            target: Target::Workflow,
            prompt: None,
            variables: indexmap::IndexMap::new(),
        }),
        mapping: indexmap::IndexMap::new(),
    }
}

fn startable(wanted: Wanted<'_>) -> Result<Option<Startable>, String> {
    let Wanted::Workflow("waits") = wanted else { return Ok(None) };
    let request = CheckRequest {
        file: "waits.yaml".to_owned(),
        name: "waits".to_owned(),
        text: WAITS.to_owned(),
        ..CheckRequest::default()
    };
    let plan = check(request, &Bare::default()).workflows.into_iter().find_map(|workflow| workflow.plan);
    Ok(plan.map(|plan| Startable { plan, dir: std::path::PathBuf::new(), source: None }))
}

#[tokio::test]
async fn what_was_missed_is_made_up_for_the_oldest_first_and_once() {
    let bench = Bench::kept_at_ten().await;
    let (one, other) = (bench.engine(), bench.engine());
    let started = bench.tick(&one, "2026-11-15T10:17:30Z").await;
    assert_eq!(started, ["t2-202611151005", "t2-202611151010", "t2-202611151015"]);
    assert!(bench.tick(&other, "2026-11-15T10:17:31Z").await.is_empty());
    let told = bench.deliveries(&other).await;
    assert_eq!(told, ["10:00 matched", "10:05 matched", "10:10 matched", "10:15 matched"], "nothing is told twice");
    let run = one.load(&one.find("t2-202611151005").await.unwrap()).await.unwrap();
    let started = run.state.started.unwrap();
    assert_eq!(started.trigger.unwrap().key.as_deref(), Some("schedule:t2:2026-11-15T10:05"));
    assert_eq!(started.owner.unwrap().user.as_deref(), Some("jane"));
}

#[tokio::test]
async fn two_who_keep_the_same_time_start_one_run() {
    let bench = Bench::kept_at_ten().await;
    let (one, other) = (bench.engine(), bench.engine());
    bench.set("2026-11-15T10:05:00Z");
    let (first, second) = tokio::join!(one.tick(&startable), other.tick(&startable));
    let runs = one.list(Query { limit: 100, ..Query::default() }).await.unwrap();
    assert_eq!((first.unwrap().len() + second.unwrap().len(), runs.len()), (1, 2));
    let mut told = bench.deliveries(&one).await.split_off(1);
    told.sort();
    assert_eq!(told, ["10:05 duplicate", "10:05 matched"]);
    let shelf = one.registry().await.unwrap();
    let newest = shelf.trigger("t2").unwrap().1.newest().unwrap();
    assert_eq!(newest.1.outcome, longhaul_core::registry::DeliveryOutcome::Matched, "whoever said so last");
}

#[tokio::test]
async fn a_run_whose_starter_died_before_it_could_say_so_is_not_started_again() {
    let bench = Bench::kept_at_ten().await;
    let engine = bench.engine();
    let run = longhaul_core::id::RunId::new("t2-202611151005");
    let plan = startable(Wanted::Workflow("waits")).unwrap().unwrap().plan;
    let request = longhaul_runtime::StartRequest { run, ..Default::default() };
    engine.start(&plan, request).await.unwrap();
    assert_eq!(bench.tick(&engine, "2026-11-15T10:11:00Z").await, ["t2-202611151010"]);
    assert_eq!(bench.deliveries(&engine).await, ["10:00 matched", "10:05 matched", "10:10 matched"]);
}

#[tokio::test]
async fn who_has_too_many_runs_waits_and_is_not_forgotten() {
    let bench = Bench::kept_at_ten().await;
    let engine = bench.engine();
    let started = bench.tick(&engine, "2026-11-15T10:27:00Z").await;
    assert_eq!(started.len(), 4, "with the one of 10:00 there are five: {started:?}");
    assert!(bench.tick(&engine, "2026-11-15T10:30:00Z").await.is_empty());
    assert!(bench.tick(&engine, "2026-11-15T10:31:00Z").await.is_empty());
    let told = bench.deliveries(&engine).await;
    let [told] = &told[5..] else { panic!("once, and nothing later goes before it: {told:?}") };
    assert!(told.starts_with("10:25 concurrency_cap per_user_limit_exceeded:5 in the way: t2-"), "{told}");
    assert!(told.contains("t2-202611151000") && told.matches("t2-").count() == 5, "{told}");
    bench.end_all(&engine).await;
    assert_eq!(bench.tick(&engine, "2026-11-15T10:32:00Z").await, ["t2-202611151025", "t2-202611151030"]);
}

/// A run that waits for people does nothing meanwhile, and people may take days.
#[tokio::test]
async fn runs_that_wait_for_people_or_are_paused_are_in_nobodys_way() {
    let bench = Bench::kept_at_ten().await;
    let engine = bench.engine();
    let mut started = vec!["t2-202611151000".to_owned()];
    started.extend(bench.tick(&engine, "2026-11-15T10:27:00Z").await);
    for run in &started[1..] {
        let run = engine.find(run).await.unwrap();
        engine.nudge(&run, &tokio_util::sync::CancellationToken::new()).await.unwrap();
        assert_eq!(engine.load(&run).await.unwrap().state.status().word(), "waiting");
    }
    assert_eq!(bench.tick(&engine, "2026-11-15T10:28:00Z").await, ["t2-202611151025"]);
    let shelf = engine.registry().await.unwrap();
    let newest = shelf.trigger("t2").unwrap().1.newest().unwrap();
    assert_eq!(newest.1.run.as_deref(), Some("t2-202611151025"), "not that there was no room before");
}

#[tokio::test]
async fn what_is_too_long_ago_stays_undone() {
    let bench = Bench::kept_at_ten().await;
    let engine = bench.engine();
    bench.end_all(&engine).await;
    let first = bench.tick(&engine, "2026-11-15T16:01:00Z").await;
    assert_eq!(first.first().unwrap(), "t2-202611151205", "four hours back, and no further");
}

#[tokio::test]
async fn what_is_disabled_or_starts_nothing_does_not_run() {
    let bench = Bench::kept_at_ten().await;
    let engine = bench.engine();
    let gone = |trigger: Trigger| Arming { id: Some("five".to_owned()), trigger, by: None };
    let lost = gone(Trigger { workflow: Some("lost".to_owned()), ..trigger(true) });
    engine.change_registry(|shelf, _| Ok(((), shelf.arm(&lost)?.1.into_iter().collect()))).await.unwrap();
    assert!(bench.tick(&engine, "2026-11-15T10:05:00Z").await.is_empty());
    assert_eq!(bench.deliveries(&engine).await.last().unwrap(), "10:05 workflow_deleted");
    let disabled = gone(trigger(false));
    engine.change_registry(|shelf, _| Ok(((), shelf.arm(&disabled)?.1.into_iter().collect()))).await.unwrap();
    assert!(bench.tick(&engine, "2026-11-15T10:10:00Z").await.is_empty());
    assert_eq!(bench.deliveries(&engine).await.len(), 2);
}
