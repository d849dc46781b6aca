//! Clauses about several workers: labels, fairness, caps, and the list of workers.

use super::*;
use crate::{Caps, FORGOTTEN_MS, Glance, Worker};

/// A task with labels.
fn asking(key: &str, labels: &[&str]) -> NewTask {
    NewTask { labels: labels.iter().map(|label| (*label).to_owned()).collect(), ..task(key, 1) }
}

fn with_labels(name: &str, labels: &[&str], limit: usize) -> Claim {
    let labels = labels.iter().map(|label| (*label).to_owned()).collect();
    Claim { labels, ..Claim::new(worker(name), 100, 50, limit) }
}

async fn given(store: &Given, claim: Claim) -> Vec<String> {
    store.claim(claim).await.unwrap().into_iter().map(|task| task.key).collect()
}

/// The worker needs all labels of the task. It may have more. A label matches as a whole.
pub async fn a_claim_takes_only_what_it_has_all_labels_for(store: Given) {
    let run = made(&store, "labels").await;
    for (key, labels) in [("a@1", &["gpu", "linux"][..]), ("b@1", &[]), ("c@1", &["gp"]), ("d@1", &["gpu\", \"linux"])]
    {
        start(&store, &run, asking(key, labels)).await;
    }
    assert_eq!(given(&store, with_labels("v", &["gpu", "arm"], 10)).await, ["b@1"]);
    assert_eq!(given(&store, with_labels("v", &["gpu"], 10)).await, [""; 0]);
    assert_eq!(given(&store, with_labels("w", &["linux", "x", "gpu"], 10)).await, ["a@1"]);
    assert_eq!(given(&store, with_labels("w", &["gp", "gpu\", \"linux"], 10)).await, ["c@1", "d@1"]);
}

/// A run that does not exist has no tasks.
pub async fn a_claim_for_a_run_takes_nothing_else(store: Given) {
    let (run, other) = (made(&store, "mine").await, made(&store, "yours").await);
    start(&store, &other, task("b@1", 1)).await;
    start(&store, &run, task("a@1", 1)).await;
    let of = |run: &RunId| Claim { run: Some(run.clone()), ..Claim::new(worker("w"), 0, 10, 10) };
    assert_eq!(given(&store, of(&id("nobody"))).await, [""; 0]);
    assert_eq!(given(&store, of(&run)).await, ["a@1"]);
    assert_eq!(given(&store, of(&run)).await, [""; 0]);
    assert_eq!(given(&store, of(&other)).await, ["b@1"]);
}

/// Regardless of the holder. A run with many tasks does not block other runs.
pub async fn the_run_with_the_fewest_tasks_at_work_goes_first(store: Given) {
    let (many, few) = (made(&store, "many").await, made(&store, "a-few").await);
    start(&store, &many, held("m0@1", 1, "v")).await;
    for number in 1..=4 {
        start(&store, &many, task(&format!("m{number}@1"), 1)).await;
    }
    for number in 1..=3 {
        start(&store, &few, task(&format!("f{number}@1"), 1)).await;
    }
    let one = || Claim::new(worker("w"), 0, 10, 1);
    assert_eq!(given(&store, one()).await, ["f1@1"]);
    assert_eq!(given(&store, one()).await, ["m1@1"]);
    assert_eq!(given(&store, Claim { limit: 3, ..one() }).await, ["m2@1", "f2@1", "f3@1"]);
    assert_eq!(given(&store, Claim { limit: 9, ..one() }).await, ["m3@1", "m4@1"]);
}

/// Tasks that started with a worker count too. A task that ends makes room.
pub async fn caps_are_counted_over_all_that_is_held(store: Given) {
    let run = made(&store, "caps").await;
    start(&store, &run, NewTask { worker: Some(worker("v")), lease_ms: 1, ..asking("g0@1", &["gpu"]) }).await;
    for (key, labels) in [("g1@1", &["gpu"][..]), ("g2@1", &["gpu"]), ("p1@1", &[]), ("p2@1", &[])] {
        start(&store, &run, asking(key, labels)).await;
    }
    let caps = |all, gpu| Caps { all, labels: [("gpu".to_owned(), gpu)].into() };
    let claim = |caps| Claim { caps, ..with_labels("w", &["gpu"], 10) };
    assert_eq!(given(&store, claim(caps(Some(1), 9))).await, [""; 0]);
    assert_eq!(given(&store, claim(caps(Some(2), 1))).await, ["p1@1"]);
    assert_eq!(given(&store, claim(caps(None, 2))).await, ["g1@1", "p2@1"]);
    finish(&store, &run, end("g0@1", 1, None)).await.unwrap();
    assert_eq!(given(&store, claim(caps(Some(3), 2))).await, [""; 0]);
    assert_eq!(given(&store, claim(caps(Some(4), 2))).await, ["g2@1"]);
}

