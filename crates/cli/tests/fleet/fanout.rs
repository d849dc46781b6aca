//! Thousands of items at once: begun in a few commits, done as slots allow. Steps do nothing, so that what shows is the engine; a part
//! of them is enough to see how it continues.

use std::sync::Arc;

use longhaul_core::event::{Envelope, Event};
use longhaul_core::plan::Plan;
use longhaul_runtime::{Engine, Membership, Options, Pulse, StartRequest, clock_of};
use longhaul_store::{Place, Store};
use serde_json::json;
use tokio::sync::broadcast::Receiver;
use tokio_util::sync::CancellationToken;

use super::*;

/// In a file.
const ITEMS: usize = 10_000;
/// In a database, which takes longer to say the same.
const FEWER: usize = 1_000;
/// So many are over when it is stopped.
const ENOUGH: usize = 100;
/// Steps that the engine makes at once.
const SLOTS: usize = 8;

fn plan(items: usize, parallel: usize) -> Plan {
    let items: Vec<usize> = (0..items).collect();
    let each = json!({"for_each": items, "id": "all", "parallel": parallel, "do": [{"id": "item", "run": "true"}]});
    let workflow = json!({"name": "many", "limits": {"parallel": parallel, "steps": 2 * ITEMS}, "do": [each]});
    let plan = longhaul_testkit::plan(&workflow.to_string()).unwrap();
    let mut plan = serde_json::to_value(plan).unwrap();
    for step in plan["steps"].as_array_mut().unwrap() {
        if step["form"]["work"].is_object() {
            step["form"]["work"] = json!({"kind": "noop", "params": {"output": {"json": "x"}}});
        }
    }
    serde_json::from_value(plan).unwrap()
}

async fn engine(store: &Arc<dyn Store>, folder: &TempDir, host: Option<&str>) -> Engine {
    let member = Membership {
        host: host.map(str::to_owned),
        labels: host.map(|host| format!("host:{host}")).into_iter().collect(),
        ..Membership::default()
    };
    let (runs_dir, workspace) = (folder.path().join("runs"), folder.path().to_owned());
    let options = Options { runs_dir, workspace, attempts_max: SLOTS, member, ..Options::default() };
    Engine::new(Arc::clone(store), clock_of(store).await.unwrap(), options)
}

/// Drives the run until enough of it is over; answers its history until then, commit by commit.
async fn driven(place: Place, (items, parallel): (usize, usize), host: Option<&str>) -> Vec<Vec<Envelope>> {
    let folder = tempfile::tempdir().unwrap();
    let store = place.open(Duration::from_secs(10)).await.unwrap();
    let engine = engine(&store, &folder, host).await;
    let run = engine.start(&plan(items, parallel), StartRequest::default()).await.unwrap();
    let (pulse, stop) = (engine.pulse(), CancellationToken::new());
    let driving = tokio::spawn({
        let (engine, stop) = (engine.clone(), stop.clone());
        async move { engine.drive(&run, stop, |_| true).await }
    });
    let commits = until_enough(pulse).await;
    stop.cancel();
    driving.await.unwrap().unwrap();
    commits
}

async fn until_enough(mut pulse: Receiver<Pulse>) -> Vec<Vec<Envelope>> {
    let mut commits: Vec<Vec<Envelope>> = Vec::new();
    while count(&commits, |event| matches!(event, Event::AttemptSucceeded { .. })) < ENOUGH {
        if let Pulse::Events(_, events) = pulse.recv().await.unwrap() {
            commits.push(events.to_vec());
        }
    }
    commits
}

fn count(commits: &[Vec<Envelope>], is_one: impl Fn(&Event) -> bool) -> usize {
    commits.iter().flatten().filter(|envelope| is_one(&envelope.event)).count()
}

fn begun(commits: &[Vec<Envelope>]) -> usize {
    count(commits, |event| matches!(event, Event::AttemptStarted { .. }))
}

/// The most that were running after a commit.
fn most_at_work(commits: &[Vec<Envelope>]) -> usize {
    let begins =
        |event: &Event| matches!(event, Event::AttemptStarted { queued: None, .. } | Event::AttemptClaimed { .. });
    let ends = |event: &Event| matches!(event, Event::AttemptSucceeded { .. });
    let after = |at: usize| count(&commits[..at], begins) - count(&commits[..at], ends);
    (1..=commits.len()).map(after).max().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_items_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let all = driven(Place::File(folder.path().join("all.db")), (ITEMS, ITEMS), None).await;
    let is_over = |commit: &[Envelope]| commit.iter().any(|one| matches!(one.event, Event::AttemptSucceeded { .. }));
    let before = all.iter().position(|commit| is_over(commit)).unwrap();
    assert_eq!(begun(&all[..before]), ITEMS);
    // A commit is cut between two decisions, of which each has a few events.
    let most = all[..before].iter().map(Vec::len).max().unwrap();
    assert!((2..10).contains(&before) && most < 4_100, "{before} commits with up to {most} events");
    let few = driven(Place::File(folder.path().join("few.db")), (ITEMS, 16), None).await;
    assert_eq!((begun(&few[..1]), most_at_work(&few)), (16, 16), "the rest trickles");
}

/// What has no slot waits for any worker, and whoever has one takes it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_items_in_a_database() {
    let place: Place = server::shared().address().parse().unwrap();
    let all = driven(place, (FEWER, FEWER), Some("alpha")).await;
    let queued = |event: &Event| matches!(event, Event::AttemptStarted { queued: Some(_), .. });
    assert_eq!((begun(&all[..1]), count(&all[..1], queued)), (FEWER, FEWER - SLOTS));
    // What is over but not recorded yet still counts here, and its slot is free.
    assert!((SLOTS..=8 * SLOTS).contains(&most_at_work(&all)), "{}", most_at_work(&all));
}
