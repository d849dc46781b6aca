//! Clauses about runs and their events.

use super::*;
use crate::{BODY_BYTES_MAX, Blob, Hash};

/// The head, the times and the first event are stored.
pub async fn an_append_makes_a_run(store: Given) {
    let run = id("fresh");
    let head = Head {
        workflow: "build".to_owned(),
        status: "running".to_owned(),
        summary: "{\"a\": 1}".to_owned(),
        group: Some("night".to_owned()),
        parent: RunId::new("gone-parent"),
    };
    let first = NewEvent { at_ms: 7, ..event("1") };
    let second = NewEvent { at_ms: 9, ..event("2") };
    let append = Append { head: Some(head.clone()), ..Append::new(run.clone(), 0, vec![first, second]) };
    assert_eq!(store.run(&run).await, Ok(None));
    assert_eq!(store.append(append).await, Ok(2));
    let row = RunRow { run: run.clone(), head, last_seq: 2, created_ms: 7, updated_ms: 9 };
    assert_eq!(store.run(&run).await, Ok(Some(row)));
}

/// The second try stores nothing.
pub async fn a_run_is_not_made_twice(store: Given) {
    let run = made(&store, "twice").await;
    let before = everything(&store, &run).await;
    assert_eq!(store.append(making(&run)).await, Err(Error::Exists));
    assert_eq!(everything(&store, &run).await, before);
}

/// Both are errors of the caller.
pub async fn a_run_is_not_made_without_head_or_event(store: Given) {
    let (run, head) = (id("half"), Head::default());
    let headless = Append::new(run.clone(), 0, vec![event("{}")]);
    let eventless = Append { head: Some(head), ..Append::new(run.clone(), 0, vec![]) };
    assert!(matches!(store.append(headless).await, Err(Error::Invalid(_))));
    assert!(matches!(store.append(eventless).await, Err(Error::Invalid(_))));
    assert_eq!(store.run(&run).await, Ok(None));
}

/// Everything else about it is empty.
pub async fn an_unknown_run_is_neither_appended_to_nor_read(store: Given) {
    let run = id("nobody");
    let append = Append::new(run.clone(), 1, vec![event("{}")]);
    assert_eq!(store.append(append).await, Err(Error::UnknownRun));
    assert_eq!(store.read(&run, 0, 10).await, Err(Error::UnknownRun));
    let nothing =
        Everything { row: None, events: vec![], tasks: vec![], inbox: vec![], timers: vec![], snapshot: None };
    assert_eq!(everything(&store, &run).await, nothing);
}

/// Seqs start at 1 and continue over appends of several events.
pub async fn seqs_have_no_gaps(store: Given) {
    let run = made(&store, "gapless").await;
    for expected in [1, 4, 7] {
        let events = vec![event("a"), event("b"), event("c")];
        assert_eq!(store.append(Append::new(run.clone(), expected, events)).await, Ok(expected + 3));
    }
    let seqs: Vec<u64> = store.read(&run, 0, 100).await.unwrap().iter().map(|event| event.seq).collect();
    assert_eq!(seqs, (1..=10).collect::<Vec<_>>());
}

/// The error carries the last seq of the run.
pub async fn a_stale_append_is_refused_with_the_actual_seq(store: Given) {
    let run = made(&store, "stale").await;
    advance(&store, &run, |_| ()).await.unwrap();
    let append = Append::new(run.clone(), 1, vec![event("late")]);
    assert_eq!(store.append(append).await, Err(Error::Conflict { actual: 2 }));
}

/// Such an append would leave a gap.
pub async fn an_append_ahead_of_its_run_is_refused(store: Given) {
    let run = made(&store, "ahead").await;
    for expected in [2, u64::MAX] {
        let append = Append::new(run.clone(), expected, vec![event("early")]);
        assert_eq!(store.append(append).await, Err(Error::Conflict { actual: 1 }), "{expected}");
    }
}