/// Twelve concurrent claims, with room for three and two.
pub async fn caps_hold_however_many_claim_at_once(store: Given) {
    let run = made(&store, "crowd").await;
    for number in 0..20 {
        let labels: &[&str] = if number % 2 == 0 { &["gpu"] } else { &[] };
        start(&store, &run, asking(&format!("t{number}@1"), labels)).await;
    }
    let claimers: Vec<_> = (0..12)
        .map(|number| {
            let caps = Caps { all: Some(5), labels: [("gpu".to_owned(), 2)].into() };
            let claim = Claim { caps, ..with_labels(&format!("w{number}"), &["gpu"], 2) };
            let store = store.clone();
            tokio::spawn(async move { store.claim(claim).await.unwrap() })
        })
        .collect();
    let mut given = Vec::new();
    for claimer in claimers {
        given.extend(claimer.await.unwrap());
    }
    let with_gpu = given.iter().filter(|task| !task.labels.is_empty()).count();
    assert_eq!((given.len(), with_gpu <= 2), (5, true));
}

/// Oldest first.
pub async fn what_nobody_holds_is_listed(store: Given) {
    let run = made(&store, "unheld").await;
    start(&store, &run, held("a@1", 1, "v")).await;
    start(&store, &run, asking("c@1", &["gpu"])).await;
    start(&store, &run, task("b@1", 1)).await;
    let listed = store.unheld(10).await.unwrap();
    assert_eq!(listed.iter().map(|task| task.key.as_str()).collect::<Vec<_>>(), ["c@1", "b@1"]);
    assert_eq!(listed[0].labels, ["gpu"]);
    assert_eq!(store.unheld(1).await.unwrap().len(), 1);
}

/// Each flag is set by the write that creates the work, and cleared by the write that ends it.
pub async fn a_glance_tells_what_there_is_to_do(store: Given) {
    let seen = || async { Glance { moved: false, ..store.glance().await.unwrap() } };
    assert_eq!(seen().await, Glance::default());
    let (old, run) = (made(&store, "zzzz").await, made(&store, "aaaa").await);
    let quiet = Glance { newest: Some(run.clone()), ..Glance::default() };
    assert_eq!(seen().await, quiet);
    store.post(message(&old, "hook", "1")).await.unwrap();
    assert_eq!(seen().await, Glance { mail: true, ..quiet.clone() });
    let letter = store.inbox(&old).await.unwrap()[0].id;
    advance(&store, &old, |append| append.consumed.push(letter)).await.unwrap();
    start(&store, &old, held("a@1", 1, "v")).await;
    assert_eq!(seen().await, quiet, "what somebody holds waits for nobody");
    start(&store, &run, asking("b@1", &["gpu"])).await;
    assert_eq!(seen().await, Glance { unheld: true, ..quiet.clone() });
    given(&store, with_labels("w", &["gpu"], 1)).await;
    set(&store, &run, "later", 70).await;
    set(&store, &old, "soon", 50).await;
    assert_eq!(seen().await, Glance { next_due: Some(50), ..quiet.clone() });
    store.remove(&run).await.unwrap();
    assert_eq!(seen().await, Glance { next_due: Some(50), newest: Some(old), ..Glance::default() });
}

/// Otherwise a worker would look again because it looked.
pub async fn a_glance_that_finds_nothing_new_tells_nobody(store: Given) {
    made(&store, "quiet").await;
    let (all, work) = (store.watch(), store.watch_work());
    for _ in 0..3 {
        assert!(!store.glance().await.unwrap().moved);
    }
    assert!(!all.has_changed().unwrap() && !work.has_changed().unwrap());
}

fn there(name: &str, seen_ms: i64) -> Worker {
    Worker {
        id: worker(&format!("id-{name}")),
        name: name.to_owned(),
        host: "box".to_owned(),
        labels: vec!["gpu".to_owned(), "a \"b\"".to_owned()],
        slots: 4,
        version: "1.2.3".to_owned(),
        since_ms: 5,
        seen_ms,
    }
}

/// With the number of tasks that they hold, ordered by name. A later greeting replaces the one before.
pub async fn workers_are_listed_while_they_are_there(store: Given) {
    let run = made(&store, "busy").await;
    start(&store, &run, held("a@1", 1, "id-zoe")).await;
    store.greet(there("zoe", 10)).await.unwrap();
    store.greet(there("ann", 20)).await.unwrap();
    store.greet(Worker { slots: 8, ..there("zoe", 30) }).await.unwrap();
    let listed = store.workers().await.unwrap();
    assert_eq!(listed.iter().map(|one| one.busy).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(listed[0].worker, there("ann", 20));
    assert_eq!(listed[1].worker, Worker { slots: 8, ..there("zoe", 30) });
    store.dismiss(&worker("id-zoe")).await.unwrap();
    store.dismiss(&worker("nobody")).await.unwrap();
    assert_eq!(store.workers().await.unwrap().len(), 1);
    assert_eq!(store.tasks(&run).await.unwrap().len(), 1);
}

/// The greeting of another worker removes them after a week.
pub async fn workers_that_are_silent_for_long_are_forgotten(store: Given) {
    store.greet(there("ann", 0)).await.unwrap();
    store.greet(there("bob", FORGOTTEN_MS - 1)).await.unwrap();
    assert_eq!(store.workers().await.unwrap().len(), 2);
    store.greet(there("bob", FORGOTTEN_MS)).await.unwrap();
    assert_eq!(store.workers().await.unwrap()[0].worker.name, "bob");
    assert_eq!(store.workers().await.unwrap().len(), 1);
}
