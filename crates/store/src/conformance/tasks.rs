//! Clauses about tasks, leases and fences.

use super::*;

async fn keys(store: &Given, run: &RunId) -> Vec<String> {
    store.tasks(run).await.unwrap().into_iter().map(|task| task.key).collect()
}

/// And the task is gone.
pub async fn the_holder_ends_its_task(store: Given) {
    let run = made(&store, "ends").await;
    start(&store, &run, held("a@1", 1, "w")).await;
    assert!(finish(&store, &run, end("a@1", 1, Some("w"))).await.is_ok());
    assert_eq!(store.tasks(&run).await, Ok(vec![]));
}

/// Others of the same holder and attempt stay.
pub async fn only_the_task_of_the_key_ends(store: Given) {
    let run = made(&store, "keys").await;
    for key in ["a@1", "b@1"] {
        start(&store, &run, held(key, 1, "w")).await;
    }
    finish(&store, &run, end("b@1", 1, Some("w"))).await.unwrap();
    assert_eq!(keys(&store, &run).await, ["a@1"]);
}

/// The task stays with its holder.
pub async fn another_worker_is_fenced(store: Given) {
    let run = made(&store, "thief").await;
    start(&store, &run, held("a@1", 1, "w")).await;
    let before = everything(&store, &run).await;
    assert_eq!(finish(&store, &run, end("a@1", 1, Some("v"))).await, fenced("a@1"));
    assert_eq!(everything(&store, &run).await, before);
}

/// A task that nobody holds is nobody's to end.
pub async fn a_worker_without_the_task_is_fenced(store: Given) {
    let run = made(&store, "unheld").await;
    start(&store, &run, task("a@1", 1)).await;
    assert_eq!(finish(&store, &run, end("a@1", 1, Some("w"))).await, fenced("a@1"));
    assert_eq!(keys(&store, &run).await, ["a@1"]);
}

/// Older or newer, also by the holder.
pub async fn another_attempt_is_fenced(store: Given) {
    let run = made(&store, "attempt").await;
    start(&store, &run, held("a", 2, "w")).await;
    for attempt in [1, 3] {
        assert_eq!(finish(&store, &run, end("a", attempt, Some("w"))).await, fenced("a"));
    }
    assert_eq!(keys(&store, &run).await, ["a"]);
}

/// The second end is refused, whoever sends it.
pub async fn a_task_ends_once(store: Given) {
    let run = made(&store, "once").await;
    start(&store, &run, held("a@1", 1, "w")).await;
    finish(&store, &run, end("a@1", 1, Some("w"))).await.unwrap();
    assert_eq!(finish(&store, &run, end("a@1", 1, Some("w"))).await, fenced("a@1"));
    assert_eq!(finish(&store, &run, end("a@1", 1, None)).await, fenced("a@1"));
}

/// It may have been ended long ago.
pub async fn an_unknown_task_is_fenced(store: Given) {
    let run = made(&store, "unknown").await;
    assert_eq!(finish(&store, &run, end("a@1", 1, None)).await, fenced("a@1"));
}

/// Keys are unique in their run only.
pub async fn a_task_of_another_run_is_not_touched(store: Given) {
    let (run, other) = (made(&store, "mine").await, made(&store, "yours").await);
    start(&store, &run, held("a@1", 1, "w")).await;
    assert_eq!(finish(&store, &other, end("a@1", 1, Some("w"))).await, fenced("a@1"));
    start(&store, &other, held("a@1", 1, "w")).await;
    finish(&store, &other, end("a@1", 1, Some("w"))).await.unwrap();
    assert_eq!(keys(&store, &run).await, ["a@1"]);
    assert_eq!(keys(&store, &other).await, [""; 0]);
}

/// Held or not.
pub async fn a_task_ends_without_its_holder_but_at_its_attempt(store: Given) {
    let run = made(&store, "cancel").await;
    start(&store, &run, held("a@1", 1, "w")).await;
    start(&store, &run, task("b@1", 1)).await;
    assert_eq!(finish(&store, &run, end("a@1", 2, None)).await, fenced("a@1"));
    finish(&store, &run, end("a@1", 1, None)).await.unwrap();
    finish(&store, &run, end("b@1", 1, None)).await.unwrap();
    assert_eq!(store.tasks(&run).await, Ok(vec![]));
}