/// A run with one of everything, and an append that would change all of it.
async fn furnished(store: &Given) -> (RunId, Append, Hash) {
    let run = made(store, "furnished").await;
    store.post(message(&run, "hook", "1")).await.unwrap();
    set(store, &run, "kept", 10).await;
    start(store, &run, held("a@1", 1, "w")).await;
    store.save_snapshot(&run, 2, vec![1]).await.unwrap();
    let mail = store.inbox(&run).await.unwrap();
    let blob = Blob::new("never stored");
    let hash = blob.hash;
    let append = Append {
        head: Some(Head::default()),
        blobs: vec![blob],
        timers_cleared: vec!["kept".to_owned()],
        timers_set: vec![timer(&run, "new", 20)],
        tasks_ended: vec![end("a@1", 1, Some("w"))],
        tasks_started: vec![task("b@1", 1)],
        consumed: mail.iter().map(|message| message.id).collect(),
        ..Append::new(run.clone(), 3, vec![event("x"), event("y")])
    };
    (run, append, hash)
}

/// Events, head, blobs, timers, tasks and messages are as before. The same append in place changes all of them.
pub async fn a_conflict_changes_nothing_at_all(store: Given) {
    let (run, append, hash) = furnished(&store).await;
    let before = everything(&store, &run).await;
    let stale = Append { expected: 2, ..append.clone() };
    assert_eq!(store.append(stale).await, Err(Error::Conflict { actual: 3 }));
    assert_eq!(everything(&store, &run).await, before);
    assert_eq!(store.blob(hash).await, Ok(None));
    assert_eq!(store.append(append).await, Ok(5));
    let after = everything(&store, &run).await;
    assert_eq!(after.inbox, vec![]);
    assert_eq!(after.timers, vec![timer(&run, "new", 20)]);
    assert_eq!(after.tasks.iter().map(|task| task.key.as_str()).collect::<Vec<_>>(), ["b@1"]);
    assert_eq!(store.blob(hash).await, Ok(Some(b"never stored".to_vec())));
}

/// Even if everything else in the append is valid.
pub async fn a_fenced_append_changes_nothing_at_all(store: Given) {
    let (run, append, hash) = furnished(&store).await;
    let before = everything(&store, &run).await;
    let zombie = Append { tasks_ended: vec![end("a@1", 1, Some("w")), end("z@1", 1, None)], ..append };
    assert_eq!(store.append(zombie).await, fenced("z@1"));
    assert_eq!(everything(&store, &run).await, before);
    assert_eq!(store.blob(hash).await, Ok(None));
}

/// Also for the append that creates a run. The second try stores nothing.
pub async fn a_second_try_is_recognised(store: Given) {
    let first = making(&id("again"));
    assert_eq!(store.append(first.clone()).await, Ok(1));
    assert_eq!(store.append(first).await, Err(Error::AlreadyApplied));
    let next = Append::new(id("again"), 1, vec![event("a"), event("b")]);
    assert_eq!(store.append(next.clone()).await, Ok(3));
    let before = everything(&store, &next.run).await;
    assert_eq!(store.append(next.clone()).await, Err(Error::AlreadyApplied));
    assert_eq!(everything(&store, &next.run).await, before);
}

/// Another caller may have appended before the second try.
pub async fn a_second_try_is_recognised_when_the_run_has_gone_on(store: Given) {
    let run = made(&store, "gone-on").await;
    let append = Append { tasks_started: vec![task("a@1", 1)], ..Append::new(run.clone(), 1, vec![event("a")]) };
    store.append(append.clone()).await.unwrap();
    finish(&store, &run, end("a@1", 1, None)).await.unwrap();
    assert_eq!(store.append(append).await, Err(Error::AlreadyApplied));
    assert_eq!(store.tasks(&run).await, Ok(vec![]));
}

/// It is not the same append.
pub async fn a_second_try_with_more_events_is_a_conflict(store: Given) {
    let run = made(&store, "more").await;
    let (first, second) = (event("a"), event("b"));
    store.append(Append::new(run.clone(), 1, vec![first.clone()])).await.unwrap();
    let longer = Append::new(run.clone(), 1, vec![first, second]);
    assert_eq!(store.append(longer).await, Err(Error::Conflict { actual: 2 }));
}

/// Not in the same run, not in another.
pub async fn an_event_id_is_not_used_twice(store: Given) {
    let run = made(&store, "one-id").await;
    let other = made(&store, "other-id").await;
    let again = event("a");
    store.append(Append::new(run.clone(), 1, vec![again.clone()])).await.unwrap();
    for (run, expected) in [(run, 2), (other, 1)] {
        let before = everything(&store, &run).await;
        let append = Append::new(run.clone(), expected, vec![event("new"), again.clone()]);
        assert_eq!(store.append(append).await, Err(Error::Exists));
        assert_eq!(everything(&store, &run).await, before);
    }
}

