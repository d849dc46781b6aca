//! Clauses about lists of runs.

use super::*;
use crate::Query;

async fn names(store: &Given, query: Query) -> Vec<String> {
    store.runs(query).await.unwrap().into_iter().map(|row| row.run.to_string()).collect()
}

/// Newest means created last. Ids and clocks do not matter.
pub async fn runs_come_newest_first_in_pages(store: Given) {
    for name in ["mmmm", "zzzz", "aaaa", "bbbb"] {
        made(&store, name).await;
    }
    advance(&store, &id("mmmm"), |_| ()).await.unwrap();
    assert_eq!(names(&store, Query::default()).await, ["bbbb", "aaaa", "zzzz", "mmmm"]);
    let first = Query { limit: 2, ..Query::default() };
    assert_eq!(names(&store, first.clone()).await, ["bbbb", "aaaa"]);
    assert_eq!(names(&store, Query { before: Some(id("aaaa")), ..first.clone() }).await, ["zzzz", "mmmm"]);
    assert_eq!(names(&store, Query { after: Some(id("zzzz")), ..first.clone() }).await, ["bbbb", "aaaa"]);
    let between = Query { before: Some(id("bbbb")), after: Some(id("mmmm")), ..Query::default() };
    assert_eq!(names(&store, between).await, ["aaaa", "zzzz"]);
    assert_eq!(names(&store, Query { limit: 0, ..first }).await, [""; 0]);
}

/// Every condition counts, and the newest head decides.
pub async fn runs_are_chosen_by_what_their_heads_say(store: Given) {
    let parent = made(&store, "parent").await;
    let head = |workflow: &str, status: &str, group: Option<&str>| Head {
        workflow: workflow.to_owned(),
        status: status.to_owned(),
        group: group.map(str::to_owned),
        ..Head::default()
    };
    for (name, head) in [
        ("run-1", head("build", "done", Some("x"))),
        ("run-2", head("build", "running", Some("y"))),
        ("run-3", Head { parent: Some(parent.clone()), ..head("test", "failed", Some("x")) }),
    ] {
        store.append(Append { head: Some(head), ..making(&id(name)) }).await.unwrap();
    }
    advance(&store, &id("run-1"), |append| append.head = Some(head("build", "waiting", Some("x")))).await.unwrap();
    let all = Query { prefix: Some("run-".to_owned()), ..Query::default() };
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(names(&store, all.clone()).await, ["run-3", "run-2", "run-1"]);
    assert_eq!(names(&store, Query { workflow: text("build"), ..all.clone() }).await, ["run-2", "run-1"]);
    assert_eq!(names(&store, Query { group: text("x"), ..all.clone() }).await, ["run-3", "run-1"]);
    assert_eq!(names(&store, Query { parent: Some(parent), ..all.clone() }).await, ["run-3"]);
    let statuses = vec!["done".to_owned(), "failed".to_owned(), "waiting".to_owned()];
    assert_eq!(names(&store, Query { statuses: statuses.clone(), ..all.clone() }).await, ["run-3", "run-1"]);
    let narrow = Query { statuses, workflow: text("build"), group: text("x"), ..all };
    assert_eq!(names(&store, narrow).await, ["run-1"]);
}

/// Wildcards of the database have no special meaning.
pub async fn a_prefix_is_plain_text(store: Given) {
    for name in ["abcd", "abxx", "zabc"] {
        made(&store, name).await;
    }
    let of = |prefix: &str| Query { prefix: Some(prefix.to_owned()), ..Query::default() };
    assert_eq!(names(&store, of("ab")).await, ["abxx", "abcd"]);
    for prefix in ["%", "a_", "ab*", "AB", "a?", "[a]", "'", "\\"] {
        assert_eq!(names(&store, of(prefix)).await, [""; 0], "{prefix}");
    }
}

/// A run was created at the time of its first event, and changed at the time of its last one.
pub async fn runs_are_chosen_by_when_they_were_created_and_changed(store: Given) {
    for (name, at_ms) in [("old-1", 100), ("new-1", 200), ("new-2", 300)] {
        let made = making(&id(name));
        let events = made.events.iter().cloned().map(|event| NewEvent { at_ms, ..event }).collect();
        store.append(Append { events, ..made }).await.unwrap();
    }
    advance(&store, &id("old-1"), |append| append.events[0].at_ms = 400).await.unwrap();
    let all = Query::default();
    assert_eq!(names(&store, Query { created_from_ms: Some(200), ..all.clone() }).await, ["new-2", "new-1"]);
    assert_eq!(names(&store, Query { created_before_ms: Some(300), ..all.clone() }).await, ["new-1", "old-1"]);
    let day = Query { created_from_ms: Some(200), created_before_ms: Some(300), ..all.clone() };
    assert_eq!(names(&store, day).await, ["new-1"]);
    assert_eq!(names(&store, Query { updated_from_ms: Some(300), ..all.clone() }).await, ["new-2", "old-1"]);
    assert_eq!(names(&store, Query { updated_from_ms: Some(401), ..all }).await, [""; 0]);
}

/// An empty page would look like the end.
pub async fn a_page_after_an_unknown_run_is_refused(store: Given) {
    let gone = Some(id("gone"));
    assert_eq!(store.runs(Query { before: gone.clone(), ..Query::default() }).await, Err(Error::UnknownRun));
    assert_eq!(store.runs(Query { after: gone, ..Query::default() }).await, Err(Error::UnknownRun));
}

/// A lease that ends at exactly this time no longer counts. The other conditions count as well.
pub async fn runs_are_unattended_without_a_task_that_waits_or_is_held(store: Given) {
    for name in ["bare", "offered", "held", "both"] {
        made(&store, name).await;
    }
    start(&store, &id("offered"), task("a@1", 1)).await;
    start(&store, &id("held"), held("a@1", 1, "v")).await;
    start(&store, &id("both"), held("a@1", 1, "v")).await;
    start(&store, &id("both"), task("b@1", 1)).await;
    let at = |now| Query { unattended_at_ms: Some(now), ..Query::default() };
    assert_eq!(names(&store, at(1_999)).await, ["bare"]);
    assert_eq!(names(&store, at(2_000)).await, ["held", "bare"]);
    assert_eq!(names(&store, Query { after: Some(id("bare")), ..at(2_000) }).await, ["held"]);
    assert_eq!(names(&store, Query { statuses: vec!["done".to_owned()], ..at(2_000) }).await, [""; 0]);
    finish(&store, &id("offered"), end("a@1", 1, None)).await.unwrap();
    assert_eq!(names(&store, at(1_999)).await, ["offered", "bare"]);
}
