//! What only a store in a database does: versions of its tables, news of other processes, its clock, damage.
use std::sync::Arc;

use longhaul_store::conformance::{advance, event, id, made, making, message, server, start, task, worker};
use longhaul_store::{Append, Blob, Claim, Error, Postgres, PostgresOptions, Query, Store};

async fn open(address: &str) -> Result<Arc<dyn Store>, Error> {
    let store = Postgres::open(&address.parse().unwrap(), PostgresOptions::default()).await?;
    Ok(Arc::new(store))
}

fn sql(address: &str, statements: &str) -> String {
    let schema = address.rsplit_once('=').unwrap().1;
    server::shared().sql(&format!("SET search_path = {schema}; {statements}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn many_may_open_a_new_store_at_once() {
    let address = server::shared().address();
    let opening: Vec<_> = (0..8)
        .map(|number| {
            let address = address.clone();
            tokio::spawn(async move { made(&open(&address).await.unwrap(), &format!("run-{number}")).await })
        })
        .collect();
    for one in opening {
        one.await.unwrap();
    }
    assert_eq!(open(&address).await.unwrap().runs(Query::default()).await.unwrap().len(), 8);
}

/// A newer program may have added to the tables; whether this one can still use them is for the newer one to say.
#[tokio::test(flavor = "multi_thread")]
async fn newer_tables_are_used_if_they_say_so_and_refused_if_not() {
    let address = server::shared().address();
    made(&open(&address).await.unwrap(), "before").await;
    sql(&address, "INSERT INTO schema_version VALUES (5, 1); ALTER TABLE run ADD COLUMN later text");
    made(&open(&address).await.unwrap(), "beside").await;
    sql(&address, "INSERT INTO schema_version VALUES (6, 5)");
    let refused = open(&address).await.err();
    assert_eq!(refused, Some(Error::TooNew { found: 6, known: 4 }));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_not_there_is_named_without_waiting() {
    let address = server::shared().database().replace("/postgres", "/nothing");
    let refused = open(&address).await.err().unwrap().to_string();
    assert!(refused.contains("database \"nothing\" does not exist"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn other_processes_are_heard_of() {
    let address = server::shared().address();
    let (here, there) = (open(&address).await.unwrap(), open(&address).await.unwrap());
    let mut watch = here.watch();
    let run = made(&there, "heard").await;
    watch.changed().await.unwrap();
    there.post(message(&run, "hook", "1")).await.unwrap();
    watch.changed().await.unwrap();
}

/// Hints can be lost; looking is enough.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_written_past_the_program_is_heard_of() {
    let address = server::shared().address();
    let here = open(&address).await.unwrap();
    let run = made(&here, "heard").await;
    let mut watch = here.watch();
    sql(&address, &format!("SELECT post_1('{run}', 'hook', '1', '', 0, '')"));
    watch.changed().await.unwrap();
}

/// A worker that waits for work is not woken by what others do with theirs. Now and then a look at the number of changes comes before
/// the hint, and does not know what was written: then once more.
#[tokio::test(flavor = "multi_thread")]
async fn progress_of_others_is_not_taken_for_work() {
    let address = server::shared().address();
    let (here, there) = (open(&address).await.unwrap(), open(&address).await.unwrap());
    let run = made(&there, "busy").await;
    let (mut all, mut work) = (here.watch(), here.watch_work());
    for _ in 0..20 {
        while here.glance().await.unwrap().moved {}
        all.mark_unchanged();
        work.mark_unchanged();
        advance(&there, &run, |_| ()).await.unwrap();
        all.changed().await.unwrap();
        if !work.has_changed().unwrap() {
            return;
        }
    }
    panic!("progress was taken for work each time");
}

/// Whoever glances at the store looks at the number of changes, too.
#[tokio::test(flavor = "multi_thread")]
async fn a_glance_notices_what_others_have_written_and_tells_of_it_twice() {
    let address = server::shared().address();
    let here = open(&address).await.unwrap();
    let run = made(&here, "noticed").await;
    here.glance().await.unwrap();
    assert!(!here.glance().await.unwrap().moved);
    sql(&address, &format!("SELECT post_1('{run}', 'hook', '1', '', 0, '')"));
    let moved =
        [here.glance().await.unwrap().moved, here.glance().await.unwrap().moved, here.glance().await.unwrap().moved];
    assert_eq!(moved, [true, true, false]);
}

#[tokio::test(flavor = "multi_thread")]
async fn its_clock_is_that_of_the_server() {
    let address = server::shared().address();
    let store = open(&address).await.unwrap();
    let before: i64 = sql(&address, "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint").parse().unwrap();
    let now = store.now_ms().await.unwrap().unwrap();
    let after: i64 =
        sql(&address, "SELECT ceil(extract(epoch FROM clock_timestamp()) * 1000)::bigint").parse().unwrap();
    assert!((before..=after).contains(&now), "{before} {now} {after}");
}

/// Whether a run may begin depends on those that were made before it, so none may turn up later with a smaller number.
#[tokio::test(flavor = "multi_thread")]
async fn runs_become_visible_in_the_order_of_their_numbers() {
    let address = server::shared().address();
    let store = open(&address).await.unwrap();
    let holder = by_hand(&address).await;
    let rest = "'{}', ".repeat(13) + "'{}'";
    let append = format!(
        "SELECT append_1('early', 0, ARRAY['\\x01'::bytea], ARRAY[1], ARRAY['\\x'::bytea], ARRAY['\\x'::bytea], NULL, NULL, {rest})"
    );
    holder.batch_execute(&format!("BEGIN; {append}")).await.unwrap();
    let later = tokio::spawn({
        let store = store.clone();
        async move { made(&store, "later").await }
    });
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory' AND query LIKE '%append_2%'";
    while sql(&address, waiting) == "0" {
        assert!(!later.is_finished(), "a later run was made while an earlier one could not be seen");
        tokio::task::yield_now().await;
    }
    holder.batch_execute("COMMIT").await.unwrap();
    later.await.unwrap();
    let runs: Vec<String> =
        store.runs(Query::default()).await.unwrap().into_iter().map(|row| row.run.to_string()).collect();
    assert_eq!(runs, ["later", "early"]);
}

/// A connection past the program, to stand still in the middle of something.
async fn by_hand(address: &str) -> tokio_postgres::Client {
    let (place, schema) = address.split_once("?schema=").unwrap();
    let (client, connection) = tokio_postgres::connect(place, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute(&format!("SET search_path = {schema}")).await.unwrap();
    client
}

/// Who asks meanwhile gets others, and does not wait.
#[tokio::test(flavor = "multi_thread")]
async fn tasks_that_somebody_is_about_to_take_are_passed_over() {
    let address = server::shared().address();
    let store = open(&address).await.unwrap();
    let run = made(&store, "wanted").await;
    for key in ["a", "b"] {
        start(&store, &run, task(key, 1)).await;
    }
    let holder = by_hand(&address).await;
    holder.batch_execute("BEGIN; SELECT claim_2('first', '[]', NULL, 10, 1, '', NULL, '{}', '{}')").await.unwrap();
    let claimed = store.claim(Claim::new(worker("second"), 0, 10, 5)).await.unwrap();
    assert_eq!(claimed.iter().map(|task| task.key.as_str()).collect::<Vec<_>>(), ["b"]);
    holder.batch_execute("COMMIT").await.unwrap();
    let holders: Vec<_> = store.tasks(&run).await.unwrap().into_iter().map(|task| task.worker).collect();
    assert_eq!(holders, [Some(worker("first")), Some(worker("second"))]);
}

/// What each statement breaks, and what is then said.
#[tokio::test(flavor = "multi_thread")]
async fn damage_is_found() {
    for (damage, said) in [
        ("UPDATE event SET body = 'x' WHERE seq = 2", "event 2 of run broken is not what was written"),
        ("UPDATE event SET at_ms = 7 WHERE seq = 2", "event 2 of run broken is not what was written"),
        ("DELETE FROM event WHERE seq = 2", "event 2 of run broken is missing"),
        ("DELETE FROM event WHERE seq = 3", "event 3 of run broken is missing"),
        ("UPDATE event SET seq = 9 WHERE seq = 2", "event 2 of run broken is missing"),
        ("UPDATE run SET last_seq = 2", "run broken has 3 events, 2 were acknowledged"),
        ("UPDATE blob SET bytes = 'x'", "is not what was written"),
        ("DELETE FROM blob_ref", "no run refers to blob"),
        ("INSERT INTO timer VALUES (99, 't', 1)", "1 rows of `timer` refer to nothing"),
    ] {
        let address = server::shared().address();
        let store = open(&address).await.unwrap();
        let run = id("broken");
        store.append(Append { blobs: vec![Blob::new("bytes")], ..making(&run) }).await.unwrap();
        advance(&store, &run, |append| append.events.push(event("{}"))).await.unwrap();
        assert_eq!(store.check().await, Ok(vec![]));
        sql(&address, damage);
        let found: Vec<String> = store.check().await.unwrap().into_iter().map(|problem| problem.text).collect();
        assert!(found.iter().any(|text| text.contains(said)), "{damage}: {found:?}");
    }
}

/// The bytes of a name that PostgreSQL cannot keep are told apart from a machine that failed.
#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_can_not_be_kept_is_refused() {
    let store = open(&server::shared().address()).await.unwrap();
    let run = made(&store, "named").await;
    assert!(matches!(store.post(message(&run, "ho\0ok", "1")).await, Err(Error::Invalid(_))));
}