/// The store cannot know which of the two counts.
pub async fn an_append_names_nothing_twice(store: Given) {
    let run = made(&store, "doubled").await;
    let mail = crate::MessageId(1);
    let same = event("a");
    let plain = Append::new(run.clone(), 1, vec![event("a")]);
    let doubled = [
        Append { events: vec![same.clone(), same], ..plain.clone() },
        Append { timers_set: vec![timer(&run, "t", 1), timer(&run, "t", 2)], ..plain.clone() },
        Append { tasks_started: vec![task("a", 1), task("a", 2)], ..plain.clone() },
        Append { tasks_ended: vec![end("a", 1, None), end("a", 1, None)], ..plain.clone() },
        Append { consumed: vec![mail, mail], ..plain },
    ];
    for append in doubled {
        assert!(matches!(store.append(append.clone()).await, Err(Error::Invalid(_))), "{append:?}");
    }
}

/// Pages meet without overlap; past the end there is nothing.
pub async fn events_come_in_order_after_a_seq_up_to_a_limit(store: Given) {
    let run = made(&store, "paged").await;
    for body in ["b", "c", "d", "e"] {
        advance(&store, &run, |append| append.events[0].body = body.to_owned()).await.unwrap();
    }
    let page = async |after, limit| {
        let events = store.read(&run, after, limit).await.unwrap();
        events.into_iter().map(|event| (event.seq, event.body)).collect::<Vec<_>>()
    };
    assert_eq!(page(1, 2).await, [(2, "b".to_owned()), (3, "c".to_owned())]);
    assert_eq!(page(3, 100).await, [(4, "d".to_owned()), (5, "e".to_owned())]);
    assert_eq!(page(5, 100).await, []);
    assert_eq!(page(u64::MAX, usize::MAX).await, []);
    assert_eq!(page(0, 0).await, []);
    assert_eq!(page(0, usize::MAX).await.len(), 5);
}

/// Odd characters, odd spaces, text that is not JSON, and 900 kB.
pub async fn bodies_are_kept_byte_for_byte(store: Given) {
    let run = made(&store, "bytes").await;
    let large = "ü".repeat(450_000);
    let bodies = ["", " {\"a\" : 1.0e0,\n\"a\":2} ", "\u{0}\u{1}\u{feff}é\u{1f980}'\"\\u0000", &large];
    let events: Vec<NewEvent> = bodies.iter().map(|body| event(body)).collect();
    store.append(Append::new(run.clone(), 1, events.clone())).await.unwrap();
    let stored = store.read(&run, 1, 100).await.unwrap();
    for (new, stored) in events.into_iter().zip(stored) {
        assert!(new.body == stored.body && new.id == stored.id && new.at_ms == stored.at_ms);
    }
}

/// A body at the limit is accepted.
pub async fn bodies_above_the_limit_are_refused(store: Given) {
    let run = made(&store, "heavy").await;
    let of = |bytes: usize| Append::new(run.clone(), 1, vec![event(&"x".repeat(bytes))]);
    let refused = store.append(of(BODY_BYTES_MAX + 1)).await;
    assert!(matches!(refused, Err(Error::TooLarge { bytes, limit, .. }) if bytes > limit));
    assert_eq!(store.append(of(BODY_BYTES_MAX)).await, Ok(2));
}

/// The row always has the time of the last event.
pub async fn a_head_stays_until_another_is_given(store: Given) {
    let run = made(&store, "headed").await;
    let first = store.run(&run).await.unwrap().unwrap();
    advance(&store, &run, |append| append.events[0].at_ms = 2_000).await.unwrap();
    let second = store.run(&run).await.unwrap().unwrap();
    assert_eq!(second, RunRow { last_seq: 2, updated_ms: 2_000, ..first });
    let done = Head { status: "done".to_owned(), ..second.head };
    advance(&store, &run, |append| append.head = Some(done.clone())).await.unwrap();
    assert_eq!(store.run(&run).await.unwrap().unwrap().head, done);
}
