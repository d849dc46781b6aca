//! Clauses about timers.

use super::*;

/// From the exact moment on, until an append clears them.
pub async fn timers_come_longest_due_first_up_to_a_limit(store: Given) {
    let (run, other) = (made(&store, "timed").await, made(&store, "timed-too").await);
    set(&store, &run, "c", 30).await;
    set(&store, &other, "a", 10).await;
    set(&store, &run, "b", -20).await;
    let (a, b, c) = (timer(&other, "a", 10), timer(&run, "b", -20), timer(&run, "c", 30));
    assert_eq!(store.due(9, 10).await, Ok(vec![b.clone()]));
    assert_eq!(store.due(30, 10).await, Ok(vec![b.clone(), a.clone(), c]));
    assert_eq!(store.due(30, 2).await, Ok(vec![b, a]));
}

/// Later or earlier.
pub async fn a_timer_set_again_is_moved(store: Given) {
    let run = made(&store, "moved").await;
    set(&store, &run, "a", 10).await;
    set(&store, &run, "a", 20).await;
    assert_eq!(store.due(19, 10).await, Ok(vec![]));
    set(&store, &run, "a", 5).await;
    assert_eq!(store.due(100, 10).await, Ok(vec![timer(&run, "a", 5)]));
}

/// Clearing a timer that is not set is allowed. A timer that one append clears and sets is set.
pub async fn a_cleared_timer_is_gone(store: Given) {
    let run = made(&store, "cleared").await;
    set(&store, &run, "a", 10).await;
    set(&store, &run, "b", 10).await;
    advance(&store, &run, |append| append.timers_cleared = vec!["a".to_owned(), "nothing".to_owned()]).await.unwrap();
    assert_eq!(store.due(100, 10).await, Ok(vec![timer(&run, "b", 10)]));
    advance(&store, &run, |append| {
        append.timers_cleared = vec!["b".to_owned()];
        append.timers_set = vec![timer(&run, "b", 20)];
    })
    .await
    .unwrap();
    assert_eq!(store.due(100, 10).await, Ok(vec![timer(&run, "b", 20)]));
}

/// Ids are unique in their run only.
pub async fn timers_of_two_runs_do_not_meet(store: Given) {
    let (run, other) = (made(&store, "mine").await, made(&store, "yours").await);
    set(&store, &run, "a", 10).await;
    set(&store, &other, "a", 20).await;
    advance(&store, &run, |append| append.timers_cleared = vec!["a".to_owned()]).await.unwrap();
    assert_eq!(store.due(100, 10).await, Ok(vec![timer(&other, "a", 20)]));
}

/// An append is about one run.
pub async fn a_timer_of_another_run_is_refused(store: Given) {
    let (run, other) = (made(&store, "mine").await, made(&store, "yours").await);
    let refused = advance(&store, &run, |append| append.timers_set = vec![timer(&other, "a", 1)]).await;
    assert!(matches!(refused, Err(Error::Invalid(_))));
    assert_eq!(store.next_due().await, Ok(None));
}

/// Due or not yet due.
pub async fn the_next_timer_is_known(store: Given) {
    let run = made(&store, "next").await;
    assert_eq!(store.next_due().await, Ok(None));
    set(&store, &run, "a", 50).await;
    set(&store, &run, "b", i64::MAX).await;
    assert_eq!(store.next_due().await, Ok(Some(50)));
    advance(&store, &run, |append| append.timers_cleared = vec!["a".to_owned()]).await.unwrap();
    assert_eq!(store.next_due().await, Ok(Some(i64::MAX)));
}

/// Only those of the run.
pub async fn the_timers_of_a_run_are_listed(store: Given) {
    let (run, other) = (made(&store, "mine").await, made(&store, "yours").await);
    set(&store, &run, "b", 10).await;
    set(&store, &run, "a", 20).await;
    set(&store, &other, "c", 5).await;
    assert_eq!(store.timers(&run).await, Ok(vec![timer(&run, "a", 20), timer(&run, "b", 10)]));
    assert_eq!(store.timers(&id("nobody")).await, Ok(vec![]));
}
