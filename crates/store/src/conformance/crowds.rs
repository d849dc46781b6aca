//! Clauses about many concurrent callers, and about watchers.

use super::*;

/// Sixty-four appenders: each seq has one winner, all others get a conflict, and every event is stored once.
pub async fn one_of_many_appenders_wins_each_seq(store: Given) {
    let run = made(&store, "contended").await;
    let appenders: Vec<_> = (0..64).map(|_| tokio::spawn(append_once(store.clone(), run.clone()))).collect();
    let mut won = Vec::new();
    for appender in appenders {
        won.push(appender.await.unwrap());
    }
    won.sort_unstable();
    assert_eq!(won, (2..=65).collect::<Vec<u64>>());
    let events = store.read(&run, 0, 100).await.unwrap();
    assert_eq!(events.iter().map(|event| event.seq).collect::<Vec<_>>(), (1..=65).collect::<Vec<u64>>());
}

/// Tries until it has won a seq.
async fn append_once(store: Given, run: RunId) -> u64 {
    let mut expected = 1;
    let event = event("mine");
    loop {
        match store.append(Append::new(run.clone(), expected, vec![event.clone()])).await {
            Ok(seq) => return seq,
            Err(Error::Conflict { actual }) => expected = actual,
            Err(other) => panic!("{other}"),
        }
    }
}

/// Twelve callers: one creates the run, and all others get [`Error::Exists`].
pub async fn one_of_many_makers_makes_the_run(store: Given) {
    for round in 0..10 {
        let run = id(&format!("made-{round}"));
        let make = |store: Given, run: RunId| async move { store.append(making(&run)).await };
        let makers: Vec<_> = (0..12).map(|_| tokio::spawn(make(store.clone(), run.clone()))).collect();
        let mut made = 0;
        for maker in makers {
            match maker.await.unwrap() {
                Ok(seq) => made += seq,
                Err(error) => assert_eq!(error, Error::Exists),
            }
        }
        assert_eq!(made, 1);
        assert_eq!(store.read(&run, 0, 10).await.unwrap().len(), 1);
    }
}

/// A hundred runs, ten appends each, without conflicts.
pub async fn a_hundred_runs_move_at_once(store: Given) {
    let walk = |store: Given, number: usize| async move {
        let run = made(&store, &format!("run-{number}")).await;
        for expected in 1..=9 {
            let append = Append::new(run.clone(), expected, vec![event(run.as_str())]);
            assert_eq!(store.append(append).await, Ok(expected + 1));
        }
    };
    let walkers: Vec<_> = (0..100).map(|number| tokio::spawn(walk(store.clone(), number))).collect();
    for walker in walkers {
        walker.await.unwrap();
    }
    for number in 0..100 {
        let run = id(&format!("run-{number}"));
        let events = store.read(&run, 1, 100).await.unwrap();
        assert!(events.len() == 9 && events.iter().all(|event| event.body == run.as_str()));
    }
}

/// Good and bad appends at once: the store keeps all good ones and nothing of the others, whether it refuses them
/// early (stale) or late (fenced).
pub async fn refusals_do_not_touch_their_neighbours(store: Given) {
    let other = made(&store, "other").await;
    advance(&store, &other, |_| ()).await.unwrap();
    let before = everything(&store, &other).await;
    let mut calls = Vec::new();
    for number in 0..30 {
        let good = making(&id(&format!("good-{number}")));
        let stale =
            Append { timers_set: vec![timer(&other, "t", 1)], ..Append::new(other.clone(), 1, vec![event("x")]) };
        let fenced =
            Append { tasks_ended: vec![end("a@1", 1, None)], ..Append::new(other.clone(), 2, vec![event("y")]) };
        for append in [good, stale, fenced] {
            let store = store.clone();
            calls.push(tokio::spawn(async move { (append.expected, store.append(append).await) }));
        }
    }
    for call in calls {
        let (expected, outcome) = call.await.unwrap();
        let due = [Ok(1), Err(Error::Conflict { actual: 2 }), Err(Error::Fenced { key: "a@1".to_owned() })];
        assert_eq!(outcome, due[usize::try_from(expected).unwrap()]);
    }
    for number in 0..30 {
        assert!(store.run(&id(&format!("good-{number}"))).await.unwrap().is_some());
    }
    assert_eq!(everything(&store, &other).await, before);
}

/// The watcher knows as soon as the call is acknowledged.
pub async fn watchers_hear_of_every_write(store: Given) {
    let mut watch = store.watch();
    let mut heard = |what: &str| {
        assert!(watch.has_changed().unwrap(), "{what}");
        watch.mark_unchanged();
    };
    let run = made(&store, "watched").await;
    heard("an append");
    store.post(message(&run, "hook", "1")).await.unwrap();
    heard("a message");
    start(&store, &run, task("a@1", 1)).await;
    heard("a task");
    store.claim(Claim::new(worker("w"), 0, 1, 1)).await.unwrap();
    heard("a claim");
    store.renew(&worker("w"), 0, 2).await.unwrap();
    heard("a renewal");
    store.save_snapshot(&run, 1, vec![]).await.unwrap();
    heard("a snapshot");
    store.remove(&run).await.unwrap();
    heard("a removal");
}

/// As soon as the call is acknowledged.
pub async fn who_watches_for_work_hears_of_runs_messages_and_tasks(store: Given) {
    let mut watch = store.watch_work();
    let mut heard = |what: &str| {
        assert!(watch.has_changed().unwrap(), "{what}");
        watch.mark_unchanged();
    };
    let run = made(&store, "watched").await;
    heard("a run");
    store.post(message(&run, "hook", "1")).await.unwrap();
    heard("a message");
    start(&store, &run, task("a@1", 1)).await;
    heard("a task that nobody holds");
}

/// Otherwise a worker that claims on every change would wake itself for ever.
pub async fn watchers_do_not_hear_of_what_wrote_nothing(store: Given) {
    let run = made(&store, "quiet").await;
    store.post(message(&run, "hook", "1")).await.unwrap();
    let watch = store.watch();
    store.claim(Claim::new(worker("w"), 0, 1, 1)).await.unwrap();
    store.renew(&worker("w"), 0, 1).await.unwrap();
    store.post(message(&run, "hook", "1")).await.unwrap();
    store.append(making(&run)).await.unwrap_err();
    finish(&store, &run, end("a@1", 1, None)).await.unwrap_err();
    store.read(&run, 0, 10).await.unwrap();
    assert!(!watch.has_changed().unwrap());
}