/// Whatever attempt it names; the new holder is not disturbed.
pub async fn after_a_takeover_the_old_holder_is_fenced(store: Given) {
    let run = made(&store, "takeover").await;
    start(&store, &run, held("a", 1, "old")).await;
    assert_eq!(store.expired(2_000, 10).await.unwrap().len(), 1);
    advance(&store, &run, |append| {
        append.tasks_ended = vec![end("a", 1, None)];
        append.tasks_started = vec![task("a", 2)];
    })
    .await
    .unwrap();
    assert_eq!(store.claim(Claim::new(worker("new"), 2_000, 1_000, 10)).await.unwrap().len(), 1);
    assert_eq!(finish(&store, &run, end("a", 1, Some("old"))).await, fenced("a"));
    assert_eq!(finish(&store, &run, end("a", 2, Some("old"))).await, fenced("a"));
    assert_eq!(store.renew(&worker("old"), 2_000, 1_000).await, Ok(vec![]));
    assert!(finish(&store, &run, end("a", 2, Some("new"))).await.is_ok());
}

/// A worker that slept may continue if nobody has come in between.
pub async fn a_lease_that_has_run_out_is_held_until_somebody_ends_it(store: Given) {
    let run = made(&store, "sleeper").await;
    start(&store, &run, held("a@1", 1, "w")).await;
    assert_eq!(store.renew(&worker("w"), 9_000, 1_000).await.unwrap()[0].lease_until_ms, 10_000);
    assert_eq!(store.expired(9_999, 10).await, Ok(vec![]));
    assert_eq!(store.expired(10_000, 10).await.unwrap().len(), 1);
    assert!(finish(&store, &run, end("a@1", 1, Some("w"))).await.is_ok());
}

/// The open one stays.
pub async fn an_open_key_is_not_started_again(store: Given) {
    let run = made(&store, "open").await;
    start(&store, &run, held("a@1", 1, "w")).await;
    let before = everything(&store, &run).await;
    let again = advance(&store, &run, |append| append.tasks_started.push(task("a@1", 1))).await;
    assert_eq!(again, Err(Error::Exists));
    assert_eq!(everything(&store, &run).await, before);
}

/// Ends come before starts.
pub async fn a_key_is_ended_and_started_in_one_append(store: Given) {
    let run = made(&store, "retry").await;
    start(&store, &run, held("a", 1, "w")).await;
    advance(&store, &run, |append| {
        append.tasks_started = vec![task("a", 2)];
        append.tasks_ended = vec![end("a", 1, Some("w"))];
    })
    .await
    .unwrap();
    let open = store.tasks(&run).await.unwrap();
    assert_eq!((open.len(), open[0].attempt, &open[0].worker), (1, 2, &None));
}

/// Labels come back as they were given.
pub async fn a_task_started_with_a_worker_is_leased_from_the_last_event(store: Given) {
    let run = made(&store, "leased").await;
    let labels = vec!["gpu".to_owned(), "a \"b\", [c]".to_owned(), String::new()];
    advance(&store, &run, |append| {
        append.events.push(NewEvent { at_ms: 3_000, ..event("later") });
        append.tasks_started = vec![NewTask { labels: labels.clone(), ..held("a@1", 1, "w") }, task("b@1", 1)];
    })
    .await
    .unwrap();
    let claimed = Task {
        run: run.clone(),
        key: "a@1".to_owned(),
        attempt: 1,
        worker: Some(worker("w")),
        lease_until_ms: 4_000,
        labels,
    };
    let free = Task { key: "b@1".to_owned(), worker: None, lease_until_ms: 0, labels: vec![], ..claimed.clone() };
    assert_eq!(store.tasks(&run).await, Ok(vec![claimed, free]));
}

