//! Tests failures between a program and its database: lost answers, broken and silent connections, a server that dies.
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use longhaul_store::conformance::proxy::{Proxy, ProxyLink};
use longhaul_store::conformance::server::{self, Safe, TestServer};
use longhaul_store::conformance::{end, event, finish, id, made, making, message, start, task, worker};
use longhaul_store::{Append, Blob, Claim, Error, EventId, Posted, Postgres, PostgresOptions, Store};

async fn open(address: &str, options: PostgresOptions) -> Arc<dyn Store> {
    Arc::new(Postgres::open(&address.parse().unwrap(), options).await.unwrap())
}

/// A store behind a proxy, and its address without the proxy.
async fn at_the_end_of_a_line(options: PostgresOptions) -> (Arc<dyn Store>, Proxy, String) {
    let server = server::shared();
    let (proxy, address) = (Proxy::to(server.socket()), server.address());
    (open(&proxy.through(&address), options).await, proxy, address)
}

fn impatient() -> PostgresOptions {
    let [answer, patience] = [300, 1_500].map(Duration::from_millis);
    PostgresOptions { answer, patience, ..PostgresOptions::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_append_whose_answer_is_lost_is_made_once() {
    let (store, proxy, _) = at_the_end_of_a_line(PostgresOptions::default()).await;
    let run = made(&store, "lost").await;
    for expected in 1..=200 {
        proxy.lose(1);
        let append = Append::new(run.clone(), expected, vec![event(&expected.to_string())]);
        assert_eq!(store.append(append).await, Ok(expected + 1));
    }
    let bodies: Vec<String> = store.read(&run, 1, 1_000).await.unwrap().into_iter().map(|event| event.body).collect();
    assert_eq!(bodies, (1..=200).map(|number| number.to_string()).collect::<Vec<_>>());
    assert!(proxy.lost() >= 100, "{} answers were lost", proxy.lost());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_whose_answer_is_lost_is_new_once() {
    let (store, proxy, _) = at_the_end_of_a_line(PostgresOptions::default()).await;
    let run = made(&store, "lost").await;
    for number in 0..40 {
        proxy.lose(1);
        assert_eq!(store.post(message(&run, "hook", &number.to_string())).await, Ok(Posted::New));
        assert_eq!(store.post(message(&run, "hook", &number.to_string())).await, Ok(Posted::Duplicate));
    }
    assert_eq!(store.inbox(&run).await.unwrap().len(), 40);
    assert!(proxy.lost() >= 20, "{} answers were lost", proxy.lost());
}

/// Otherwise a worker would hold, and renew forever, a task that it does not know of.
#[tokio::test(flavor = "multi_thread")]
async fn a_claim_whose_answer_is_lost_is_answered_by_the_second_try() {
    let (store, proxy, _) = at_the_end_of_a_line(PostgresOptions::default()).await;
    let run = made(&store, "lost").await;
    for number in 0..40 {
        start(&store, &run, task(&format!("t{number}"), 1)).await;
    }
    let mut claimed = HashSet::new();
    for _ in 0..20 {
        proxy.lose(1);
        let tasks = store.claim(Claim::new(worker("w"), 0, 1_000, 2)).await.unwrap();
        assert_eq!(tasks.len(), 2);
        claimed.extend(tasks.into_iter().map(|task| task.key));
    }
    assert_eq!(claimed.len(), 40);
    assert!(proxy.lost() >= 10, "{} answers were lost", proxy.lost());
    proxy.lose(1);
    assert_eq!(finish(&store, &run, end("t0", 1, Some("w"))).await, Ok(42));
    proxy.lose(1);
    assert_eq!(store.remove(&run).await, Ok(()));
    proxy.lose(0);
    assert_eq!(store.remove(&run).await, Err(Error::UnknownRun));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_is_cut_is_made_anew() {
    let (store, proxy, _) = at_the_end_of_a_line(PostgresOptions::default()).await;
    let run = made(&store, "severed").await;
    for expected in 1..=50 {
        proxy.cut();
        let append = Append::new(run.clone(), expected, vec![event("{}")]);
        assert_eq!(store.append(append).await, Ok(expected + 1));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_can_not_be_reached_says_so_and_comes_back() {
    let (store, proxy, _) = at_the_end_of_a_line(impatient()).await;
    let run = made(&store, "away").await;
    proxy.set(ProxyLink::Cut);
    let refused = store.read(&run, 0, 1).await;
    assert!(matches!(refused, Err(Error::Unreachable(_))), "{refused:?}");
    // The first try was on an existing connection: its result is unknown.
    let refused = store.append(Append::new(run.clone(), 1, vec![event("{}")])).await;
    assert!(matches!(refused, Err(Error::Unreachable(_))), "{refused:?}");
    proxy.set(ProxyLink::Open);
    assert_eq!(store.append(Append::new(run.clone(), 1, vec![event("{}")])).await, Ok(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deaf_line_ends_a_call_that_may_have_been_made() {
    let (store, proxy, address) = at_the_end_of_a_line(impatient()).await;
    let run = made(&store, "deaf").await;
    proxy.set(ProxyLink::Deaf);
    let append = Append::new(run.clone(), 1, vec![event("{}")]);
    let refused = store.append(append.clone()).await;
    // Sent on an existing connection, or never sent for want of one.
    assert!(matches!(refused, Err(Error::Unsure(_) | Error::Unreachable(_))), "{refused:?}");
    let refused = store.read(&run, 0, 1).await;
    assert!(matches!(refused, Err(Error::Unreachable(_))), "{refused:?}");
    proxy.set(ProxyLink::Open);
    proxy.cut();
    let again = store.append(append).await;
    assert!([Ok(2), Err(Error::AlreadyApplied)].contains(&again), "{again:?}");
    let direct = open(&address, PostgresOptions::default()).await;
    assert_eq!(direct.read(&run, 0, 10).await.unwrap().len(), 2);
}

/// Nothing reports that a connection is dead: the request is sent again on another one.
#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_leads_nowhere_is_left_for_another() {
    let options = PostgresOptions { answer: Duration::from_millis(200), ..PostgresOptions::default() };
    let (store, proxy, _) = at_the_end_of_a_line(options).await;
    let run = made(&store, "stranded").await;
    for expected in 1..=10 {
        proxy.strand();
        let append = Append::new(run.clone(), expected, vec![event("{}")]);
        assert_eq!(store.append(append).await, Ok(expected + 1));
    }
    assert_eq!(store.read(&run, 0, 100).await.unwrap().len(), 11);
}

/// Appends one event after another to its own run; returns the acknowledged ones.
async fn walk(store: Arc<dyn Store>, name: String, steps: usize) -> Vec<EventId> {
    let first = making(&id(&name));
    let mut acknowledged = vec![first.events[0].id];
    store.append(first).await.unwrap();
    for expected in 1..=steps {
        let event = event("{}");
        acknowledged.push(event.id);
        let append = Append::new(id(&name), expected as u64, vec![event]);
        assert_eq!(store.append(append).await, Ok(expected as u64 + 1));
    }
    acknowledged
}

/// Killed with `kill -9` and started again, six times, under load: nothing acknowledged is lost, and nothing is there
/// twice.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_loses_nothing() {
    let server = Arc::new(TestServer::start(Safe::Yes));
    let store = open(&server.address(), PostgresOptions::default()).await;
    let walkers: Vec<_> =
        (0..4).map(|number| tokio::spawn(walk(store.clone(), format!("run-{number}"), 600))).collect();
    let killer = Arc::clone(&server);
    let kills = tokio::task::spawn_blocking(move || {
        for _ in 0..6 {
            std::thread::sleep(Duration::from_millis(150));
            killer.kill();
            killer.restart();
        }
    });
    let mut acknowledged = Vec::new();
    for walker in walkers {
        acknowledged.push(walker.await.unwrap());
    }
    kills.await.unwrap();
    for (number, ids) in acknowledged.into_iter().enumerate() {
        let events = store.read(&id(&format!("run-{number}")), 0, 1_000).await.unwrap();
        assert_eq!(events.iter().map(|event| event.id).collect::<Vec<_>>(), ids);
    }
    assert_eq!(store.check().await, Ok(vec![]));
}

/// One statement in five is refused as if it conflicted with others.
#[tokio::test(flavor = "multi_thread")]
async fn what_others_were_in_the_way_of_is_tried_again() {
    let server = server::shared();
    let address = server.address();
    let store = open(&address, PostgresOptions::default()).await;
    let schema = address.rsplit_once('=').unwrap().1;
    for code in ["40001", "40P01"] {
        server.sql(&format!(
            "SET search_path = {schema};
             CREATE OR REPLACE FUNCTION in_the_way() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                 IF random() < 0.2 THEN RAISE EXCEPTION USING ERRCODE = '{code}'; END IF; RETURN NEW; END $$;
             CREATE OR REPLACE TRIGGER in_the_way BEFORE INSERT ON event FOR EACH ROW EXECUTE FUNCTION in_the_way();"
        ));
        assert_eq!(walk(store.clone(), format!("run-{}", code.to_lowercase()), 100).await.len(), 101);
    }
    server.sql(&format!(
        "SET search_path = {schema};
         CREATE OR REPLACE FUNCTION in_the_way() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             RAISE EXCEPTION USING ERRCODE = '40001'; END $$;"
    ));
    assert_eq!(store.append(making(&id("never"))).await, Err(Error::Busy));
    assert_eq!(store.run(&id("never")).await, Ok(None));
}

/// A blob that one run drops while another adds it exists for every run that got an acknowledgement.
#[tokio::test(flavor = "multi_thread")]
async fn a_blob_that_comes_and_goes_at_once_is_never_missing() {
    let store = open(&server::shared().address(), PostgresOptions::default()).await;
    let blob = Blob::new("shared");
    let cycle = |store: Arc<dyn Store>, blob: Blob, number: usize| async move {
        for round in 0..30 {
            let run = id(&format!("run-{number}-{round}"));
            store.append(Append { blobs: vec![blob.clone()], ..making(&run) }).await.unwrap();
            assert_eq!(store.blob(blob.hash).await, Ok(Some(blob.bytes.clone())));
            store.remove(&run).await.unwrap();
        }
    };
    let cycles: Vec<_> = (0..6).map(|number| tokio::spawn(cycle(store.clone(), blob.clone(), number))).collect();
    for cycle in cycles {
        cycle.await.unwrap();
    }
    assert_eq!(store.blob(blob.hash).await, Ok(None));
    assert_eq!(store.check().await, Ok(vec![]));
}