/// And says until when.
pub async fn a_claim_takes_the_oldest_up_to_the_limit(store: Given) {
    let (first, second) = (made(&store, "zzz-first").await, made(&store, "aaa-second").await);
    start(&store, &first, task("z@1", 1)).await;
    start(&store, &second, task("a@1", 1)).await;
    start(&store, &first, task("m@1", 1)).await;
    let claimed = store.claim(Claim::new(worker("w"), 100, 50, 2)).await.unwrap();
    assert_eq!(claimed.iter().map(|task| task.key.as_str()).collect::<Vec<_>>(), ["z@1", "a@1"]);
    assert!(claimed.iter().all(|task| task.worker == Some(worker("w")) && task.lease_until_ms == 150));
    assert_eq!(store.tasks(&second).await, Ok(claimed[1..].to_vec()));
    assert_eq!(store.claim(Claim::new(worker("v"), 100, 50, 2)).await.unwrap()[0].key, "m@1");
    assert_eq!(store.claim(Claim::new(worker("v"), 100, 50, 2)).await, Ok(vec![]));
}

/// What a lost lease means is not for the store to say.
pub async fn a_held_task_is_not_claimed_even_when_its_lease_has_run_out(store: Given) {
    let run = made(&store, "kept").await;
    start(&store, &run, held("a@1", 1, "w")).await;
    assert_eq!(store.claim(Claim::new(worker("v"), 1_000_000, 10, 10)).await, Ok(vec![]));
    assert_eq!(store.claim(Claim::new(worker("w"), 1_000_000, 10, 10)).await, Ok(vec![]));
}

/// Sixteen at once, twenty tasks: each is given once.
pub async fn one_of_many_claimers_gets_the_task(store: Given) {
    let run = made(&store, "contended").await;
    for number in 0..20 {
        start(&store, &run, task(&format!("t{number}@1"), 1)).await;
    }
    let claimers: Vec<_> = (0..16)
        .map(|number| {
            let store = store.clone();
            tokio::spawn(async move { store.claim(Claim::new(worker(&format!("w{number}")), 0, 10, 2)).await.unwrap() })
        })
        .collect();
    let mut given = Vec::new();
    for claimer in claimers {
        given.extend(claimer.await.unwrap().into_iter().map(|task| task.key));
    }
    given.sort();
    given.dedup();
    assert_eq!(given.len(), 20);
    assert!(store.tasks(&run).await.unwrap().iter().all(|task| task.worker.is_some()));
}

/// Over all runs, and nobody else's.
pub async fn renewing_answers_only_what_is_held(store: Given) {
    let (run, other) = (made(&store, "renew").await, made(&store, "renew-too").await);
    start(&store, &run, held("a@1", 1, "w")).await;
    start(&store, &run, held("b@1", 1, "w")).await;
    start(&store, &run, held("c@1", 1, "v")).await;
    start(&store, &run, task("d@1", 1)).await;
    start(&store, &other, held("e@1", 1, "w")).await;
    finish(&store, &run, end("b@1", 1, None)).await.unwrap();
    let renewed = store.renew(&worker("w"), 1_500, 1_000).await.unwrap();
    let told: Vec<_> = renewed.iter().map(|task| (task.key.as_str(), task.lease_until_ms)).collect();
    assert_eq!(told, [("a@1", 2_500), ("e@1", 2_500)]);
    let left: Vec<i64> = store.tasks(&run).await.unwrap().iter().map(|task| task.lease_until_ms).collect();
    assert_eq!(left, [2_500, 2_000, 0]);
}

/// From the very moment of their end; tasks that nobody holds have no lease.
pub async fn expired_leases_come_longest_ended_first(store: Given) {
    let run = made(&store, "expired").await;
    for (key, lease_ms) in [("a@1", 300), ("b@1", 100), ("c@1", 200), ("d@1", 400)] {
        start(&store, &run, NewTask { lease_ms, ..held(key, 1, "w") }).await;
    }
    start(&store, &run, task("e@1", 1)).await;
    let expired = async |now, limit| {
        store.expired(now, limit).await.unwrap().into_iter().map(|task| task.key).collect::<Vec<_>>()
    };
    assert_eq!(expired(1_099, 10).await, [""; 0]);
    assert_eq!(expired(1_300, 10).await, ["b@1", "c@1", "a@1"]);
    assert_eq!(expired(9_999, 1).await, ["b@1"]);
}
